"""Paldea Evolved."""

from engine.ptcg import conditions, moves, ops, prompts
from engine.ptcg.card import (
    CARDS,
    Ability,
    Attack,
    Card,
    Limit,
    item,
    pokemon,
    special_energy,
    stadium,
    supporter,
    tool,
)
from engine.ptcg.state import ASLEEP, CONFUSED, PARALYZED, Frame, Pokemon, State


def _basic_without_rule_box(card: Card) -> bool:
    return card.is_basic and not card.rule_box


stadium(
    "PAL-171",
    "Artazon",
    "Once during each player's turn, that player may search their deck for a Basic Pokémon without a Rule Box (not ex, "
    "V or Radiant), put it onto their Bench and shuffle their deck.",
    usable=conditions.all_of(conditions.deck_left, conditions.room_on_bench),
    once_each_turn=(
        ops.search_deck(_basic_without_rule_box, conditions.space(1)),
        ops.deck_to_bench,
        ops.shuffle_deck,
    ),
)


def _more_hp_for_basic(state: State, holder: Pokemon) -> int:
    return 50 if CARDS[holder.cards[-1]].is_basic else 0


tool(
    "PAL-173",
    "Bravery Charm",
    "The Basic Pokémon this is attached to has 50 more HP. On an Evolution it does nothing.",
    hooks={"hp": _more_hp_for_basic},
)

item(
    "PAL-183",
    "Great Ball",
    "Look at the top 7 cards of your deck. You may show a Pokémon you find there to your opponent and put it into your "
    "hand. Shuffle the other cards back into your deck.",
    playable=conditions.deck_left,
    effect=(
        ops.choose_top(conditions.a_pokemon, 7, 1, "Choose a Pokémon"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)

item(
    "PAL-188",
    "Super Rod",
    "Choose up to 3 Pokémon and Basic Energy cards, in any combination, in your discard pile and shuffle them"
    " into your deck.",
    playable=conditions.in_discard(conditions.pokemon_or_basic_energy),
    effect=(
        ops.choose_from_discard(conditions.pokemon_or_basic_energy, 3, question="Shuffle cards into your deck"),
        ops.discard_to_deck,
    ),
)


def _choose_energy_discarded_before(state: State, frame: Frame) -> None:
    """Choose among the Basic Energy in your discard pile but for the cards that were just discarded."""
    pool = state.players[frame.seat].discard[:]
    for card in frame.picks:
        pool.remove(card)
    energy = [card for card in pool if CARDS[card].is_basic_energy]
    prompts.ask_cards(state, frame, frame.seat, energy, "Choose up to 4 Basic Energy", 1, 4)


item(
    "PAL-189",
    "Superior Energy Retrieval",
    "Discard 2 other cards from your hand to play this card. Put up to 4 Basic Energy cards from your discard pile "
    "into your hand, but none that you discarded to play this card.",
    playable=conditions.all_of(conditions.other_cards(2), conditions.in_discard(conditions.basic_energy())),
    effect=(ops.discard_cards(2), _choose_energy_discarded_before, ops.discard_to_hand),
)


def _switch_in_this(state: State, frame: Frame) -> None:
    # Where this Pokémon is the Active one already, nothing is switched.
    moves.switch(state, frame.seat, frame.uid)


special_energy(
    "PAL-190",
    "Jet Energy",
    "Provides 1 Colorless Energy. When you attach this card from your hand to one of your Benched Pokémon, switch that "
    "Pokémon with your Active Pokémon.",
    provides="C",
    on_attach=(_switch_in_this,),
)

special_energy(
    "PAL-193",
    "Therapeutic Energy",
    "Provides 1 Colorless Energy. The Pokémon this is attached to recovers from being Asleep, Confused or Paralyzed "
    "and cannot be affected by those Special Conditions.",
    provides="C",
    hooks={"immunity": lambda state, holder: ASLEEP | CONFUSED | PARALYZED},
)


def _first_turn_and_deck_left(state: State, seat: int, holder: Pokemon) -> bool:
    # To discard is the cost of drawing, as with Professor's Research.
    return state.turn <= 2 and bool(state.players[seat].deck)


pokemon(
    "PAL-264",
    "Squawkabilly ex",
    "Basic",
    hp=160,
    types="C",
    weakness="L",
    resistance="F",
    retreat=1,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Squawk and Seize",
            "Once during your first turn, you may discard your hand and draw 6 cards. You can use only 1 "
            "Squawk and Seize during your turn.",
            limit=Limit.ONCE_PER_NAME,
            when=_first_turn_and_deck_left,
            effect=(ops.discard_hand, ops.draw(6)),
        ),
    ),
    attacks=(
        Attack(
            "Motivate",
            "C",
            damage="20",
            text="Attach up to 2 Basic Energy cards from your discard pile to one of your Benched Pokémon.",
            effect=(
                ops.damage(20),
                ops.only_with_bench,
                # "Up to" in an attack may be none. Source: TPCi Rules Team, 2026-02-19.
                ops.choose_from_discard(conditions.basic_energy(), 2, 0, "Choose up to 2 Basic Energy to attach"),
                ops.remember_picks,
                ops.choose_benched("Attach them to which Pokémon"),
                ops.attach_all_to_picked("discard"),
            ),
        ),
    ),
)

supporter(
    "PAL-265",
    "Boss's Orders",
    "Choose one of your opponent's Benched Pokémon and switch it with their Active Pokémon.",
    playable=conditions.opponent_has_bench,
    effect=(ops.choose_benched("Choose the Pokémon to switch in", yours=False), ops.switch_in_opponents),
)
