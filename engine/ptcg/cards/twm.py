"""Twilight Masquerade."""

from engine.ptcg import conditions, modifiers, moves, ops, prompts
from engine.ptcg.card import Ability, Attack, Card, Kind, item, pokemon
from engine.ptcg.state import CONFUSED, Frame, Pokemon, State

_COUNTERS_MOVED = 3


def _is_damaged(state: State, seat: int, pokemon: Pokemon) -> bool:
    return pokemon.damage > 0


def _has_darkness_and_counters_to_move(state: State, seat: int, holder: Pokemon) -> bool:
    return "D" in modifiers.provided(holder) and any(p.damage for p in state.players[seat].in_play())


def _choose_how_many(state: State, frame: Frame) -> None:
    origin = state.find(frame.picks[0])
    assert origin is not None
    frame.memo = (origin.uid,)
    most = min(_COUNTERS_MOVED, origin.damage)
    prompts.ask_number(state, frame, frame.seat, "How many damage counters to move?", 1, most)


def _choose_where_to(state: State, frame: Frame) -> None:
    frame.memo = (*frame.memo, frame.picks[0])
    targets = state.players[1 - frame.seat].in_play()
    prompts.ask_pokemon(state, frame, frame.seat, targets, "Move them to which Pokémon")


def _move(state: State, frame: Frame) -> None:
    origin, count = state.find(frame.memo[0]), frame.memo[1]
    target = state.find(frame.picks[0])
    assert origin is not None
    assert target is not None
    moves.move_counters(state, frame.seat, origin, target, count)


pokemon(
    "TWM-95",
    "Munkidori",
    "Basic",
    hp=110,
    types="P",
    weakness="D",
    resistance="F",
    retreat=1,
    abilities=(
        Ability(
            "Adrena-Brain",
            "Once during your turn, if this Pokémon has any Darkness Energy attached, you may move up to 3 damage "
            "counters from one of your Pokémon to one of your opponent's Pokémon.",
            when=_has_darkness_and_counters_to_move,
            effect=(
                ops.choose_your_pokemon("Move damage counters from which Pokémon", _is_damaged),
                _choose_how_many,
                _choose_where_to,
                _move,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Mind Bend",
            "PC",
            damage="60",
            text="Your opponent's Active Pokémon is now Confused.",
            effect=(ops.damage(60), ops.afflict_opponent(CONFUSED)),
        ),
    ),
)


def _is_stage_1(card: Card) -> bool:
    return card.stage_name == "Stage 1"


item(
    "TWM-152",
    "Hyper Aroma",
    "Search your deck for up to 3 Stage 1 Pokémon, show them to your opponent, put them into your hand and shuffle "
    "your deck.",
    tags=("ACE SPEC",),
    playable=conditions.deck_left,
    effect=(
        ops.search_deck(_is_stage_1, up_to=3, question="Choose up to 3 Stage 1 Pokémon"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)

item(
    "TWM-163",
    "Secret Box",
    "Discard 3 other cards from your hand to play this card. Search your deck for an Item card, a Pokémon Tool card, a "
    "Supporter card and a Stadium card, show them to your opponent, put them into your hand and shuffle your deck.",
    tags=("ACE SPEC",),
    playable=conditions.all_of(conditions.deck_left, conditions.other_cards(3)),
    effect=(
        ops.discard_cards(3),
        ops.search_deck(conditions.of_kind(Kind.ITEM), question="Choose an Item card"),
        ops.deck_to_hand(reveal=True),
        ops.search_deck(conditions.of_kind(Kind.TOOL), question="Choose a Pokémon Tool card"),
        ops.deck_to_hand(reveal=True),
        ops.search_deck(conditions.of_kind(Kind.SUPPORTER), question="Choose a Supporter card"),
        ops.deck_to_hand(reveal=True),
        ops.search_deck(conditions.of_kind(Kind.STADIUM), question="Choose a Stadium card"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)
