"""Paradox Rift."""

from engine.ptcg import moves, ops
from engine.ptcg.card import CARDS, Ability, Attack, item, pokemon, supporter
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
        moves.add_effect(target, (ops.CANNOT_ATTACK, state.turn + 1, ""))


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
                ops.search_deck(ops.basic_energy(), up_to=2, question="Choose up to 2 Basic Energy"),
                ops.deck_to_hand(reveal=True),
                ops.shuffle_deck,
            ),
        ),
    ),
)

item(
    "PAR-160",
    "Counter Catcher",
    "Can be played only if you have more Prize cards remaining than your opponent. Choose one of your "
    "opponent's Benched Pokémon and switch it with their Active Pokémon.",
    playable=ops.all_of(ops.more_prizes_left, ops.opponent_has_bench),
    effect=(ops.choose_benched("Choose the Pokémon to switch in", yours=False), ops.switch_in_opponents),
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
