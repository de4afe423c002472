"""151."""

from engine.ptcg import conditions, moves, ops, prompts
from engine.ptcg.card import CARDS, Ability, Attack, pokemon, tool
from engine.ptcg.modifiers import Blow
from engine.ptcg.state import Frame, Pokemon, State

pokemon(
    "MEW-16",
    "Pidgey",
    "Basic",
    hp=50,
    types="C",
    weakness="L",
    resistance="F",
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
        Attack("Tackle", "CC", damage="20", effect=(ops.damage(20),)),
    ),
)

pokemon(
    "MEW-123",
    "Scyther",
    "Basic",
    hp=70,
    types="G",
    weakness="R",
    retreat=0,
    attacks=(
        Attack(
            "Helpful Slash",
            "G",
            damage="20",
            text="Attach a Basic Grass Energy card from your discard pile to one of your Benched Pokémon.",
            effect=(
                ops.damage(20),
                ops.only_with_bench,
                ops.choose_from_discard(
                    conditions.basic_energy("G"), 1, question="Choose a Basic Grass Energy to attach"
                ),
                ops.remember_picks,
                ops.choose_benched("Attach it to which Pokémon"),
                ops.attach_all_to_picked("discard"),
            ),
        ),
        Attack("Slicing Blade", "GCC", damage="70", effect=(ops.damage(70),)),
    ),
)


def _fewer_than_three_in_hand(state: State, seat: int, holder: Pokemon) -> bool:
    player = state.players[seat]
    return len(player.hand) < 3 and bool(player.deck)


def _choose_opponents_attack(state: State, frame: Frame) -> None:
    opposite = state.players[1 - frame.seat].active
    # Copying a Genome Hacking would only come back to the same choice, without end.
    attacks = () if opposite is None else CARDS[opposite.cards[-1]].attacks
    names = tuple(attack.name for attack in attacks if attack.name != "Genome Hacking")
    if names:
        prompts.ask_option(state, frame, frame.seat, "Choose an attack of your opponent's Active Pokémon", names)
    else:
        ops.stop(state, frame)


def _use_chosen_attack(state: State, frame: Frame) -> None:
    opposite = state.players[1 - frame.seat].active
    if opposite is not None:
        for attack in CARDS[opposite.cards[-1]].attacks:
            if attack.name == frame.picks[0]:
                this = ops.source(state, frame)
                if this is not None:
                    state.log.append(("attack", frame.seat, this.cards[-1], attack.name))
                moves.start(state, attack.program, frame.seat, frame.uid, frame.card)


pokemon(
    "MEW-151",
    "Mew ex",
    "Basic",
    hp=180,
    types="P",
    weakness="D",
    resistance="F",
    retreat=0,
    tags=("ex",),
    prizes=2,
    abilities=(
        Ability(
            "Restart",
            "Once during your turn, you may draw cards until you have 3 cards in your hand.",
            when=_fewer_than_three_in_hand,
            effect=(ops.draw_until(3),),
        ),
    ),
    attacks=(
        Attack(
            "Genome Hacking",
            "CCC",
            text="Choose an attack of your opponent's Active Pokémon other than Genome Hacking and use it as this "
            "attack.",
            effect=(_choose_opponents_attack, _use_chosen_attack),
        ),
    ),
)


def _less_damage_to_stage_1(state: State, blow: Blow, holder: Pokemon) -> int:
    return -30 if blow.seat != blow.target_seat and CARDS[holder.cards[-1]].stage_name == "Stage 1" else 0


tool(
    "MEW-165",
    "Rigid Band",
    "The Stage 1 Pokémon this is attached to takes 30 less damage from attacks of your opponent's Pokémon, after "
    "Weakness and Resistance. On any other Pokémon it does nothing.",
    hooks={"damage_taken": _less_damage_to_stage_1},
)
