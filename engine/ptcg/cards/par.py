"""Paradox Rift."""

from engine.ptcg import conditions, modifiers, moves, ops
from engine.ptcg.card import CARDS, Ability, Attack, Hook, Program, item, pokemon, supporter, tool
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State


def _is_benched_and_opponent_can_switch(state: State, seat: int, holder: Pokemon) -> bool:
    return state.players[seat].active is not holder and bool(state.players[1 - seat].bench)


def _discard_this(state: State, frame: Frame) -> None:
    this = ops.source(state, frame)
    if this is not None:
        moves.discard_pokemon(state, frame.seat, this)


def _evolution_cannot_attack(state: State, frame: Frame, target: Pokemon) -> None:
    if not CARDS[target.cards[-1]].is_basic:
        moves.add_effect(target, (modifiers.CANNOT_ATTACK, state.turn + 1, ""))


pokemon(
    "PAR-56",
    "Iron Bundle",
    "Basic",
    hp=100,
    types="W",
    weakness="L",
    retreat=1,
    tags=("Future",),
    abilities=(
        Ability(
            "Hyper Blower",
            "Once during your turn, while this Pokémon is on your Bench, you may make your opponent switch "
            "their Active Pokémon with one of their Benched Pokémon, which they choose. If you do, discard "
            "this Pokémon and all cards attached to it.",
            when=_is_benched_and_opponent_can_switch,
            effect=(
                ops.choose_benched("Choose your new Active Pokémon", yours=False, by_opponent=True),
                ops.switch_in_opponents,
                _discard_this,
            ),
        ),
    ),
    attacks=(
        Attack(
            "Refrigerated Stream",
            "WCC",
            damage="80",
            text="If your opponent's Active Pokémon is an Evolution, it cannot attack during your opponent's "
            "next turn.",
            effect=(ops.damage(80), ops.on_opponents_active(_evolution_cannot_attack)),
        ),
    ),
)

pokemon(
    "PAR-86",
    "Scream Tail",
    "Basic",
    hp=90,
    types="P",
    weakness="D",
    resistance="F",
    retreat=1,
    tags=("Ancient",),
    attacks=(
        Attack("Slap", "P", damage="30", effect=(ops.damage(30),)),
        Attack(
            "Roaring Scream",
            "PC",
            text="To one of your opponent's Pokémon, 20 damage for each damage counter on this Pokémon; Weakness and "
            "Resistance do not count for a Benched one.",
            effect=(
                ops.choose_opponents_pokemon("Choose the Pokémon to damage"),
                ops.damage_picked(lambda state, frame: 20 * conditions.counters_on_this(state, frame)),
            ),
        ),
    ),
)


def _heads_until_tails(state: State, frame: Frame) -> int:
    heads = 0
    while moves.flip(state, frame.seat):
        heads += 1
    return heads


pokemon(
    "PAR-88",
    "Gimmighoul",
    "Basic",
    hp=70,
    types="P",
    weakness="D",
    resistance="F",
    retreat=2,
    attacks=(
        Attack(
            "Continuous Coin Toss",
            "C",
            damage="20×",
            text="Flip a coin until you get tails. 20 damage for each heads.",
            effect=(ops.damage(lambda state, frame: 20 * _heads_until_tails(state, frame)),),
        ),
    ),
)


def _basic_places_counters_on_bench(state: State, blow: Blow, seat: int, holder: Pokemon) -> bool:
    return (
        blow.seat != seat and blow.target is not state.players[seat].active and CARDS[blow.attacker.cards[-1]].is_basic
    )


pokemon(
    "PAR-126",
    "Jirachi",
    "Basic",
    hp=70,
    types="M",
    weakness="R",
    resistance="G",
    retreat=1,
    abilities=(
        Ability(
            "Stellar Veil",
            "Effects of attacks from your opponent's Basic Pokémon place no damage counters on your Benched Pokémon.",
            hooks={"prevent_counters": _basic_places_counters_on_bench},
        ),
    ),
    attacks=(
        Attack(
            "Charge Energy",
            "C",
            text="Search your deck for up to 2 Basic Energy cards, show them to your opponent, put them into "
            "your hand and shuffle your deck.",
            effect=(
                ops.search_deck(conditions.basic_energy(), up_to=2, question="Choose up to 2 Basic Energy"),
                ops.deck_to_hand(reveal=True),
                ops.shuffle_deck,
            ),
        ),
    ),
)


def _two_cards_while_active(state: State, frame: Frame) -> int:
    this = ops.source(state, frame)
    return 2 if this is not None and state.players[frame.seat].active is this else 1


pokemon(
    "PAR-139",
    "Gholdengo ex",
    "Stage 1",
    evolves_from="Gimmighoul",
    hp=260,
    types="M",
    weakness="R",
    resistance="G",
    retreat=2,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Coin Bonus",
            "Once during your turn, you may draw a card; 2 cards while this Pokémon is in the Active Spot.",
            when=conditions.for_ability(conditions.deck_left),
            effect=(ops.draw(_two_cards_while_active),),
        ),
    ),
    attacks=(
        Attack(
            "Make It Rain",
            "M",
            damage="50×",
            text="Discard any number of Basic Energy cards from your hand. 50 damage for each card discarded in this "
            "way.",
            effect=(
                ops.choose_from_hand(conditions.basic_energy(), 60, 0, "Discard any number of Basic Energy"),
                ops.hand_to_discard,
                ops.damage(lambda state, frame: 50 * len(frame.picks)),
            ),
        ),
    ),
)

