"""Silver Tempest."""

from engine.ptcg import conditions, moves, ops, prompts
from engine.ptcg.card import (
    CARDS,
    Ability,
    Attack,
    Card,
    Kind,
    Limit,
    Program,
    item,
    pokemon,
    special_energy,
    supporter,
    tool,
)
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State

pokemon(
    "SIT-68",
    "Kirlia",
    "Stage 1",
    evolves_from="Ralts",
    hp=80,
    types="P",
    weakness="M",
    retreat=2,
    abilities=(
        Ability(
            "Refinement",
            "Once during your turn, you may discard a card from your hand to draw 2 cards.",
            when=conditions.for_ability(conditions.all_of(conditions.deck_left, conditions.other_cards(0))),
            effect=(ops.discard_cards(1), ops.draw(2)),
        ),
    ),
    attacks=(Attack("Slap", "PC", damage="30", effect=(ops.damage(30),)),),
)

pokemon(
    "SIT-138",
    "Lugia V",
    "Basic",
    hp=220,
    types="C",
    weakness="L",
    resistance="F",
    retreat=2,
    tags=("V",),
    prizes=2,
    attacks=(
        Attack(
            "Read the Wind",
            "C",
            text="Discard a card from your hand. If you do, draw 3 cards.",
            effect=(ops.discard_cards(1), ops.if_picked(ops.draw(3))),
        ),
        Attack(
            "Aero Dive",
            "CCCC",
            damage="130",
            text="You may discard the Stadium in play.",
            effect=(ops.damage(130), ops.may_discard_stadium),
        ),
    ),
)


def _colorless_without_rule_box(card: Card) -> bool:
    return "C" in card.types and not card.rule_box


