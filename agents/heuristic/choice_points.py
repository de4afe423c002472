"""Points of the answers to a selection prompt.

What a prompt is for shows in what is offered (cards, Pokémon, attached cards, numbers, options), whose it is, and a few
words of its question. 0 points is the answer that nothing more is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.heuristic.reading import Reading
from agents.heuristic.texts import best_potential, potential, purpose
from agents.heuristic.weights import Weights
from engine.ptcg import modifiers
from engine.ptcg.actions import DONE, OPPONENT, STADIUM_PLACE, PtcgAction, is_complete, prompt_actions
from engine.ptcg.card import CARDS, Attack, Card, Trigger
from engine.ptcg.state import ATTACHED_KIND, CARDS_KIND, NUMBER_KIND, POKEMON_KIND, Pokemon, Prompt

_GIVES_UP = re.compile(r"discard|lost zone|bottom of your deck|from your hand|for the cost", re.IGNORECASE)
_FROM_PILE = re.compile(r"discard pile", re.IGNORECASE)
_MOVES = re.compile(r"\bmove\b", re.IGNORECASE)
_ACTIVE = re.compile(r"\bactive\b|switch", re.IGNORECASE)
_ATTACHES = re.compile(r"\battach", re.IGNORECASE)
_EVOLVES = re.compile(r"\bevol", re.IGNORECASE)
_LEAVES = re.compile(r"discard|into your hand|shuffle|lost zone", re.IGNORECASE)
_COUNTERS = re.compile(r"damage counter|\bheal", re.IGNORECASE)
_DRAWS = re.compile(r"\bdraw", re.IGNORECASE)
_STADIUM = re.compile(r"discard the stadium", re.IGNORECASE)
_COSTLY = re.compile(r"any amount|any number", re.IGNORECASE)
_NOT_NOW = -20.0
_MANY = 3


class ChoicePoints:
    """Points of the answers of one decision."""

    __slots__ = ("_attack", "_prompt", "_reading", "_weights")

    def __init__(self, reading: Reading, prompt: Prompt) -> None:
        self._reading = reading
        self._weights: Weights = reading.weights
        self._prompt = prompt
        self._attack = self._attack_going_on()

    def all(self, legal: Sequence[PtcgAction]) -> list[float]:
        """The points of each legal answer."""
        kind = self._prompt.kind
        if kind == CARDS_KIND:
            return self._cards(legal)
        if kind == POKEMON_KIND:
            return [0.0 if action is DONE else self._pokemon(action) for action in legal]
        if self._prompt.minimum_total:
            return self._payments()
        if kind == ATTACHED_KIND:
            return [0.0 if action is DONE else self._attached(action) for action in legal]
        if kind == NUMBER_KIND:
            return self._numbers(legal)
        return [self._option(action) for action in legal]

    def _attack_going_on(self) -> tuple[Card, Attack] | None:
        """The attack that the prompt belongs to, where it belongs to one."""
        stack = self._reading.state.stack
        if not stack or self._prompt.source < 0:
            return None
        card = CARDS[self._prompt.source]
        for attack in card.attacks:
            if attack.program.number == stack[-1].program:
                return card, attack
        return None

    # --- cards -------------------------------------------------------------------------------------------------------

    def _cards(self, legal: Sequence[PtcgAction]) -> list[float]:
        prompt, reading = self._prompt, self._reading
        if reading.state.turn == 0:
            active = reading.you.active is None
            return [
                0.0 if action is DONE else self._first_active(action.card) if active else self._first_bench(action.card)
                for action in legal
            ]
        question = prompt.question
        held = reading.hand
        in_hand = all(held[item] >= count for item, count in zip(prompt.items, prompt.counts, strict=True))
        if in_hand and _GIVES_UP.search(question) and not _FROM_PILE.search(question):
            return self._given_up(legal)
        attaches = _ATTACHES.search(question) is not None
        source = purpose(CARDS[prompt.source].text) if prompt.source >= 0 else None
        onto_bench = source is not None and source.onto_bench
        points: list[float] = []
        for action in legal:
            if action is DONE:
                points.append(0.0)
                continue
            points.append(self._taken(action.card, attaches, onto_bench))
        return points

    def _taken(self, index: int, attaches: bool, onto_bench: bool) -> float:
        """Points of a card that comes to hand, onto the Bench or back into the deck: how much it is needed."""
        reading, w = self._reading, self._weights
        card = CARDS[index]
        if attaches and card.is_energy:
            return w.accelerate + reading.need(index, 0) / 4.0
        if not card.is_pokemon and not card.is_energy and _in_lost_zone(self._prompt.question):
            return self._paid_for_damage()
        others = sum([CARDS[self._prompt.items[place]].name == card.name for place in self._prompt.picks])
        if not onto_bench:
            others += reading.hand[index]
        need = reading.need(index, others)
        if onto_bench and len(reading.you.bench) + len(self._prompt.picks) >= _MANY:
            # Free places on the Bench are kept for what is needed.
            need -= w.keep + 1.0
        return need + 0.5

    def _given_up(self, legal: Sequence[PtcgAction]) -> list[float]:
        """Cards of the hand that are lost: what is needed least goes first."""
        prompt, reading, w = self._prompt, self._reading, self._weights
        points: list[float] = []
        for_damage = self._attack is not None and prompt.least == 0
        for action in legal:
            if action is DONE:
                points.append(0.0)
                continue
            place = prompt.items.index(action.card)
            left = reading.hand[action.card] - prompt.picks.count(place)
            need = reading.need(action.card, left - 1)
            points.append(self._paid_for_damage() - need / 4.0 if for_damage else w.keep - need)
        return points

    def _first_active(self, index: int) -> float:
        """The Pokémon to begin with: tough, quick to retreat, and none that is needed on the Bench to evolve."""
        card = CARDS[index]
        points = card.hp / 60.0 - 0.8 * card.retreat - 0.7 * (card.prizes - 1)
        cheapest = min([len(attack.cost) for attack in card.attacks], default=4)
        points += max(2.0 - cheapest, 0.0) + min(self._reading.power(index) / 100.0, 2.0)
        if card.trigger is Trigger.PLAYED_TO_BENCH:
            points -= 3.0
        copies = self._reading.hand[index]
        if self._reading.becomes(card.name) and copies == 1:
            points -= 1.0
        if any(ability.hooks for ability in card.abilities):
            points -= 1.0
        return points

    def _first_bench(self, index: int) -> float:
        reading, w = self._reading, self._weights
        card = CARDS[index]
        if card.trigger is Trigger.PLAYED_TO_BENCH and len(reading.you.hand) > 1:
            return -w.bench
        size = len(reading.you.bench) + len(self._prompt.picks)
        return w.bench + w.bench_liability / 2.0 * (card.prizes - 1) + w.bench_crowded * max(size - 2, 0)

    # --- Pokémon in play ---------------------------------------------------------------------------------------------

    def _pokemon(self, action: PtcgAction) -> float:
        reading, w = self._reading, self._weights
        if action.place >= OPPONENT:
            pokemon = reading.at(action.place)
            assert pokemon is not None
            return self._opponents(pokemon, action.place)
        pokemon = reading.at(action.place)
        assert pokemon is not None
        question = self._prompt.question
        if _ATTACHES.search(question):
            return self._receives(pokemon, action.place)
        if _ACTIVE.search(question):
            return reading.attack_ahead(pokemon) + reading.safety(pokemon)
        if _EVOLVES.search(question):
            return 2.0 * len(pokemon.energy) + 1.0 * (action.place == 0) + pokemon.damage / 5.0
        if _COUNTERS.search(question):
            return 1.0 + pokemon.damage / 2.0
        if _LEAVES.search(question):
            left = modifiers.remaining_hp(reading.state, pokemon)
            if action.place == 0 and reading.stands_in_the_way():
                return w.accelerate
            doomed = action.place == 0 and reading.threat(pokemon) >= left
            return 5.0 * doomed * CARDS[pokemon.cards[-1]].prizes - reading.worth(pokemon)
        return reading.worth(pokemon)

    def _receives(self, pokemon: Pokemon, place: int) -> float:
        """Points of an own Pokémon as the one to attach the Energy in question to."""
        reading, w = self._reading, self._weights
        provides = self._energy_in_question()
        already = self._prompt.picks.count(self._prompt.items.index(pokemon.uid))
        in_turn = reading.state.to_move == reading.seat and self._attack is None
        points = reading.attach_points(pokemon, place, provides * (already + 1), in_turn and reading.state.turn > 1)
        if already and not self._still_missing(pokemon, provides * already):
            points = None
        harmful = self._prompt.source >= 0 and _hurts(CARDS[self._prompt.source])
        left = modifiers.remaining_hp(reading.state, pokemon)
        if harmful and left <= 20:
            return _NOT_NOW
        if points is None:
            return w.useless / 2.0 + 0.1 * min(reading.power(pokemon.cards[-1]) / 100.0, 2.0)
        return points + 2.0 - (0.5 if harmful and left <= 60 else 0.0)

    def _still_missing(self, pokemon: Pokemon, more: str) -> bool:
        reading = self._reading
        energy = modifiers.provided(pokemon) + more
        card = CARDS[pokemon.cards[-1]]
        attacks = [*card.attacks, *[attack for later in reading.becomes(card.name) for attack in later.attacks]]
        return any(reading.missing(pokemon, attack, energy) for attack in attacks if potential(attack))

    def _energy_in_question(self) -> str:
        """The type letters of the Energy card that is being attached, as far as the effect tells."""
        frame = self._reading.state.stack[-1] if self._reading.state.stack else None
        cards = [] if frame is None else [*frame.picks, *frame.memo]
        for value in cards:
            for card in value if isinstance(value, tuple) else (value,):
                if isinstance(card, int) and 0 <= card < len(CARDS) and CARDS[card].is_energy:
                    return CARDS[card].provides
        deck = [CARDS[card] for card in self._reading.state.deck_lists[self._reading.seat] if CARDS[card].is_energy]
        return deck[0].provides if deck else "C"

    def _opponents(self, pokemon: Pokemon, place: int) -> float:
        """Points of an opponent's Pokémon as the one to be switched in or damaged."""
        reading, w = self._reading, self._weights
        left = modifiers.remaining_hp(reading.state, pokemon)
        prizes = modifiers.prizes_for(reading.state, pokemon, True)
        if self._prompt.source >= 0 and self._attack is None and _ACTIVE.search(self._prompt.question):
            attackers = [reading.you.active] if reading.you.active is not None else []
            if purpose(CARDS[self._prompt.source].text).switch and reading.you.bench:
                attackers = list(reading.you.bench)
            best = max([reading.best_attack(attacker, pokemon) for attacker in attackers], default=0.0)
            heavy = modifiers.retreat_cost(reading.state, pokemon) - len(pokemon.energy)
            return best + 0.5 * heavy
        damage = potential(self._attack[1]) if self._attack is not None else 30
        if damage >= left:
            return w.knock_out / 3.0 + w.prize * prizes - left / 1000.0
        return (
            5.0 * damage / max(left, 1)
            + prizes
            + 0.5 * len(pokemon.energy)
            + (1.0 if place == OPPONENT else 0.0)
            + best_potential(pokemon.cards[-1]) / 200.0
        )

    # --- attached cards ----------------------------------------------------------------------------------------------

    def _attached(self, action: PtcgAction) -> float:
        reading, w = self._reading, self._weights
        if action.place == STADIUM_PLACE:
            return w.remove + 2.0 if reading.state.stadium_owner != reading.seat else w.useless
        if action.place >= OPPONENT:
            holder = reading.at(action.place)
            assert holder is not None
            points = 4.0 + len(holder.energy) + 2.0 * (action.place == OPPONENT)
            return points + best_potential(holder.cards[-1]) / 100.0
        if _MOVES.search(self._prompt.question):
            return w.accelerate
        holder = reading.at(action.place)
        assert holder is not None
        if self._prompt.least == 0 and self._attack is not None and _COSTLY.search(self._prompt.question):
            return self._paid_for_damage() - self._missed(action.card, holder) / 2.0
        return w.keep - self._missed(action.card, holder)

    def _payments(self) -> list[float]:
        """Points of what pays next: the less is missed of all that is paid in the end, the more."""
        _, places = prompt_actions(self._reading.state, self._prompt)
        return [self._weights.keep - self._price(self._prompt, place) for place in places]

    def _price(self, prompt: Prompt, place: int) -> float:
        """How much is missed of the cheapest payment that goes on with the item at ``place`` (−1: with no more)."""
        if place < 0:
            return 0.0
        uid, card = prompt.items[place]
        holder = self._reading.state.find(uid)
        assert holder is not None
        price = self._missed(card, holder)
        picked = prompt.with_pick(place)
        if is_complete(picked):
            return price
        return price + min(self._price(picked, after) for after in prompt_actions(self._reading.state, picked)[1])

    def _missed(self, index: int, holder: Pokemon) -> float:
        """How much an attached card is missed where it is taken off its Pokémon."""
        reading = self._reading
        card = CARDS[index]
        if not card.is_energy:
            return self._weights.need_other_card
        energy = modifiers.provided(holder)
        rest = energy
        for letter in card.provides:
            rest = rest.replace(letter, "", 1)
        lost = 0.0
        for attack in CARDS[holder.cards[-1]].attacks:
            if not reading.missing(holder, attack, energy) and reading.missing(holder, attack, rest):
                lost = max(lost, 1.0 + potential(attack) / 50.0)
        return 1.0 + lost + 0.5 * (len(card.provides) - 1) + 0.3 * (not card.is_basic_energy)

    def _paid_for_damage(self) -> float:
        """Points of paying once more for an attack that does its printed damage for each card paid.

        As much is paid as a Knock Out needs.
        """
        reading, w = self._reading, self._weights
        target = reading.opponent.active
        active = reading.you.active
        if self._attack is None or target is None or active is None:
            return w.useless
        digits = re.match(r"\d+", self._attack[1].damage)
        each = int(digits[0]) if digits else 10
        paid = len(self._prompt.picks)
        fixed = each if self._attack[1].damage.endswith("+") else 0
        left = modifiers.remaining_hp(reading.state, target)
        blow = modifiers.Blow(reading.seat, active, 1 - reading.seat, target)
        if modifiers.damage_dealt(reading.state, blow, fixed + each * paid) >= left:
            return w.useless
        most = min(sum(self._prompt.counts), self._prompt.most)
        within_reach = modifiers.damage_dealt(reading.state, blow, fixed + each * most) >= left
        return w.knock_out / 2.0 if within_reach else w.keep

    # --- numbers, options, yes and no --------------------------------------------------------------------------------

    def _numbers(self, legal: Sequence[PtcgAction]) -> list[float]:
        w = self._weights
        step = w.more
        if _DRAWS.search(self._prompt.question) and self._reading.deck_spare() <= len(legal):
            step = -w.more
        return [0.0 if action is DONE else step * place for place, action in enumerate(legal)]

    def _option(self, action: PtcgAction) -> float:
        reading, w = self._reading, self._weights
        text = action.detail
        if text == "yes":
            state = reading.state
            if _STADIUM.search(self._prompt.question):
                return w.yes if state.stadium_owner != reading.seat else -w.yes
            if self._draws_too_much():
                return -w.yes
            return w.yes
        if text == "go first":
            return w.go_first
        opposite = reading.opponent.active
        if opposite is not None and opposite.cards[-1] >= 0:
            active = reading.you.active
            for attack in CARDS[opposite.cards[-1]].attacks:
                if attack.name == text and active is not None:
                    return reading.foresight.points(reading.observation, active, CARDS[opposite.cards[-1]], attack)
        use = purpose(text)
        if use.gust:
            active = reading.you.active
            targets = reading.opponent.bench
            best = max([reading.best_attack(active, target) for target in targets], default=0.0) if active else 0.0
            return w.accelerate if best >= w.knock_out else 0.0
        if use.draws:
            return -w.yes if self._draws_too_much() else w.card_gained * 2.0
        return 0.0

    def _draws_too_much(self) -> bool:
        """Whether the effect in question draws and the deck is nearly used up."""
        if self._prompt.source < 0:
            return False
        card = CARDS[self._prompt.source]
        texts = [card.text, *[ability.text for ability in card.abilities]]
        draws = any(purpose(text).draws for text in texts)
        return draws and self._reading.deck_spare() < 1.0


def _in_lost_zone(question: str) -> bool:
    return "lost zone" in question.lower()


def _hurts(card: Card) -> bool:
    """Whether what is attached by an Ability of ``card`` costs the Pokémon damage counters."""
    return any("damage counters on" in ability.text for ability in card.abilities)
