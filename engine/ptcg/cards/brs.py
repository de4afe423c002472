"""Brilliant Stars."""

from engine.ptcg import conditions, modifiers, moves, ops, prompts
from engine.ptcg.card import CARDS, Ability, Attack, Kind, Op, Trigger, pokemon, special_energy, stadium
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State

pokemon(
    "BRS-40",
    "Lumineon V",
    "Basic",
    hp=170,
    types="W",
    weakness="L",
    retreat=1,
    tags=("V",),
    prizes=2,
    abilities=(
        Ability(
            "Luminous Sign",
            "When you play this Pokémon from your hand onto your Bench during your turn, you may search your "
            "deck for a Supporter card, show it to your opponent, put it into your hand and shuffle your "
            "deck.",
            trigger=Trigger.PLAYED_TO_BENCH,
            when=conditions.for_ability(conditions.deck_left),
            effect=(
                ops.search_deck(conditions.of_kind(Kind.SUPPORTER), question="Choose a Supporter card"),
                ops.deck_to_hand(reveal=True),
                ops.shuffle_deck,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Aqua Return",
            "WCC",
            damage="120",
            text="Shuffle this Pokémon and all cards attached to it into your deck.",
            effect=(ops.damage(120), ops.shuffle_this_into_deck, ops.choose_new_active, ops.place_new_active),
        ),
    ),
)


def _opponents_attack_on_the_bench(state: State, blow: Blow, seat: int, holder: Pokemon) -> bool:
    return blow.seat != seat and blow.target is not state.players[seat].active


pokemon(
    "BRS-41",
    "Manaphy",
    "Basic",
    hp=70,
    types="W",
    weakness="L",
    retreat=1,
    abilities=(
        Ability(
            "Wave Veil",
            "Attacks from your opponent's Pokémon do no damage to your Benched Pokémon.",
            hooks={"prevent_damage": _opponents_attack_on_the_bench},
        ),
    ),
    attacks=(Attack("Rain Splash", "W", damage="20", effect=(ops.damage(20),)),),
)


def _is_active_and_deck_left(state: State, seat: int, holder: Pokemon) -> bool:
    player = state.players[seat]
    return player.active is holder and bool(player.deck)


pokemon(
    "BRS-48",
    "Raikou V",
    "Basic",
    hp=200,
    types="L",
    weakness="F",
    retreat=1,
    tags=("V",),
    prizes=2,
    abilities=(
        Ability(
            "Fleet-Footed",
            "Once during your turn, while this Pokémon is in the Active Spot, you may draw a card.",
            when=_is_active_and_deck_left,
            effect=(ops.draw(1),),
        ),
    ),
    attacks=(
        Attack(
            "Lightning Rondo",
            "LC",
            damage="20+",
            text="20 more damage for each Benched Pokémon, yours and your opponent's.",
            effect=(ops.damage(lambda state, frame: 20 + 20 * conditions.benched_on_both_sides(state, frame)),),
        ),
    ),
)


def _fewer_than_five_in_hand(state: State, seat: int, holder: Pokemon) -> bool:
    player = state.players[seat]
    return len(player.hand) < 5 and bool(player.deck)


pokemon(
    "BRS-121",
    "Bibarel",
    "Stage 1",
    evolves_from="Bidoof",
    hp=120,
    types="C",
    weakness="F",
    retreat=2,
    abilities=(
        Ability(
            "Industrious Incisors",
            "Once during your turn, you may draw cards until you have 5 cards in your hand.",
            when=_fewer_than_five_in_hand,
            effect=(ops.draw_until(5),),
        ),
    ),
    attacks=(
        Attack(
            "Tail Smash",
            "CCC",
            damage="100",
            text="Flip a coin. If tails, this attack does nothing.",
            effect=(ops.flip_or_stop, ops.damage(100)),
        ),
    ),
)


pokemon(
    "BRS-124",
    "Minccino",
    "Basic",
    hp=60,
    types="C",
    weakness="F",
    retreat=1,
    attacks=(
        Attack(
            "Call for Family",
            "C",
            text="Search your deck for up to 2 Basic Pokémon, put them onto your Bench and shuffle your deck.",
            effect=(
                ops.search_deck(conditions.basic_pokemon, conditions.space(2)),
                ops.deck_to_bench,
                ops.shuffle_deck,
            ),
        ),
        Attack("Pound", "C", damage="10", effect=(ops.damage(10),)),
    ),
)


def _discard_down_to_limit(yours: bool) -> Op:
    def choose(state: State, frame: Frame) -> None:
        seat = frame.seat if yours else 1 - frame.seat
        bench = state.players[seat].bench
        surplus = len(bench) - modifiers.bench_limit(state)
        prompts.ask_pokemon(state, frame, seat, bench, "Discard Benched Pokémon", surplus, surplus)

    return choose


def _discard_picked(state: State, frame: Frame) -> None:
    for uid in frame.picks:
        found = state.find(uid)
        if found is not None:
            moves.discard_pokemon(state, state.place(uid)[0], found)


stadium(
    "BRS-137",
    "Collapsed Stadium",
    "Each player can have at most 4 Benched Pokémon. A player with more discards Benched Pokémon of their choice, with "
    "all cards attached, until 4 are left; the player who played this card does so first. No Prize cards are taken.",
    hooks={"bench_limit": lambda state: 4},
    on_enter=(_discard_down_to_limit(True), _discard_picked, _discard_down_to_limit(False), _discard_picked),
)


special_energy(
    "BRS-151",
    "Double Turbo Energy",
    "Provides 2 Colorless Energy. The attacks of the Pokémon this is attached to do 20 less damage to your opponent's "
    "Pokémon, before Weakness and Resistance.",
    provides="CC",
    hooks={"damage_done": lambda state, blow, holder: -20},
)


def _attach_to_this(state: State, frame: Frame) -> None:
    this = ops.source(state, frame)
    for card in frame.picks:
        if this is not None:
            state.players[frame.seat].deck.remove(card)
            moves.attach(state, frame.seat, this, card, "deck")


def _choose_lightning_energy(state: State, frame: Frame) -> None:
    attached = [
        (p.uid, card)
        for p in state.players[frame.seat].in_play()
        for card in sorted(p.energy)
        if "L" in CARDS[card].provides
    ]
    question = "Discard any amount of Lightning Energy from your Pokémon"
    prompts.ask_attached(state, frame, frame.seat, attached, question, 0, len(attached))


pokemon(
    "BRS-158",
    "Raichu V",
    "Basic",
    hp=200,
    types="L",
    weakness="F",
    retreat=1,
    tags=("V",),
    prizes=2,
    attacks=(
        Attack(
            "Fast Charge",
            "L",
            text="Can be used on your first turn even if you go first. Search your deck for a Lightning Energy card, "
            "attach it to this Pokémon and shuffle your deck.",
            usable_on_first_turn=True,
            effect=(
                ops.search_deck(lambda card: card.is_energy and "L" in card.provides),
                _attach_to_this,
                ops.shuffle_deck,
            ),
        ),
        Attack(
            "Dynamic Spark",
            "LL",
            damage="60×",
            text="You may discard any amount of Lightning Energy from your Pokémon. 60 damage for each card discarded.",
            effect=(
                _choose_lightning_energy,
                ops.discard_picked_attached,
                ops.damage(lambda state, frame: 60 * len(frame.picks)),
            ),
        ),
    ),
)