pokemon(
    "SIT-139",
    "Lugia VSTAR",
    "VSTAR",
    evolves_from="Lugia V",
    hp=280,
    types="C",
    weakness="L",
    resistance="F",
    retreat=2,
    tags=("V",),
    prizes=2,
    abilities=(
        Ability(
            "Summoning Star",
            "During your turn, you may put up to 2 Colorless Pokémon without a Rule Box (not ex, V or Radiant) of any "
            "stage from your discard pile onto your Bench. You can use only 1 VSTAR Power in a game.",
            limit=Limit.VSTAR,
            when=conditions.for_ability(
                conditions.all_of(conditions.room_on_bench, conditions.in_discard(_colorless_without_rule_box))
            ),
            effect=(
                ops.choose_from_discard(_colorless_without_rule_box, conditions.space(2)),
                ops.discard_to_bench,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Tempest Dive",
            "CCCC",
            damage="220",
            text="You may discard the Stadium in play.",
            effect=(ops.damage(220), ops.may_discard_stadium),
        ),
    ),
)

pokemon(
    "SIT-147",
    "Archeops",
    "Stage 2",
    evolves_from="Archen",
    basic_form="Unidentified Fossil",
    hp=150,
    types="C",
    weakness="L",
    resistance="F",
    retreat=1,
    abilities=(
        Ability(
            "Primal Turbo",
            "Once during your turn, you may search your deck for up to 2 Special Energy cards, attach them to one of "
            "your Pokémon and shuffle your deck.",
            when=conditions.for_ability(conditions.deck_left),
            effect=(
                ops.search_deck(
                    conditions.of_kind(Kind.SPECIAL_ENERGY), up_to=2, question="Choose up to 2 Special Energy"
                ),
                ops.attach_picks_to_one("deck"),
                ops.shuffle_deck,
            ),
        ),
    ),
    attacks=(Attack("Speed Wing", "CCC", damage="120", effect=(ops.damage(120),)),),
)

_SEARCH_EVOLUTION = ops.search_deck(conditions.evolution_pokemon, question="Choose an Evolution Pokémon")
_SEARCH_BASIC = ops.search_deck(conditions.basic_pokemon, question="Choose a Basic Pokémon")


def _flip_and_search(state: State, frame: Frame) -> None:
    search = _SEARCH_EVOLUTION if moves.flip(state, frame.seat) else _SEARCH_BASIC
    search(state, frame)


item(
    "SIT-153",
    "Capturing Aroma",
    "Flip a coin. If heads, search your deck for an Evolution Pokémon; if tails, for a Basic Pokémon. Show it to your "
    "opponent, put it into your hand and shuffle your deck.",
    playable=conditions.deck_left,
    effect=(_flip_and_search, ops.deck_to_hand(reveal=True), ops.shuffle_deck),
)


def _holder_is_pokemon_v(state: State, seat: int, holder: Pokemon) -> bool:
    return "V" in CARDS[holder.cards[-1]].tags and bool(state.players[seat].deck)


tool(
    "SIT-156",
    "Forest Seal Stone",
    "The Pokémon V this is attached to can use the VSTAR Power on this card.",
    abilities=(
        Ability(
            "Star Alchemy",
            "During your turn, you may search your deck for any card, put it into your hand and shuffle your "
            "deck. You can use only 1 VSTAR Power in a game.",
            limit=Limit.VSTAR,
            when=_holder_is_pokemon_v,
            effect=(
                ops.search_deck(conditions.any_card, at_least=1),
                ops.deck_to_hand(reveal=False),
                ops.shuffle_deck,
            ),
        ),
    ),
)


_DISCARD_AND_DRAW, _SWITCH_IN = "discard 1 to 3 cards and draw until you have 5", "switch in a Benched Pokémon V"


def _benched_v(state: State, seat: int) -> list[Pokemon]:
    return [p for p in state.players[seat].bench if "V" in CARDS[p.cards[-1]].tags]


def _opponent_has_benched_v(state: State, seat: int) -> bool:
    return bool(_benched_v(state, 1 - seat))


def _choose_what_to_do(state: State, frame: Frame) -> None:
    options: list[str] = []
    if state.players[frame.seat].hand:
        options.append(_DISCARD_AND_DRAW)
    if _opponent_has_benched_v(state, frame.seat):
        options.append(_SWITCH_IN)
    prompts.ask_option(state, frame, frame.seat, "Choose what to do", tuple(options))


def _choose_benched_v(state: State, frame: Frame) -> None:
    prompts.ask_pokemon(
        state, frame, frame.seat, _benched_v(state, 1 - frame.seat), "Choose the Pokémon V to switch in"
    )


_OPTIONS = {
    _DISCARD_AND_DRAW: Program((ops.discard_cards(3, at_least=1), ops.draw_until(5))),
    _SWITCH_IN: Program((_choose_benched_v, ops.switch_in_opponents)),
}


def _do_it(state: State, frame: Frame) -> None:
    moves.start(state, _OPTIONS[frame.picks[0]], frame.seat, card=frame.card)


def _other_card_or_benched_v(state: State, seat: int) -> bool:
    return conditions.other_cards(1)(state, seat) or _opponent_has_benched_v(state, seat)


supporter(
    "SIT-164",
    "Serena",
    "Choose one. Either discard 1 to 3 cards from your hand and draw cards until you have 5 cards in your hand; or "
    "switch one of your opponent's Benched Pokémon V (VSTAR too) with their Active Pokémon.",
    playable=_other_card_or_benched_v,
    effect=(_choose_what_to_do, _do_it),
)


def _less_damage_from_v(state: State, blow: Blow, holder: Pokemon) -> int:
    return -30 if blow.seat != blow.target_seat and "V" in CARDS[blow.attacker.cards[-1]].tags else 0


special_energy(
    "SIT-169",
    "V Guard Energy",
    "Provides 1 Colorless Energy. The Pokémon this is attached to takes 30 less damage from attacks of your opponent's "
    "Pokémon V (VSTAR too), after Weakness and Resistance. More than one V Guard Energy on a Pokémon protects it no "
    "better.",
    provides="C",
    hooks={"damage_taken_once": _less_damage_from_v},
)
