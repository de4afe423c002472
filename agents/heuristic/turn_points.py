"""Points of what a player may do in their turn between effects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agents.heuristic.reading import STRONG, Reading
from agents.heuristic.texts import Purpose, ability_of, best_potential, purpose, sought
from engine.ptcg import modifiers
from engine.ptcg.actions import ActionKind, PtcgAction
from engine.ptcg.card import CARDS, Attack, Card, Kind, Trigger
from engine.ptcg.observation import PtcgObservation, unseen_cards
from engine.ptcg.state import Pokemon

_SMALL_HAND = 5
_CARDS_COUNTED = 4
_COMFORTABLE_BENCH = 3
_HEAL_FROM = 3
"""Damage counters from which healing is worth a card."""
_LITTLE = 1e-6


class TurnPoints:
    """Points of the actions of one decision in the main part of a turn."""

    __slots__ = ("_attack_now", "_legal", "_paid", "_reading", "_uses")

    def __init__(self, reading: Reading, legal: Sequence[PtcgAction], uses: dict[str, int]) -> None:
        """``uses`` counts how often each Ability was used this turn, by the key of its action."""
        self._reading = reading
        self._legal = legal
        self._uses = uses
        self._attack_now: float | None = None
        self._paid: Reading | None = None

    def of(self, action: PtcgAction) -> float:
        """The points of one of the legal actions."""
        kind = action.kind
        if kind is ActionKind.ATTACK:
            return self._attack(action)
        if kind is ActionKind.ATTACH:
            return self._attach(action)
        if kind is ActionKind.PLAY:
            return self._play(CARDS[action.card])
        if kind is ActionKind.EVOLVE:
            return self._evolve(action)
        if kind is ActionKind.BENCH:
            return self._bench(CARDS[action.card])
        if kind is ActionKind.ABILITY:
            return self._ability(action)
        if kind is ActionKind.RETREAT:
            return self._retreat(action)
        if kind is ActionKind.STADIUM:
            return self._effect(purpose(CARDS[action.card].text), CARDS[action.card], own_card=False)
        return 0.0

    # --- attacking ---------------------------------------------------------------------------------------------------

    def _attack(self, action: PtcgAction) -> float:
        reading = self._reading
        active = reading.you.active
        assert active is not None
        card = CARDS[action.card]
        return reading.foresight.points(reading.observation, active, card, _attack_named(card, action.detail))

    @property
    def attack_now(self) -> float:
        """Points of the best attack that is legal now, 0 where none is."""
        if self._attack_now is None:
            attacks = [self._attack(action) for action in self._legal if action.kind is ActionKind.ATTACK]
            self._attack_now = max(attacks, default=0.0)
        return self._attack_now

    # --- the Active Spot ---------------------------------------------------------------------------------------------

    def _retreat(self, action: PtcgAction) -> float:
        reading = self._reading
        active = reading.you.active
        benched = reading.at(action.place)
        assert active is not None
        assert benched is not None
        w = reading.weights
        cost = modifiers.retreat_cost(reading.state, active)
        if not cost:
            return self._switch(active, benched) + w.retreat
        strength = 0.0 if reading.state.turn < 2 else self._after_paying(cost).best_attack(benched)
        return self._switch(active, benched, strength) + w.retreat + w.retreat_energy * cost

    def _after_paying(self, cost: int) -> Reading:
        """The position after the Energy for a retreat was discarded, for attacks that count or cost Energy in play."""
        if self._paid is None:
            reading = self._reading
            state = reading.state.clone()
            active = state.players[reading.seat].active
            assert active is not None
            while active.energy and cost > 0:
                cost -= len(CARDS[active.energy.pop()].provides)
            observation = PtcgObservation(reading.seat, state, (), 0)
            self._paid = Reading(observation, reading.weights, reading.foresight)
        return self._paid

    def _switch(self, active: Pokemon, benched: Pokemon, strength: float | None = None) -> float:
        """Points of having ``benched`` in the Active Spot for the rest of the turn; below 0 where it is no better.

        ``strength`` is what its best attack is worth, where that is known.
        """
        reading = self._reading
        w = reading.weights
        if strength is None:
            strength = reading.best_attack(benched) if reading.state.turn > 1 else 0.0
        better = strength - self.attack_now + reading.safety(benched) - reading.safety(active)
        if strength < 1.0 and self.attack_now < 1.0:
            better += (reading.attack_ahead(benched) - reading.attack_ahead(active)) / 2.0
        if better < w.stay:
            return w.useless
        return max(self.attack_now, 0.0) + better

    def _switching(self) -> float:
        """Points above ``develop`` of switching the Active Pokémon with the best one of the Bench."""
        reading = self._reading
        w = reading.weights
        active = reading.you.active
        if active is None:
            return w.useless - w.develop
        best = max([self._switch(active, benched) for benched in reading.you.bench], default=w.useless)
        return min(best - self.attack_now, w.knock_out) / 4.0 if best > 0.0 else w.useless - w.develop

    def _gust(self, use: Purpose) -> float:
        """Points of switching in one of the opponent's Benched Pokémon."""
        reading = self._reading
        w = reading.weights
        if reading.state.turn < 2 or reading.opponent.active is None:
            return w.useless
        attackers = list(reading.you.bench) if use.switch and reading.you.bench else []
        if not attackers and reading.you.active is not None and not reading.stuck():
            attackers = [reading.you.active]
        best = 0.0
        for target in reading.opponent.bench:
            for attacker in attackers:
                # Most Pokémon that cannot be Knocked Out are told apart without working anything out.
                if _beyond_reach(reading, attacker, target):
                    continue
                best = max(best, reading.best_attack(attacker, target))
        if best < w.knock_out or best <= self.attack_now + _LITTLE:
            return w.useless
        if best >= w.win:
            return best
        return w.develop + w.gust + best - max(self.attack_now, w.knock_out)

    # --- Pokémon -----------------------------------------------------------------------------------------------------

    def _evolve(self, action: PtcgAction) -> float:
        reading = self._reading
        w = reading.weights
        pokemon = reading.at(action.place)
        assert pokemon is not None
        card = CARDS[action.card]
        points = w.develop + w.evolve + w.evolve_ready * (len(pokemon.energy) + (action.place == 0))
        if action.place == 0 and self.attack_now >= w.knock_out:
            energy = modifiers.provided(pokemon)
            pays = any(
                not reading.missing(pokemon, attack, energy) and best_potential(card.index) for attack in card.attacks
            )
            if not pays:
                points += w.evolve_loses_knock_out
        return points

    def _bench(self, card: Card) -> float:
        reading = self._reading
        w = reading.weights
        size = len(reading.you.bench)
        points = w.develop + w.bench
        if not size:
            points += w.first_bench
        purposes = self._purposes(card)
        points += w.bench_purpose * purposes
        if size >= _COMFORTABLE_BENCH:
            points += w.bench_crowded * (size - _COMFORTABLE_BENCH + 1)
            if not purposes:
                return w.useless
        if size and purposes < 2:
            points += w.bench_liability * (card.prizes - 1)
        offered = card.triggered if card.trigger is Trigger.PLAYED_TO_BENCH else None
        # Its Ability works only now: not while what it would bring cannot be used.
        if size and offered is not None and purpose(offered.text).search and self._supporter_at_hand():
            return w.useless
        return points

    def _purposes(self, card: Card) -> int:
        reading = self._reading
        in_play = reading.names[card.name]
        purposes = 0
        later = reading.becomes(card.name)
        if later:
            purposes += in_play + sum([reading.names[other.name] for other in later]) < 2
        if reading.power(card.index) >= STRONG:
            purposes += in_play < 2
        if card.abilities:
            purposes += not in_play
        return purposes

    def _supporter_at_hand(self) -> bool:
        you = self._reading.you
        return you.supporter_used or any(CARDS[index].kind is Kind.SUPPORTER for index in self._reading.hand)

    # --- attaching ---------------------------------------------------------------------------------------------------

    def _attach(self, action: PtcgAction) -> float:
        reading = self._reading
        w = reading.weights
        pokemon = reading.at(action.place)
        assert pokemon is not None
        card = CARDS[action.card]
        if not card.is_energy:
            return self._attach_tool(card, pokemon, action.place)
        points = reading.attach_points(pokemon, action.place, card.provides, reading.state.turn > 1)
        switches = action.place > 0 and purpose(card.text).switch
        if switches and reading.you.active is not None:
            gained = self._switch(reading.you.active, pokemon)
            if gained > self.attack_now:
                return w.develop + w.attach + gained - self.attack_now
            if points is not None:
                points += w.attach_doomed
        if points is None:
            return w.useless
        return w.develop + w.attach + points

    def _attach_tool(self, card: Card, pokemon: Pokemon, place: int) -> float:
        reading = self._reading
        w = reading.weights
        state, seat = reading.state, reading.seat
        points = w.develop + w.tool
        for ability in card.activated:
            if ability.when is not None and not ability.when(state, seat, pokemon):
                return w.useless
            return points + w.ability_free
        if card.attacks:
            energy = modifiers.provided(pokemon)
            pays = any(not reading.missing(pokemon, attack, energy) for attack in card.attacks)
            if place or not pays or state.turn < 2 or self.attack_now >= w.attack:
                return w.useless
            return points
        hp = card.hooks.get("hp")
        if hp is not None and hp(state, pokemon) <= 0:
            return w.useless
        retreat = card.hooks.get("retreat")
        if retreat is not None and not modifiers.retreat_cost(state, pokemon):
            return w.useless
        strength = reading.power(pokemon.cards[-1]) / 100.0 + 0.5 * len(pokemon.energy)
        return points + min(strength, 3.0) + (1.0 if place == 0 else 0.0)

    # --- cards, Abilities, the Stadium -------------------------------------------------------------------------------

    def _play(self, card: Card) -> float:
        if card.kind is Kind.STADIUM:
            return self._stadium(card)
        points = self._effect(purpose(card.text), card, own_card=True)
        if card.kind is Kind.SUPPORTER and points < self._reading.weights.win:
            points += self._reading.weights.supporter
        return points

    def _stadium(self, card: Card) -> float:
        reading = self._reading
        w = reading.weights
        state, seat = reading.state, reading.seat
        points = w.develop + w.stadium
        if state.stadium >= 0:
            if state.stadium_owner == seat:
                return w.useless
            points += w.remove
        limit = card.hooks.get("bench_limit")
        if limit is not None:
            allowed = limit(state)
            surplus = len(reading.opponent.bench) - allowed
            points += 3.0 * max(surplus, 0) - 6.0 * max(len(reading.you.bench) - allowed, 0)
        silences = card.hooks.get("no_abilities")
        if silences is not None:
            for side, sign in ((seat, -6.0), (1 - seat, 3.0)):
                for pokemon in state.players[side].in_play():
                    for ability in CARDS[pokemon.cards[-1]].abilities:
                        points += sign * bool(silences(state, seat, side, pokemon, ability.name))
        return points if points >= w.develop else w.useless

    def _ability(self, action: PtcgAction) -> float:
        reading = self._reading
        w = reading.weights
        card = CARDS[action.card]
        ability = ability_of(card, action.detail)
        use = purpose(ability.text)
        pokemon = reading.at(action.place)
        assert pokemon is not None
        leaving = len(pokemon.cards) + len(pokemon.energy) + len(pokemon.tools) if use.leave else 0
        points = self._effect(use, card, own_card=False, leaving=leaving)
        if use.leave:
            if not reading.you.bench:
                return w.lose
            # Leaving the Active Spot costs what the Pokémon there could do.
            if action.place == 0 and self.attack_now >= w.attack:
                return w.useless
        if ability.ends_turn:
            # Nothing more can be done after it: instead of passing, not of attacking.
            return min(points - w.develop, w.attack / 2.0) if self.attack_now < w.attack else w.useless
        if points > 0.0:
            points += w.ability_free + w.repeat * self._uses.get(action.key, 0)
            if points < w.develop:
                return w.useless
        return points

    def _effect(self, use: Purpose, card: Card, own_card: bool, leaving: int = 0) -> float:
        """Points of a Trainer card, an Ability or a Stadium's effect by what its text is for.

        ``own_card`` says that the card itself leaves the hand, ``leaving`` how many cards leave play with its Pokémon.
        """
        reading = self._reading
        w = reading.weights
        you = reading.you
        points = 0.0
        understood = False
        if use.gust:
            understood = True
            points = self._gust(use)
            if use.switch and points < w.develop:
                points = self._switching() + w.develop
        if use.energy_cost and self._energy_spoken_for():
            return w.useless
        if use.hand_cost:
            cost = reading.cost_of_discard(use.hand_cost, card.index if own_card else -1)
            if use.search and cost > self._best_found(card):
                return w.useless
            points -= w.card_lost * cost
        if use.draws:
            understood = True
            points = max(points, 0.0) + self._drawing(use, own_card, leaving)
        if use.evolve:
            understood = True
            points += w.evolve_by_card
        if use.attach:
            understood = True
            points += w.accelerate if sum(reading.wanted.values()) else w.useless - w.develop
        elif use.onto_bench:
            understood = True
            size = len(you.bench)
            points += w.search_bench + (w.first_bench if not size else 0.0)
            points += w.bench_crowded * max(size - _COMFORTABLE_BENCH + 1, 0)
            if use.search and not self._basics_left():
                return w.useless
        elif use.search:
            understood = True
            points += w.search
            if reading.deck_spare() < 1.0:
                points += w.thin_deck
        elif use.from_discard:
            understood = True
            points += self._recovering(use)
        if use.move_damage:
            understood = True
            points += w.heal if any(pokemon.damage for pokemon in you.in_play()) else w.useless - w.develop
        elif use.switch and not use.gust:
            understood = True
            points += self._switching()
        elif use.heal:
            understood = True
            points += w.heal if any(p.damage >= _HEAL_FROM for p in you.in_play()) else w.useless - w.develop
        if use.pick_up:
            understood = True
            points += self._picking_up()
        if use.remove and not (use.search or use.draws):
            understood = True
            points += self._removing()
        if not understood:
            points += w.unknown_effect - (w.develop / 2.0 if use.leave else 0.0)
        if use.gust and not use.draws:
            return points
        if points <= w.useless:
            return points
        return w.develop + points

    def _energy_spoken_for(self) -> bool:
        """Whether the Energy in hand is to be attached or pays for an attack."""
        reading = self._reading
        if reading.fuel and reading.burning:
            return True
        return not reading.you.energy_used and len(reading.hand_energy) == 1 and bool(sum(reading.wanted.values()))

    def _drawing(self, use: Purpose, own_card: bool, leaving: int) -> float:
        """Points above ``develop`` for cards drawn."""
        reading = self._reading
        w = reading.weights
        you = reading.you
        held = len(you.hand) - own_card - use.hand_cost
        if use.draw_until:
            drawn = max(use.draw_until - held, 0)
        elif use.draw_for_prizes:
            drawn = len(you.prizes)
        else:
            drawn = use.draw
        drawn = min(drawn, len(you.deck)) if not use.hand_gone else drawn
        returned = 0
        if use.into_deck:
            returned = held if use.hand_gone else leaving
        spare = reading.deck_spare()
        if returned >= drawn and spare < 0.0:
            return w.refill
        points = w.thin_deck if drawn > returned and drawn - returned > spare else 0.0
        if use.disrupt:
            lost = len(reading.opponent.hand) - (len(reading.opponent.prizes) if use.draw_for_prizes else drawn)
            points += w.disrupt * lost
        gained = drawn - held if use.hand_gone else drawn
        if use.hand_gone:
            # Cards that can still be played come first, and a good hand is kept.
            points -= w.card_lost * reading.hand_value() / 2.0
        if gained <= 0:
            return points + w.useless - w.develop if points <= 0.0 else points - 2.0
        return points + w.card_gained * min(gained, _CARDS_COUNTED) + (1.0 if held < _SMALL_HAND else 0.0)

    def _recovering(self, use: Purpose) -> float:
        """Points above ``develop`` for cards that come back from the discard pile."""
        reading = self._reading
        w = reading.weights
        if use.into_deck and reading.deck_spare() < 0.0:
            return w.refill
        needs = [
            reading.need(index, reading.hand[index] + others)
            for index, count in Counter(reading.you.discard).items()
            for others in range(count)
        ]
        wanted = [need for need in needs if need >= w.need_spare_energy + _LITTLE]
        enough = 1 + use.hand_cost + (use.into_deck or bool(reading.hand_energy and use.several))
        if len(wanted) >= enough:
            return w.recover + max(wanted) / 4.0
        return w.useless - w.develop

    def _picking_up(self) -> float:
        """Points above ``develop`` for taking up a Pokémon that stands in the way or is about to give up Prizes."""
        reading = self._reading
        w = reading.weights
        active = reading.you.active
        if active is None or not reading.you.bench:
            return w.useless - w.develop
        if reading.stands_in_the_way() and len(active.energy) < 2:
            return w.heal
        if self.attack_now >= w.attack:
            return w.useless - w.develop
        left = modifiers.remaining_hp(reading.state, active)
        hurt = 2 * left <= modifiers.max_hp(reading.state, active)
        if hurt and reading.threat(active) >= left and CARDS[active.cards[-1]].prizes > 1:
            return w.heal
        return w.useless - w.develop

    def _removing(self) -> float:
        reading = self._reading
        w = reading.weights
        state = reading.state
        theirs = state.stadium >= 0 and state.stadium_owner != reading.seat
        if theirs or any(pokemon.tools for pokemon in reading.opponent.in_play()):
            return w.remove
        return w.useless - w.develop

    def _best_found(self, card: Card) -> float:
        """The need of the best card that a search may find, as far as the text of ``card`` restricts it."""
        reading = self._reading
        found = sought(card.text)
        needs = [
            reading.need(index, reading.hand[index])
            for index in set(unseen_cards(reading.state, reading.seat))
            if found is None or CARDS[index].kind in found
        ]
        return max(needs, default=0.0)

    def _basics_left(self) -> bool:
        """Whether the deck may still hold a Basic Pokémon."""
        reading = self._reading
        return any(CARDS[index].is_basic for index in unseen_cards(reading.state, reading.seat))


def _attack_named(card: Card, name: str) -> Attack:
    return next(attack for attack in card.attacks if attack.name == name)


def _beyond_reach(reading: Reading, attacker: Pokemon, target: Pokemon) -> bool:
    """Whether even twice the strongest printed attack leaves ``target`` standing."""
    return 2 * best_potential(attacker.cards[-1]) + STRONG < modifiers.remaining_hp(reading.state, target)
