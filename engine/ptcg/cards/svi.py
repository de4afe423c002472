"""Scarlet & Violet."""

from engine.ptcg import modifiers, ops
from engine.ptcg.card import CARDS, Ability, Attack, item, pokemon, tool
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Pokemon, State


def _hits_harder_when_behind(state: State, blow: Blow, holder: Pokemon) -> int:
    behind = ops.more_prizes_left(state, blow.seat)
    return 30 if behind and blow.target is state.players[blow.target_seat].active else 0


tool(
    "SVI-169",
    "Defiance Band",
    "While you have more Prize cards remaining than your opponent, the attacks of the Pokémon this is "
    "attached to do 30 more damage to your opponent's Active Pokémon, before Weakness and Resistance.",
    hooks={"damage_done": _hits_harder_when_behind},
)


def _is_benched_lightning(state: State, seat: int, pokemon: Pokemon) -> bool:
    return state.players[seat].active is not pokemon and "L" in CARDS[pokemon.cards[-1]].types


def _has_benched_lightning(state: State, seat: int) -> bool:
    return any(_is_benched_lightning(state, seat, p) for p in state.players[seat].bench)


item(
    "SVI-170",
    "Electric Generator",
    "Look at the top 5 cards of your deck and attach up to 2 Basic Lightning Energy cards you find there to "
    "your Benched Lightning Pokémon in any way you like. Shuffle the other cards back into your deck.",
    playable=ops.all_of(ops.deck_left, _has_benched_lightning),
    effect=(
        ops.choose_top(ops.basic_energy("L"), 5, 2, "Choose up to 2 Basic Lightning Energy to attach"),
        ops.attach_picks(_is_benched_lightning, "deck"),
        ops.shuffle_deck,
    ),
)


def _room_and_deck(state: State, seat: int, holder: Pokemon) -> bool:
    return bool(state.players[seat].deck) and modifiers.bench_space(state, seat) > 0


pokemon(
    "SVI-253",
    "Miraidon ex",
    "Basic",
    hp=220,
    types="L",
    weakness="F",
    retreat=1,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Tandem Unit",
            "Once during your turn, you may search your deck for up to 2 Basic Lightning Pokémon, put them "
            "onto your Bench and shuffle your deck.",
            when=_room_and_deck,
            effect=(ops.search_deck(ops.basic_of_type("L"), ops.space(2)), ops.deck_to_bench, ops.shuffle_deck),
        ),
    ),
    attacks=(
        Attack(
            "Photon Blaster",
            "LLC",
            damage="220",
            text="During your next turn, this Pokémon cannot attack.",
            effect=(ops.damage(220), ops.effect_on_this(ops.CANNOT_ATTACK, 2)),
        ),
    ),
)
