"""Paldean Fates."""

from engine.ptcg import conditions, moves, ops, prompts, triggers
from engine.ptcg.card import CARDS, Ability, Attack, Card, Trigger, item, pokemon, supporter
from engine.ptcg.state import Frame, Pokemon, State

pokemon(
    "PAF-7",
    "Charmander",
    "Basic",
    hp=70,
    types="R",
    weakness="W",
    retreat=1,
    attacks=(
        Attack("Blazing Destruction", "R", text="Discard the Stadium in play.", effect=(ops.discard_stadium,)),
        Attack("Steady Firebreathing", "RR", damage="30", effect=(ops.damage(30),)),
    ),
)

pokemon(
    "PAF-8",
    "Charmeleon",
    "Stage 1",
    evolves_from="Charmander",
    hp=90,
    types="R",
    weakness="W",
    retreat=2,
    abilities=(
        Ability(
            "Flare Veil",
            "Effects of attacks from your opponent's Pokémon do not reach this Pokémon. Damage is not an effect.",
            hooks={"prevent_effects": lambda state, blow, seat, holder: True},
        ),
    ),
    attacks=(Attack("Combustion", "RR", damage="50", effect=(ops.damage(50),)),),
)

pokemon(
    "PAF-27",
    "Ralts",
    "Basic",
    hp=70,
    types="P",
    weakness="D",
    resistance="F",
    retreat=1,
    attacks=(Attack("Psyshot", "PC", damage="30", effect=(ops.damage(30),)),),
)

pokemon(
    "PAF-54",
    "Charizard ex",
    "Stage 2",
    evolves_from="Charmeleon",
    basic_form="Charmander",
    hp=330,
    types="D",
    weakness="G",
    retreat=2,
    tags=("ex", "Tera"),
    prizes=2,
    abilities=(
        Ability(
            "Infernal Reign",
            "When you play this Pokémon from your hand to evolve one of your Pokémon during your turn, you "
            "may search your deck for up to 3 Basic Fire Energy cards, attach them to your Pokémon in any way"
            " you like and shuffle your deck.",
            trigger=Trigger.PLAYED_TO_EVOLVE,
            when=conditions.for_ability(conditions.deck_left),
            effect=(
                ops.search_deck(conditions.basic_energy("R"), up_to=3, question="Choose up to 3 Basic Fire Energy"),
                ops.attach_picks(None, "deck"),
                ops.shuffle_deck,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Burning Darkness",
            "RR",
            damage="180+",
            text="30 more damage for each Prize card your opponent has taken.",
            effect=(ops.damage(lambda state, frame: 180 + 30 * conditions.prizes_taken_by_opponent(state, frame)),),
        ),
    ),
)


def _hands_to_bottom(state: State, frame: Frame) -> None:
    moved = [moves.hand_to_bottom(state, seat) for seat in (frame.seat, 1 - frame.seat)]
    if not any(moved):
        ops.stop(state, frame)


def _each_draws_per_prize(state: State, frame: Frame) -> None:
    for seat in (frame.seat, 1 - frame.seat):
        moves.draw(state, seat, len(state.players[seat].prizes))


supporter(
    "PAF-80",
    "Iono",
    "Each player shuffles their hand and puts it on the bottom of their deck. If any card was put there in "
    "this way, each player draws a card for each of their remaining Prize cards.",
    effect=(_hands_to_bottom, _each_draws_per_prize),
)

item(
    "PAF-84",
    "Nest Ball",
    "Search your deck for a Basic Pokémon, put it onto your Bench and shuffle your deck.",
    playable=conditions.all_of(conditions.deck_left, conditions.room_on_bench),
    effect=(ops.search_deck(conditions.basic_pokemon, conditions.space(1)), ops.deck_to_bench, ops.shuffle_deck),
)


supporter(
    "PAF-87",
    "Professor's Research",
    "Discard your hand and draw 7 cards.",
    # To discard is its cost. Source: TPCi Rules Team, 2017-04-27, on a card of the same text.
    playable=conditions.deck_left,
    effect=(ops.discard_hand, ops.draw(7)),
)


def _can_skip_to(state: State, base: Pokemon, card: Card) -> bool:
    """Whether Rare Candy can put ``card`` onto ``base``: a Basic Pokémon that was in play before this turn."""
    return (
        len(base.cards) == 1
        and base.entered_turn < state.turn
        and bool(card.basic_form)
        and card.basic_form == CARDS[base.cards[0]].name
    )


def _rare_candy_bases(state: State, seat: int) -> list[Pokemon]:
    player = state.players[seat]
    stage_2 = [CARDS[card] for card in set(player.hand) if CARDS[card].basic_form]
    return [p for p in player.in_play() if any(_can_skip_to(state, p, card) for card in stage_2)]


def _can_use_rare_candy(state: State, seat: int) -> bool:
    # No evolving in a player's first turn: turns 1 and 2 are the first turns of the two players.
    return state.turn > 2 and bool(_rare_candy_bases(state, seat))


def _choose_base(state: State, frame: Frame) -> None:
    bases = _rare_candy_bases(state, frame.seat)
    prompts.ask_pokemon(state, frame, frame.seat, bases, "Choose the Basic Pokémon to evolve")


def _choose_stage_2(state: State, frame: Frame) -> None:
    frame.memo = frame.picks
    base = state.find(frame.memo[0])
    assert base is not None
    cards = [card for card in state.players[frame.seat].hand if _can_skip_to(state, base, CARDS[card])]
    prompts.ask_cards(state, frame, frame.seat, cards, "Choose the Stage 2 Pokémon to evolve it into", 1, 1)


def _skip_stage_1(state: State, frame: Frame) -> None:
    base = state.find(frame.memo[0])
    assert base is not None
    card = frame.picks[0]
    moves.remove_from_hand(state, frame.seat, card)
    moves.evolve(state, frame.seat, base, card)
    triggers.offer(state, frame.seat, base, Trigger.PLAYED_TO_EVOLVE)


item(
    "PAF-89",
    "Rare Candy",
    "Choose one of your Basic Pokémon in play that was there before this turn, and put a Stage 2 card from "
    "your hand that belongs to its line onto it: it evolves, skipping the Stage 1. Cannot be used during your"
    " first turn.",
    playable=_can_use_rare_candy,
    effect=(_choose_base, _choose_stage_2, _skip_stage_1),
)

item(
    "PAF-91",
    "Ultra Ball",
    "Discard 2 other cards from your hand to play this card. Search your deck for a Pokémon, show it to your "
    "opponent, put it into your hand and shuffle your deck.",
    playable=conditions.all_of(conditions.deck_left, conditions.other_cards(2)),
    effect=(
        ops.discard_cards(2),
        ops.search_deck(conditions.a_pokemon, question="Choose a Pokémon"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)
