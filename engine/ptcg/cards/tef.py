"""Temporal Forces."""

from engine.ptcg import conditions, modifiers, moves, ops, prompts
from engine.ptcg.card import CARDS, Ability, Attack, Card, Kind, item, pokemon, special_energy, supporter, tool
from engine.ptcg.state import Frame, Pokemon, State

pokemon(
    "TEF-128",
    "Dunsparce",
    "Basic",
    hp=60,
    types="C",
    weakness="F",
    retreat=0,
    attacks=(
        Attack("Gnaw", "C", damage="10", effect=(ops.damage(10),)),
        Attack(
            "Dig",
            "CC",
            damage="30",
            text="Flip a coin. If heads, during your opponent's next turn no damage from and no effects of attacks "
            "reach this Pokémon.",
            effect=(ops.damage(30), ops.flip_or_stop, ops.effect_on_this(modifiers.NO_DAMAGE_OR_EFFECTS, 1)),
        ),
    ),
)

pokemon(
    "TEF-129",
    "Dudunsparce",
    "Stage 1",
    evolves_from="Dunsparce",
    hp=140,
    types="C",
    weakness="F",
    retreat=3,
    abilities=(
        Ability(
            "Run Away Draw",
            "Once during your turn, you may draw 3 cards. If you drew any, shuffle this Pokémon and all cards "
            "attached to it into your deck.",
            when=conditions.for_ability(conditions.deck_left),
            effect=(ops.draw(3), ops.shuffle_this_into_deck),
        ),
    ),
    attacks=(Attack("Land Crush", "CCC", damage="90", effect=(ops.damage(90),)),),
)


def _special_energy_on_this(state: State, frame: Frame) -> int:
    this = ops.source(state, frame)
    return 0 if this is None else sum(CARDS[card].kind is Kind.SPECIAL_ENERGY for card in this.energy)


pokemon(
    "TEF-137",
    "Cinccino",
    "Stage 1",
    evolves_from="Minccino",
    hp=110,
    types="C",
    weakness="F",
    retreat=1,
    attacks=(
        Attack("Gentle Slap", "C", damage="30", effect=(ops.damage(30),)),
        Attack(
            "Special Roll",
            "CC",
            damage="70×",
            text="70 damage for each Special Energy card attached to this Pokémon.",
            effect=(ops.damage(lambda state, frame: 70 * _special_energy_on_this(state, frame)),),
        ),
    ),
)


def _basic_with_70_hp_or_less(card: Card) -> bool:
    return card.is_basic and card.hp <= 70


item(
    "TEF-144",
    "Buddy-Buddy Poffin",
    "Search your deck for up to 2 Basic Pokémon with 70 HP or less, put them onto your Bench and shuffle your deck.",
    playable=conditions.all_of(conditions.deck_left, conditions.room_on_bench),
    effect=(ops.search_deck(_basic_with_70_hp_or_less, conditions.space(2)), ops.deck_to_bench, ops.shuffle_deck),
)


def _choose_uppermost(state: State, frame: Frame) -> None:
    """Of two different cards, choose which one lies on top; ``memo`` keeps both."""
    frame.memo = frame.picks
    if len(set(frame.picks)) > 1:
        prompts.ask_cards(state, frame, frame.seat, frame.picks, "Choose the card to put on top, above the other", 1, 1)


def _put_on_top(state: State, frame: Frame) -> None:
    uppermost = frame.picks[-1:]
    others = list(frame.memo)
    for card in uppermost:
        others.remove(card)
    frame.memo = ()
    moves.picks_to_top(state, frame.seat, (*others, *uppermost))


supporter(
    "TEF-145",
    "Ciphermaniac's Codebreaking",
    "Search your deck for 2 cards (1 if there is only 1), shuffle your deck and put those cards on top of it in any "
    "order.",
    playable=conditions.deck_left,
    effect=(
        ops.search_deck(conditions.any_card, up_to=2, at_least=2, question="Choose 2 cards to put on top of your deck"),
        _choose_uppermost,
        _put_on_top,
    ),
)


def _benched_and_not_knocked_out(state: State, seat: int, pokemon: Pokemon) -> bool:
    """A Benched Pokémon that the same attack has not Knocked Out too."""
    return conditions.is_benched(state, seat, pokemon) and modifiers.remaining_hp(state, pokemon) > 0


def _retreat_cost_four_and_active(state: State, frame: Frame) -> None:
    holder = ops.source(state, frame)
    player = state.players[frame.seat]
    works = (
        holder is not None
        and player.active is holder
        and modifiers.retreat_cost(state, holder) == 4
        and any(_benched_and_not_knocked_out(state, frame.seat, p) for p in player.bench)
    )
    if not works:
        ops.stop(state, frame)


def _choose_energy_to_move(state: State, frame: Frame) -> None:
    holder = ops.source(state, frame)
    if holder is not None:
        attached = [(holder.uid, card) for card in sorted(holder.energy) if CARDS[card].is_basic_energy]
        prompts.ask_attached(state, frame, frame.seat, attached, "Move up to 3 Basic Energy to your Bench", 1, 3)


def _only_the_cards(state: State, frame: Frame) -> None:
    frame.picks = tuple(card for _, card in frame.picks)


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
        ops.attach_picks(_benched_and_not_knocked_out, "pokemon"),
    ),
)

item(
    "TEF-153",
    "Master Ball",
    "Search your deck for a Pokémon, show it to your opponent, put it into your hand and shuffle your deck.",
    tags=("ACE SPEC",),
    playable=conditions.deck_left,
    effect=(
        ops.search_deck(conditions.a_pokemon, question="Choose a Pokémon"),
        ops.deck_to_hand(reveal=True),
        ops.shuffle_deck,
    ),
)


def _opponents_benched(state: State, frame: Frame) -> int:
    return len(state.players[1 - frame.seat].bench)


supporter(
    "TEF-155",
    "Morty's Conviction",
    "Discard another card from your hand to play this card. Draw a card for each of your opponent's Benched Pokémon.",
    playable=conditions.all_of(conditions.other_cards(1), conditions.opponent_has_bench, conditions.deck_left),
    effect=(ops.discard_cards(1), ops.draw(_opponents_benched)),
)

item(
    "TEF-157",
    "Prime Catcher",
    "Choose one of your opponent's Benched Pokémon and switch it with their Active Pokémon. If you do, switch"
    " your Active Pokémon with one of your Benched Pokémon.",
    tags=("ACE SPEC",),
    playable=conditions.opponent_has_bench,
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
