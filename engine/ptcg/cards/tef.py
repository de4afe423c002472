"""Temporal Forces."""

from engine.ptcg import modifiers, ops
from engine.ptcg.card import CARDS, Card, item, special_energy, tool
from engine.ptcg.state import Frame, Pokemon, State


def _basic_with_70_hp_or_less(card: Card) -> bool:
    return card.is_basic and card.hp <= 70


item(
    "TEF-144",
    "Buddy-Buddy Poffin",
    "Search your deck for up to 2 Basic Pokémon with 70 HP or less, put them onto your Bench and shuffle your deck.",
    playable=ops.all_of(ops.deck_left, ops.room_on_bench),
    effect=(ops.search_deck(_basic_with_70_hp_or_less, ops.space(2)), ops.deck_to_bench, ops.shuffle_deck),
)


def _retreat_cost_four_and_active(state: State, frame: Frame) -> None:
    holder = ops.source(state, frame)
    player = state.players[frame.seat]
    if holder is None or player.active is not holder or not player.bench or modifiers.retreat_cost(state, holder) != 4:
        ops.stop(state, frame)


def _choose_energy_to_move(state: State, frame: Frame) -> None:
    holder = ops.source(state, frame)
    if holder is not None:
        attached = [(holder.uid, card) for card in sorted(holder.energy) if CARDS[card].is_basic_energy]
        ops.ask_attached(state, frame, frame.seat, attached, "Move up to 3 Basic Energy to your Bench", 0, 3)


def _only_the_cards(state: State, frame: Frame) -> None:
    frame.picks = tuple(card for _, card in frame.picks)


def _is_benched(state: State, seat: int, pokemon: Pokemon) -> bool:
    return state.players[seat].active is not pokemon


tool(
    "TEF-151",
    "Heavy Baton",
    "If the Pokémon this is attached to has a Retreat Cost of exactly 4, is in the Active Spot and is Knocked"
    " Out by damage from an attack of your opponent's Pokémon, move up to 3 Basic Energy cards from it to "
    "your Benched Pokémon in any way you like.",
    on_knock_out=(
        _retreat_cost_four_and_active,
        _choose_energy_to_move,
        _only_the_cards,
        ops.attach_picks(_is_benched, "pokemon"),
    ),
)

item(
    "TEF-157",
    "Prime Catcher",
    "Choose one of your opponent's Benched Pokémon and switch it with their Active Pokémon. If you do, switch"
    " your Active Pokémon with one of your Benched Pokémon.",
    tags=("ACE SPEC",),
    playable=ops.opponent_has_bench,
    effect=(
        ops.choose_benched("Choose the Pokémon to switch in", yours=False),
        ops.switch_in_opponents,
        ops.choose_benched("Choose your new Active Pokémon"),
        ops.switch_yours,
    ),
)


def _cheaper_retreat(state: State, holder: Pokemon) -> int:
    nearly_fallen = modifiers.remaining_hp(state, holder) <= 30
    return CARDS[holder.cards[-1]].retreat if nearly_fallen else 1


tool(
    "TEF-159",
    "Rescue Board",
    "The Retreat Cost of the Pokémon this is attached to is 1 Colorless less. While its remaining HP is 30 or"
    " less, it has no Retreat Cost.",
    hooks={"retreat": _cheaper_retreat},
)

special_energy(
    "TEF-161",
    "Mist Energy",
    "Provides 1 Colorless Energy. Effects of attacks from your opponent's Pokémon do not reach the Pokémon "
    "this is attached to; effects already on it stay. Damage is not an effect.",
    provides="C",
    hooks={"prevent_effects": lambda state, blow, seat, holder: True},
)
