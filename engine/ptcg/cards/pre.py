"""Prismatic Evolutions."""

from engine.ptcg import modifiers, moves, ops, prompts
from engine.ptcg.card import Ability, Attack, pokemon
from engine.ptcg.state import Frame, Pokemon, State

_MIDNIGHT_FLUTTERING = "Midnight Fluttering"
_COUNTERS_FOR_HEX = 2


def _is_opposite_active(state: State, owner: int, seat: int, other: Pokemon, name: str) -> bool:
    return other is state.players[seat].active and name != _MIDNIGHT_FLUTTERING


def _choose_where_to_put_counters(state: State, frame: Frame) -> None:
    bench = state.players[1 - frame.seat].bench
    question = f"Put {_COUNTERS_FOR_HEX} damage counters: on which Benched Pokémon"
    prompts.ask_pokemon(
        state, frame, frame.seat, bench, question, _COUNTERS_FOR_HEX, _COUNTERS_FOR_HEX, _COUNTERS_FOR_HEX
    )


def _put_counters(state: State, frame: Frame) -> None:
    for uid in dict.fromkeys(frame.picks):
        target = state.find(uid)
        if target is not None:
            blow = ops.blow_on(state, frame, 1 - frame.seat, target)
            if blow is not None and not modifiers.counters_prevented(state, blow):
                moves.put_counters(state, 1 - frame.seat, target, frame.picks.count(uid))


pokemon(
    "PRE-43",
    "Flutter Mane",
    "Basic",
    hp=90,
    types="P",
    weakness="M",
    retreat=1,
    tags=("Ancient",),
    abilities=(
        Ability(
            _MIDNIGHT_FLUTTERING,
            "As long as this Pokémon is in the Active Spot, your opponent's Active Pokémon has no Abilities except "
            "Midnight Fluttering.",
            hooks={"no_abilities": _is_opposite_active},
        ),
    ),
    attacks=(
        Attack(
            "Hex Hurl",
            "CCC",
            damage="90",
            text="Put 2 damage counters on your opponent's Benched Pokémon in any way you like.",
            effect=(ops.damage(90), _choose_where_to_put_counters, _put_counters),
        ),
    ),
)