item(
    "PAR-160",
    "Counter Catcher",
    "Can be played only if you have more Prize cards remaining than your opponent. Choose one of your "
    "opponent's Benched Pokémon and switch it with their Active Pokémon.",
    playable=conditions.all_of(conditions.more_prizes_left, conditions.opponent_has_bench),
    effect=(ops.choose_benched("Choose the Pokémon to switch in", yours=False), ops.switch_in_opponents),
)

item(
    "PAR-163",
    "Earthen Vessel",
    "Discard another card from your hand to play this card. Search your deck for up to 2 Basic Energy cards, show them "
    "to your opponent, put them into your hand and shuffle your deck.",
    playable=conditions.all_of(conditions.deck_left, conditions.other_cards(1)),
    effect=(
        ops.discard_cards(1),
        ops.search_deck(conditions.basic_energy(), up_to=2, question="Choose up to 2 Basic Energy"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)


def _without_rule_box(amount: int) -> Hook:
    return lambda state, holder: 0 if CARDS[holder.cards[-1]].rule_box else amount


tool(
    "PAR-166",
    "Luxurious Cape",
    "If the Pokémon this is attached to has no Rule Box (is not ex, V or Radiant), it has 100 more HP, and your "
    "opponent takes 1 more Prize card when it is Knocked Out by damage from an attack of their Pokémon.",
    hooks={"hp": _without_rule_box(100), "extra_prizes": _without_rule_box(1)},
)


def _search_evolution(state: State, frame: Frame) -> None:
    """Look through the deck for a card that evolves from the Pokémon whose uid is in ``memo``."""
    chosen = state.find(frame.memo[0])
    if chosen is not None:
        name = CARDS[chosen.cards[-1]].name
        search = ops.search_deck(lambda card: card.evolves_from == name, question=f"Choose a card that evolves {name}")
        search(state, frame)


def _evolve_from_deck(state: State, frame: Frame) -> None:
    chosen = state.find(frame.memo[0])
    for card in frame.picks:
        if chosen is not None:
            state.players[frame.seat].deck.remove(card)
            moves.evolve(state, frame.seat, chosen, card)


_EVOLVE_ONE = Program((_search_evolution, _evolve_from_deck))
_EVOLVE_INTO_OTHER_CARDS = ("Frillish", "Rotom V")
"""What evolves from these Pokémon is none of the cards here, but a deck might have had it."""


def _can_evolve(pokemon: Pokemon | None) -> bool:
    if pokemon is None:
        return False
    name = CARDS[pokemon.cards[-1]].name
    return name in _EVOLVE_INTO_OTHER_CARDS or any(name in (card.evolves_from, card.basic_form) for card in CARDS)


def _evolve_picked(state: State, frame: Frame) -> None:
    # A deck is searched, and then shuffled, only for what can be in it. Source: TPCi Rules Team, 2024-01-04.
    evolving = [uid for uid in frame.picks if _can_evolve(state.find(uid))]
    if not evolving:
        ops.stop(state, frame)
    for uid in evolving[::-1]:
        moves.start(state, _EVOLVE_ONE, frame.seat, frame.uid, frame.card, memo=(uid,))


tool(
    "PAR-178",
    "Technical Machine: Evolution",
    "The Pokémon this is attached to can use the attack on this card (for the Energy it costs). Discarded at the end "
    "of your turn.",
    tags=("Technical Machine",),
    attacks=(
        Attack(
            "Evolution",
            "C",
            text="Choose 1 or 2 of your Benched Pokémon. For each, search your deck for a card that evolves from it "
            "and put it onto it: it evolves, also if it came into play this turn. Shuffle your deck. Where no card "
            "evolves from those chosen, the deck is neither searched nor shuffled.",
            effect=(
                ops.choose_your_pokemon("Choose up to 2 Benched Pokémon to evolve", conditions.is_benched, up_to=2),
                _evolve_picked,
                ops.shuffle_deck,
            ),
        ),
    ),
)

pokemon(
    "PAR-248",
    "Iron Hands ex",
    "Basic",
    hp=230,
    types="L",
    weakness="F",
    retreat=4,
    tags=("ex", "Future"),
    prizes=2,
    attacks=(
        Attack("Arm Press", "LLC", damage="160", effect=(ops.damage(160),)),
        Attack(
            "Amp You Very Much",
            "LCCC",
            damage="120",
            text="If your opponent's Pokémon is Knocked Out by damage from this attack, take 1 more Prize card.",
            effect=(ops.bonus_prizes(1), ops.damage(120)),
        ),
    ),
)


def _pick_up(state: State, frame: Frame) -> None:
    seat = frame.seat
    player = state.players[seat]
    for uid in frame.picks:
        found = state.find(uid)
        if found is None:
            continue
        moves.remove_from_play(state, seat, found)
        attached = (*found.energy, *found.tools)
        player.discard.extend(attached)
        if attached:
            state.log.append(("discard", seat, attached, "attached"))
        for card in found.cards:
            moves.add_to_hand(state, seat, card, True)
        state.log.append(("to_hand", seat, tuple(found.cards), "play", True))


supporter(
    "PAR-257",
    "Professor Turo's Scenario",
    "Put one of your Pokémon in play, with all its stages, into your hand. Discard all cards attached to it.",
    effect=(ops.choose_your_pokemon("Choose the Pokémon to put into your hand"), _pick_up),
)
