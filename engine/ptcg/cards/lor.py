"""Lost Origin."""

from engine.ptcg import modifiers, moves, ops
from engine.ptcg.card import Ability, Attack, pokemon, special_energy
from engine.ptcg.state import ASLEEP, Frame, State


def _fall_deeply_asleep(state: State, frame: Frame) -> None:
    this = ops.source(state, frame)
    if this is not None and moves.afflict(state, frame.seat, this, ASLEEP):
        moves.add_effect(this, (modifiers.TWO_SLEEP_COINS, moves.FOREVER, ""))


pokemon(
    "LOR-143",
    "Snorlax",
    "Basic",
    hp=150,
    types="C",
    weakness="F",
    retreat=4,
    abilities=(
        Ability(
            "Unfazed Fat",
            "Effects of attacks from your opponent's Pokémon do not reach this Pokémon. Damage is not an effect.",
            hooks={"prevent_effects": lambda state, blow, seat, holder: True},
        ),
    ),
    attacks=(
        Attack(
            "Thumping Snore",
            "CCC",
            damage="180",
            text="This Pokémon is now Asleep. In each Pokémon Checkup flip 2 coins for it instead of 1; it wakes up "
            "only if both are heads.",
            effect=(ops.damage(180), _fall_deeply_asleep),
        ),
    ),
)

special_energy(
    "LOR-171",
    "Gift Energy",
    "Provides 1 Colorless Energy. If the Pokémon this is attached to is Knocked Out by damage from an attack of your "
    "opponent's Pokémon, draw cards until you have 7 cards in your hand.",
    provides="C",
    on_knock_out=(ops.draw_until(7),),
)
