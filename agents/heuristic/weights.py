"""The one table of weights.

Every legal action gets points, and is chosen with a probability proportional to e^(points / temperature): 3 points more
are 20 times the odds at temperature 1. Passing has 0 points, so what has fewer is done only where it is forced or by a
rare slip. Development that is worth doing has more points than any attack that does not win at once, because an attack
ends the turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from math import isfinite
from typing import Any


@dataclass(frozen=True, slots=True)
class Weights:
    """Points by what an action is for; ``of`` takes changes from a plain mapping."""

    # --- attacking: between 0 and about 45, below development ---
    win: float = 200.0
    """An action that wins the game now leaves no room for anything else."""
    lose: float = -200.0
    """What leaves the player without a Pokémon loses the game."""
    knock_out: float = 28.0
    """A Knock Out is what a turn is for; nothing that can only damage comes near."""
    prize: float = 5.0
    """For each Prize that a Knock Out gives: the bigger one first."""
    attack: float = 10.0
    """An attack that does damage, however little: far above passing."""
    damage: float = 16.0
    """For the share of the target's remaining HP that an attack takes; less than a Knock Out even near 1."""
    bench_damage: float = 4.0
    """For each 100 damage elsewhere than in the Active Spot."""
    attack_without_damage: float = 2.0
    """An attack for its effect only, before what it gains."""
    gain: float = 3.0
    """For each card, Energy, Benched Pokémon or Special Condition that an attack brings, up to four."""
    spent: float = 0.7
    """For each Energy an attack costs its player, and each 50 damage it does to them."""
    confused: float = -4.0
    """An attack of a Confused Pokémon may fail."""

    # --- development: above attacks where it is worth doing ---
    develop: float = 50.0
    """Where worthwhile plays begin; what follows is added to it."""
    evolve: float = 14.0
    """Evolving costs nothing and is nearly always right, so it comes first."""
    evolve_ready: float = 1.0
    """For each Energy on the Pokémon that evolves, and for being Active: the one that fights first."""
    evolve_loses_knock_out: float = -60.0
    """Not when the Pokémon could take a Knock Out now and its Evolution could not."""
    first_bench: float = 12.0
    """With an empty Bench the next Knock Out loses the game."""
    bench: float = 4.0
    """Pokémon on the Bench are attackers and Evolutions to come …"""
    bench_crowded: float = -4.0
    """… up to a point: for each beyond the third. Every one is also a target."""
    bench_purpose: float = 2.5
    """For a Basic Pokémon that evolves into something in the deck, fights well or has an Ability not yet in play."""
    bench_liability: float = -3.0
    """For each Prize beyond the first that a Pokémon without such a purpose gives up."""
    ability_free: float = 8.0
    """An Ability costs no card: before cards that do the same."""
    repeat: float = -2.5
    """For each time the same Ability was used this turn, so that what may be repeated comes to an end."""
    card_gained: float = 1.0
    """For each card more in hand, up to four."""
    search: float = 4.0
    """Searching the deck finds what is missing, and before drawing thins it."""
    search_bench: float = 3.0
    """The same, onto the Bench."""
    accelerate: float = 6.0
    """Energy beyond the one attachment a turn decides races."""
    evolve_by_card: float = 12.0
    """An Item that evolves is as good as evolving."""
    recover: float = 1.0
    """Taking back from the discard pile what is needed."""
    refill: float = 5.0
    """Cards that go back into a deck that has few left."""
    heal: float = 2.0
    """Healing a damaged Pokémon."""
    remove: float = 1.0
    """Taking away the opponent's Tools or Stadium."""
    unknown_effect: float = 1.0
    """An effect that none of the readings above understands is played, after what is understood."""
    disrupt: float = 0.5
    """For each card that the opponent's hand loses."""
    card_lost: float = 0.7
    """For each point of need (see below) of the cards that a cost takes from the hand."""
    supporter: float = -1.0
    """A Supporter is the only one of the turn: look at the other cards first."""
    tool: float = 1.0
    """A Tool on the Pokémon that fights."""
    stadium: float = 0.5
    """A Stadium of one's own, best in place of the opponent's."""
    useless: float = -12.0
    """What would do nothing, or nothing good: less than passing."""
    thin_deck: float = -60.0
    """Taking cards from a deck that has few left ends in losing by it."""
    thin_deck_cards: float = 12.0
    """How many cards the deck should keep …"""
    thin_deck_prize: float = 1.0
    """… and for each Prize that is still to be taken, as that takes a turn or so."""

    # --- Energy ---
    attach: float = 2.0
    """Attaching where it brings an attack nearer."""
    attach_power: float = 6.0
    """For the best attack that it brings nearer, its damage as a share of 200."""
    attach_missing: float = -1.3
    """For each Energy that this attack still misses afterwards: the one that is ready soonest first."""
    attach_enables: float = 6.0
    """When it lets the Active Pokémon use a better attack now."""
    attach_active: float = 1.0
    """The Active Pokémon needs it before the Bench does …"""
    attach_doomed: float = -4.0
    """… unless it is about to be Knocked Out without having attacked."""
    attach_to_retreat: float = 5.0
    """When it pays for the retreat of an Active Pokémon that only stands in the way."""
    attach_fuel: float = -60.0
    """Not onto just any Pokémon while an own attack is paid with Energy of the hand."""
    attach_later: float = 0.6
    """An attack of an Evolution that is still to come counts for this share."""

    # --- who stands in the Active Spot ---
    gust: float = 2.0
    """Switching in a Benched Pokémon of the opponent for a better Knock Out, before what the Prizes add."""
    danger: float = -2.0
    """For each Prize of an Active Pokémon that the opponent can Knock Out next turn."""
    toughness: float = 1.0
    """For each 100 HP remaining of the Active Pokémon."""
    ready_next_turn: float = 0.6
    """A new Active Pokémon that misses one Energy counts with this share of its attack."""
    ready_later: float = 0.2
    """One that misses more, with this share."""
    retreat: float = -1.0
    """Retreating is done once a turn and costs …"""
    retreat_energy: float = -0.8
    """… for each Energy."""
    stay: float = 2.0
    """How much better the new Active Pokémon has to be."""
    in_the_way: float = 5.0
    """How much stronger an attack on the Bench has to be for the Active Pokémon to stand in its way."""

    # --- need of a card: what is kept, looked for, thrown away; 0 to about 10 ---
    need_evolution: float = 8.0
    """An Evolution of a Pokémon in play."""
    need_later_evolution: float = 3.0
    """An Evolution of a Pokémon that is still to come."""
    need_basic: float = 5.5
    """A Basic Pokémon that evolves into something in the deck or fights well."""
    need_other_basic: float = 2.5
    """Any other Basic Pokémon."""
    need_thin_bench: float = 3.5
    """For any Basic Pokémon while fewer than two are in play besides the Active one."""
    need_energy: float = 6.0
    """An Energy of a type that a Pokémon in play misses."""
    need_spare_energy: float = 2.0
    """An Energy more than are missed."""
    need_supporter: float = 5.5
    """A Supporter for the next turn."""
    need_evolving_item: float = 6.5
    """An Item that evolves, where there is something to evolve."""
    need_search_item: float = 4.5
    """An Item that searches the deck or attaches Energy."""
    need_gust: float = 4.5
    """What switches in the opponent's Benched Pokémon wins the last Prizes."""
    need_other_card: float = 2.5
    """Any other Trainer card."""
    need_second_copy: float = -2.5
    """For each other copy, or other card for the same purpose, that is kept."""
    keep: float = 3.0
    """Where a discard is optional, what is needed less than this goes."""

    # --- answers ---
    go_first: float = 1.0
    """Going first: an Energy and an Evolution ahead, though the first turn has no attack."""
    yes: float = 6.0
    """What a card says one may do is mostly for one's good."""
    more: float = 2.0
    """For each step of a number: more is mostly better."""

    @classmethod
    def of(cls, changes: Mapping[str, Any]) -> Weights:
        """The table with ``changes`` (name to number); raises ``ValueError`` for an unknown name or no number."""
        known = [field.name for field in fields(cls)]
        for name, value in changes.items():
            if name not in known:
                like = get_close_matches(str(name), known, 3) or known
                raise ValueError(f"heuristic agent: there is no weight {name!r}; there is {', '.join(like)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise ValueError(f"heuristic agent: weight {name} is {value!r}; a number is wanted")
        return cls(**{name: float(value) for name, value in changes.items()})
