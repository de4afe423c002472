"""Scarlet & Violet."""

from engine.ptcg import conditions, modifiers, moves, ops
from engine.ptcg.card import CARDS, Ability, Attack, Limit, item, pokemon, supporter, tool
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State

_COUNTERS_FOR_EMBRACE = 2


def _can_be_embraced(state: State, seat: int, pokemon: Pokemon) -> bool:
    """A Psychic Pokémon that the damage counters would not Knock Out."""
    return "P" in CARDS[pokemon.cards[-1]].types and (
        modifiers.remaining_hp(state, pokemon) > 10 * _COUNTERS_FOR_EMBRACE
    )


def _can_embrace(state: State, seat: int, holder: Pokemon) -> bool:
    return conditions.in_discard(conditions.basic_energy("P"))(state, seat) and any(
        _can_be_embraced(state, seat, p) for p in state.players[seat].in_play()
    )


def _put_counters_on_picked(state: State, frame: Frame) -> None:
    for uid in frame.picks:
        embraced = state.find(uid)
        if embraced is not None:
            moves.put_counters(state, frame.seat, embraced, _COUNTERS_FOR_EMBRACE)


def _recover_from_all(state: State, frame: Frame) -> None:
    this = ops.source(state, frame)
    if this is not None:
        moves.recover(state, frame.seat, this, this.conditions)


pokemon(
    "SVI-86",
    "Gardevoir ex",
    "Stage 2",
    evolves_from="Kirlia",
    basic_form="Ralts",
    hp=310,
    types="P",
    weakness="D",
    resistance="F",
    retreat=2,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Psychic Embrace",
            "As often as you like during your turn, you may attach a Basic Psychic Energy card from your discard pile "
            "to one of your Psychic Pokémon and put 2 damage counters on that Pokémon. It cannot be a Pokémon that "
            "would be Knocked Out by them.",
            limit=Limit.FREE,
            when=_can_embrace,
            effect=(
                ops.choose_from_discard(
                    conditions.basic_energy("P"), 1, question="Choose a Basic Psychic Energy to attach"
                ),
                ops.remember_picks,
                ops.choose_your_pokemon("Attach it to which Psychic Pokémon", _can_be_embraced),
                ops.attach_all_to_picked("discard"),
                _put_counters_on_picked,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Miracle Force",
            "PPC",
            damage="190",
            text="This Pokémon recovers from all Special Conditions.",
            effect=(ops.damage(190), _recover_from_all),
        ),
    ),
)


def _hits_harder_when_behind(state: State, blow: Blow, holder: Pokemon) -> int:
    behind = conditions.more_prizes_left(state, blow.seat)
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
    playable=conditions.all_of(conditions.deck_left, _has_benched_lightning),
    effect=(
        ops.choose_top(conditions.basic_energy("L"), 5, 2, "Choose up to 2 Basic Lightning Energy to attach"),
        ops.attach_picks(_is_benched_lightning, "deck"),
        ops.shuffle_deck,
    ),
)

supporter(
    "SVI-175",
    "Jacq",
    "Search your deck for up to 2 Evolution Pokémon, show them to your opponent, put them into your hand and shuffle "
    "your deck.",
    playable=conditions.deck_left,
    effect=(
        ops.search_deck(conditions.evolution_pokemon, up_to=2, question="Choose up to 2 Evolution Pokémon"),
        ops.deck_to_hand(reveal=True),
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
            effect=(
                ops.search_deck(conditions.basic_of_type("L"), conditions.space(2)),
                ops.deck_to_bench,
                ops.shuffle_deck,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Photon Blaster",
            "LLC",
            damage="220",
            text="During your next turn, this Pokémon cannot attack.",
            effect=(ops.damage(220), ops.effect_on_this(modifiers.CANNOT_ATTACK, 2)),
        ),
    ),
)
