"""Crown Zenith."""

from engine.ptcg import conditions, modifiers, moves, ops, prompts
from engine.ptcg.card import Ability, Attack, Kind, item, pokemon
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State


def _prizes_taken_by_opponent(state: State, seat: int, holder: Pokemon) -> int:
    return state.prize_count - len(state.players[1 - seat].prizes)


pokemon(
    "CRZ-20",
    "Radiant Charizard",
    "Basic",
    hp=160,
    types="R",
    weakness="W",
    retreat=3,
    tags=("Radiant",),
    abilities=(
        Ability(
            "Excited Heart",
            "The attacks of this Pokémon cost 1 Colorless less for each Prize card your opponent has taken.",
            hooks={"attack_cost": _prizes_taken_by_opponent},
        ),
    ),
    attacks=(
        Attack(
            "Combustion Blast",
            "RCCCC",
            damage="250",
            text="During your next turn, this Pokémon cannot use Combustion Blast.",
            effect=(ops.damage(250), ops.effect_on_this(modifiers.CANNOT_USE_ATTACK, 2, "Combustion Blast")),
        ),
    ),
)


def _put_tools_in_lost_zone(state: State, frame: Frame) -> None:
    player = state.players[frame.seat]
    for card in frame.picks:
        player.discard.remove(card)
        player.lost.append(card)
    if frame.picks:
        state.log.append(("lost", frame.seat, frame.picks, "discard"))


pokemon(
    "CRZ-45",
    "Rotom V",
    "Basic",
    hp=190,
    types="L",
    weakness="F",
    retreat=1,
    tags=("V",),
    prizes=2,
    abilities=(
        Ability(
            "Instant Charge",
            "Once during your turn, you may draw 3 cards. If you do, your turn ends.",
            when=conditions.for_ability(conditions.deck_left),
            ends_turn=True,
            effect=(ops.draw(3),),
        ),
    ),
    attacks=(
        Attack(
            "Scrap Short",
            "LL",
            damage="40+",
            text="Put any number of Pokémon Tool cards from your discard pile in the Lost Zone. 40 more "
            "damage for each card put there in this way.",
            effect=(
                ops.choose_from_discard(conditions.of_kind(Kind.TOOL), 60, 0, "Put Pokémon Tools in the Lost Zone"),
                _put_tools_in_lost_zone,
                ops.damage(lambda state, frame: 40 + 40 * len(frame.picks)),
            ),
        ),
    ),
)


def _this_is_benched(state: State, blow: Blow, seat: int, holder: Pokemon) -> bool:
    return blow.target is holder and state.players[seat].active is not holder


pokemon(
    "CRZ-111",
    "Bidoof",
    "Basic",
    hp=60,
    types="C",
    weakness="F",
    retreat=1,
    abilities=(
        Ability(
            "Carefree Countenance",
            "As long as this Pokémon is on your Bench, attacks (yours and your opponent's) do no damage to it.",
            hooks={"prevent_damage": _this_is_benched},
        ),
    ),
    attacks=(
        Attack(
            "Hyper Fang",
            "CC",
            damage="30",
            text="Flip a coin. If tails, this attack does nothing.",
            effect=(ops.flip_or_stop, ops.damage(30)),
        ),
    ),
)

item(
    "CRZ-127",
    "Energy Retrieval",
    "Put up to 2 Basic Energy cards from your discard pile into your hand.",
    playable=conditions.in_discard(conditions.basic_energy()),
    effect=(
        ops.choose_from_discard(conditions.basic_energy(), 2, question="Choose up to 2 Basic Energy"),
        ops.discard_to_hand,
    ),
)


def _tools_in_play(state: State) -> list[tuple[int, int]]:
    return [(p.uid, card) for player in state.players for p in player.in_play() for card in p.tools]


def _something_to_remove(state: State, seat: int) -> bool:
    return state.stadium >= 0 or bool(_tools_in_play(state))


def _choose_tool_or_stadium(state: State, frame: Frame) -> None:
    found = _tools_in_play(state)
    if state.stadium >= 0:
        found.append((0, state.stadium))
    prompts.ask_attached(state, frame, frame.seat, found, "Put a Pokémon Tool or the Stadium in the Lost Zone", 1, 1)


def _to_lost_zone(state: State, frame: Frame) -> None:
    for uid, card in frame.picks:
        holder = state.find(uid)
        if holder is None:
            owner = state.stadium_owner
            state.stadium = -1
        else:
            owner = state.place(uid)[0]
            moves.detach(holder, card)
        state.players[owner].lost.append(card)
        state.log.append(("lost", owner, (card,), "play"))


item(
    "CRZ-135",
    "Lost Vacuum",
    "Put another card from your hand in the Lost Zone to play this card. Choose a Pokémon Tool attached to "
    "any Pokémon, or the Stadium in play, and put it in its owner's Lost Zone.",
    playable=conditions.all_of(conditions.other_cards(1), _something_to_remove),
    effect=(
        ops.choose_from_hand(conditions.any_card, 1, 1, "Put a card from your hand in the Lost Zone"),
        ops.hand_to_lost_zone,
        _choose_tool_or_stadium,
        _to_lost_zone,
    ),
)
