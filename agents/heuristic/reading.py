"""What the position asks for: how ready Pokémon are, who is in danger, which cards are needed."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from agents.heuristic.attacks import Foresight
from agents.heuristic.texts import burns_hand, potential, purpose
from agents.heuristic.weights import Weights
from engine.ptcg import modifiers
from engine.ptcg.card import CARDS, Attack, Card, Kind
from engine.ptcg.modifiers import CANNOT_ATTACK, CANNOT_USE_ATTACK
from engine.ptcg.observation import UNKNOWN, PtcgObservation
from engine.ptcg.state import ASLEEP, PARALYZED, Player, Pokemon, State

STRONG = 100
"""An attack that does so much makes a Pokémon an attacker."""
_GOOD_ATTACK = 200.0
_FEW_IN_PLAY = 3
_FUEL_WANTED = 4
_LINES_WANTED = 2
"""How many Pokémon of one line of Evolutions are wanted in play."""


@lru_cache(maxsize=64)
def evolutions(deck_list: tuple[int, ...]) -> dict[str, tuple[Card, ...]]:
    """By name of a Pokémon: the cards of ``deck_list`` that it may become, by one Evolution or by several."""
    found: dict[str, list[Card]] = {}
    cards = [CARDS[index] for index in sorted(set(deck_list))]
    for card in cards:
        name = card.evolves_from
        while name:
            found.setdefault(name, []).append(card)
            below = next((other for other in cards if other.name == name), None)
            name = below.evolves_from if below is not None else card.basic_form if card.basic_form != name else ""
    return {name: tuple(into) for name, into in found.items()}


@lru_cache(maxsize=64)
def _letters(deck_list: tuple[int, ...]) -> frozenset[str]:
    """The types of Energy that cards of a deck provide."""
    return frozenset("".join([CARDS[index].provides for index in deck_list]))


@lru_cache(maxsize=4096)
def reach(index: int, deck_list: tuple[int, ...]) -> int:
    """The highest :func:`potential` among the attacks of a card that the Energy of ``deck_list`` can pay for."""
    letters = _letters(deck_list)
    return max((potential(attack) for attack in CARDS[index].attacks if _payable(attack, letters)), default=0)


def _payable(attack: Attack, letters: frozenset[str]) -> bool:
    return all(letter in letters for letter, _ in attack.colored)


class Reading:
    """One observation, read for one decision. Parts that are costly are worked out when they are asked for."""

    __slots__ = (
        "_best",
        "_blocked",
        "_burns",
        "_counts",
        "_danger",
        "_letters",
        "_lines",
        "_names",
        "_needs",
        "_wanted",
        "foresight",
        "observation",
        "opponent",
        "seat",
        "state",
        "weights",
        "you",
    )

    def __init__(self, observation: PtcgObservation, weights: Weights, foresight: Foresight) -> None:
        self.observation = observation
        self.weights = weights
        self.foresight = foresight
        self.state: State = observation.known
        self.seat = observation.seat
        self.you: Player = observation.you
        self.opponent: Player = observation.opponent
        deck_list = self.state.deck_lists[self.seat]
        self._lines = evolutions(deck_list)
        self._letters = _letters(deck_list)
        self._danger: float | None = None
        self._blocked: bool | None = None
        self._burns: bool | None = None
        self._best: dict[tuple[int, int], float] = {}
        self._needs: dict[tuple[int, int], float] = {}
        self._names: Counter[str] | None = None
        self._counts: Counter[int] | None = None
        self._wanted: Counter[str] | None = None

    # --- Pokémon -----------------------------------------------------------------------------------------------------

    @property
    def names(self) -> Counter[str]:
        """How many Pokémon of each name are in play on the own side."""
        if self._names is None:
            self._names = Counter([CARDS[pokemon.cards[-1]].name for pokemon in self.you.in_play()])
        return self._names

    @property
    def hand(self) -> Counter[int]:
        """How many copies of each card are in hand."""
        if self._counts is None:
            self._counts = Counter(self.you.hand)
        return self._counts

    def power(self, index: int) -> int:
        """What the attacks of an own card may be expected to do at best, with the Energy there is in the deck."""
        return reach(index, self.state.deck_lists[self.seat])

    def payable(self, attack: Attack) -> bool:
        """Whether the own deck has Energy of all types that ``attack`` costs."""
        return _payable(attack, self._letters)

    def becomes(self, name: str) -> tuple[Card, ...]:
        """The Evolutions in the own deck list that a Pokémon called ``name`` may become."""
        return self._lines.get(name, ())

    def at(self, place: int) -> Pokemon | None:
        """The own Pokémon at a place, or the opponent's from place 10 on."""
        player, place = (self.you, place) if place < 10 else (self.opponent, place - 10)
        return player.active if place == 0 else player.bench[place - 1]

    def missing(self, pokemon: Pokemon, attack: Attack, energy: str) -> int:
        """How many Energy more ``attack`` needs than ``energy`` (type letters) has."""
        short = 0
        for letter, count in attack.colored:
            have = energy.count(letter)
            if have < count:
                short += count - have
        total = len(attack.cost) - len(energy)
        if total > short:
            total -= modifiers.colorless_reduction(self.state, self.seat, pokemon, attack)
        return max(short, total, 0)

    def best_attack(self, pokemon: Pokemon, target: Pokemon | None = None) -> float:
        """Points of the best attack that an own Pokémon can pay for, as if it were Active; 0 where there is none."""
        key = (pokemon.uid, 0 if target is None else target.uid)
        best = self._best.get(key)
        if best is None:
            best = self._best[key] = self._best_attack(pokemon, target)
        return best

    def _best_attack(self, pokemon: Pokemon, target: Pokemon | None) -> float:
        state = self.state
        card = CARDS[pokemon.cards[-1]]
        energy = modifiers.provided(pokemon)
        turn = state.turn if state.to_move == self.seat else state.turn + 1
        best = 0.0
        if any(effect[0] == CANNOT_ATTACK and effect[1] == turn for effect in pokemon.effects):
            return best
        for attack in card.attacks:
            if not modifiers.can_pay(state, self.seat, pokemon, attack, energy):
                continue
            if (CANNOT_USE_ATTACK, turn, attack.name) in pokemon.effects:
                continue
            if state.turn == 1 and not attack.usable_on_first_turn:
                continue
            best = max(best, self.foresight.points(self.observation, pokemon, card, attack, target))
        return best

    def attack_ahead(self, pokemon: Pokemon) -> float:
        """Points of the attacks of an own Pokémon in the turns to come, those it cannot pay for yet for a share."""
        w = self.weights
        best = self.best_attack(pokemon)
        energy = modifiers.provided(pokemon)
        for attack in CARDS[pokemon.cards[-1]].attacks:
            short = self.missing(pokemon, attack, energy)
            if short and self.payable(attack):
                share = w.ready_next_turn if short == 1 else w.ready_later
                best = max(best, share * (w.attack + w.damage * min(potential(attack) / _GOOD_ATTACK, 1.0)))
        return best

    def safety(self, pokemon: Pokemon) -> float:
        """Points for how an own Pokémon would stand in the Active Spot in the opponent's next turn."""
        w = self.weights
        left = modifiers.remaining_hp(self.state, pokemon)
        points = w.toughness * left / 100.0
        if self.threat(pokemon) >= left:
            points += w.danger * modifiers.prizes_for(self.state, pokemon, True)
            if not self.you.bench:
                points += w.danger
        return points

    def threat(self, pokemon: Pokemon) -> float:
        """The damage that the opponent's Active Pokémon may do to an own Active one next turn, from what is printed."""
        attacker = self.opponent.active
        if attacker is None or attacker.cards[-1] == UNKNOWN:
            return 0.0
        if self._danger is None:
            held = modifiers.provided(attacker)
            danger = 0
            for attack in CARDS[attacker.cards[-1]].attacks:
                # The opponent attaches one Energy before it attacks, perhaps one for two.
                if len(attack.cost) <= len(held) + 1:
                    danger = max(danger, potential(attack))
            self._danger = float(danger)
        damage = self._danger
        types = CARDS[attacker.cards[-1]].types
        card = CARDS[pokemon.cards[-1]]
        if card.weakness and card.weakness in types:
            damage *= 2
        if card.resistance and card.resistance in types:
            damage -= 30
        return damage

    def worth(self, pokemon: Pokemon) -> float:
        """What an own Pokémon is worth in play: what it can do, what is on it, how whole it is."""
        card = CARDS[pokemon.cards[-1]]
        worth = self.power(card.index) / 50.0 + 1.5 * len(pokemon.energy) + len(pokemon.tools) + 2.0 * card.stage
        if card.abilities:
            worth += 1.5
        if self.becomes(card.name):
            worth += 2.0
        return worth * (0.5 + 0.5 * modifiers.remaining_hp(self.state, pokemon) / max(card.hp, 1))

    def stuck(self) -> bool:
        """Whether the own Active Pokémon can neither attack nor retreat because it is Asleep or Paralyzed."""
        active = self.you.active
        return active is not None and bool(active.conditions & (ASLEEP | PARALYZED))

    def deck_spare(self) -> float:
        """How many cards may be taken from the own deck and leave enough for the turns that are still needed.

        While the Active Pokémon can do no damage, these are not what matters.
        """
        w = self.weights
        spare = len(self.you.deck) - w.thin_deck_cards
        active = self.you.active
        if active is None or self.best_attack(active) >= w.attack:
            spare -= w.thin_deck_prize * len(self.you.prizes)
        return spare

    # --- Energy ------------------------------------------------------------------------------------------------------

    def attach_points(self, pokemon: Pokemon, place: int, provides: str, now: bool) -> float | None:
        """Points of attaching Energy to an own Pokémon, ``None`` where it brings no attack nearer.

        ``now`` says that the player may still attack this turn.
        """
        w = self.weights
        card = CARDS[pokemon.cards[-1]]
        energy = modifiers.provided(pokemon)
        more = energy + provides
        best: float | None = None
        for attack in card.attacks:
            points = self._nearer(pokemon, attack, energy, more, 1.0)
            if points is not None and (best is None or points > best):
                best = points
        for later in self.becomes(card.name):
            for attack in later.attacks:
                points = self._nearer(pokemon, attack, energy, more, w.attach_later)
                if points is not None and (best is None or points > best):
                    best = points
        leaves = False
        if place == 0 and self.stands_in_the_way():
            # One Energy may be all that the way out of the Active Spot costs.
            short = modifiers.retreat_cost(self.state, pokemon) - len(energy)
            leaves = 0 < short <= len(self.hand_energy)
            if leaves:
                best = max(best or 0.0, w.attach_to_retreat + w.attach_missing * max(short - len(provides), 0))
        if best is None:
            return None
        if not leaves and self.fuel and not (burns_hand(card.index) and not energy and not self.burning):
            best += w.attach_fuel
        if place == 0:
            best += w.attach_active
            enabled = now and self._enables(pokemon, card, energy, more)
            if enabled:
                best += w.attach_enables
            elif self.you.bench and self.threat(pokemon) >= modifiers.remaining_hp(self.state, pokemon):
                best += w.attach_doomed
        return best

    def _nearer(self, pokemon: Pokemon, attack: Attack, energy: str, more: str, share: float) -> float | None:
        before = self.missing(pokemon, attack, energy)
        if not before or not self.payable(attack):
            return None
        after = self.missing(pokemon, attack, more)
        if after >= before:
            return None
        w = self.weights
        return share * (w.attach_power * min(potential(attack) / _GOOD_ATTACK, 1.5)) + w.attach_missing * after

    def _enables(self, pokemon: Pokemon, card: Card, energy: str, more: str) -> bool:
        strength = self.best_attack(pokemon)
        for attack in card.attacks:
            if self.missing(pokemon, attack, energy) and not self.missing(pokemon, attack, more):
                if not strength:
                    return True
                if self.foresight.points(self.observation, pokemon, card, attack) > strength:
                    return True
        return False

    @property
    def hand_energy(self) -> list[int]:
        """The Energy cards in hand."""
        return [index for index in self.you.hand if CARDS[index].is_energy]

    @property
    def burns_hand(self) -> bool:
        """Whether a Pokémon in play attacks with Energy of the hand."""
        if self._burns is None:
            self._burns = any(burns_hand(pokemon.cards[-1]) for pokemon in self.you.in_play())
        return self._burns

    @property
    def fuel(self) -> bool:
        """Whether the Energy in hand is better kept for such an attack: there is not more of it than one takes."""
        return self.burns_hand and len(self.hand_energy) <= _FUEL_WANTED

    @property
    def burning(self) -> bool:
        """Whether the Active Pokémon has such an attack and can pay for it now."""
        active = self.you.active
        return active is not None and burns_hand(active.cards[-1]) and bool(active.energy)

    def stands_in_the_way(self) -> bool:
        """Whether a Benched Pokémon could attack much better than the Active one."""
        if self._blocked is None:
            active = self.you.active
            self._blocked = False
            if active is not None and not self.you.retreat_used and self.you.bench:
                enough = max(self.best_attack(active) + self.weights.in_the_way, self.weights.attack)
                self._blocked = any(self.best_attack(benched) >= enough for benched in self.you.bench)
        return self._blocked

    @property
    def wanted(self) -> Counter[str]:
        """Energy that own Pokémon in play miss for the strongest attack each has, by type letter (C for any type)."""
        if self._wanted is None:
            wanted: Counter[str] = Counter()
            for pokemon in self.you.in_play():
                self._add_wanted(pokemon, wanted)
            active = self.you.active
            if active is not None and self.stands_in_the_way():
                wanted["C"] += max(modifiers.retreat_cost(self.state, active) - len(modifiers.provided(active)), 0)
            self._wanted = wanted
        return self._wanted

    def _add_wanted(self, pokemon: Pokemon, wanted: Counter[str]) -> None:
        card = CARDS[pokemon.cards[-1]]
        attacks = [*card.attacks, *[attack for later in self.becomes(card.name) for attack in later.attacks]]
        best = max([attack for attack in attacks if self.payable(attack)], key=potential, default=None)
        if best is None:
            return
        energy = modifiers.provided(pokemon)
        short = self.missing(pokemon, best, energy)
        for letter, count in best.colored:
            lacking = min(max(count - energy.count(letter), 0), short)
            if lacking:
                wanted[letter] += lacking
                short -= lacking
        wanted["C"] += short

    # --- cards -------------------------------------------------------------------------------------------------------

    def need(self, index: int, others: int) -> float:
        """How much the card is needed, 0 to about 10, where ``others`` further copies of it are at hand already."""
        need = self._needs.get((index, others))
        if need is None:
            need = self._needs[index, others] = self._need(index, others)
        return need

    def _need(self, index: int, others: int) -> float:
        w = self.weights
        card = CARDS[index]
        kind = card.kind
        if kind is Kind.POKEMON:
            points = self._need_of_basic(card, others) if card.is_basic else self._need_of_evolution(card, others)
        elif card.is_energy:
            points = self._need_of_energy(card, others)
        elif kind is Kind.SUPPORTER:
            held = sum([count for held, count in self.hand.items() if CARDS[held].kind is Kind.SUPPORTER])
            held = max(held - self.hand[index], 0) + others
            points = (w.need_gust if purpose(card.text).gust else w.need_supporter) + w.need_second_copy * held
        else:
            points = self._need_of_other(card) + w.need_second_copy * others
        return max(points, 0.0)

    def _need_of_basic(self, card: Card, others: int) -> float:
        w = self.weights
        in_play = self.names[card.name] + sum([self.names[later.name] for later in self.becomes(card.name)])
        if self.becomes(card.name):
            points = w.need_basic if in_play + others < _LINES_WANTED else w.need_other_basic / 2
        elif self.power(card.index) >= STRONG:
            points = w.need_basic + w.need_second_copy * (in_play + others) / 2
        else:
            points = w.need_other_basic + w.need_second_copy * (in_play + others)
        if len(self.you.bench) + others < _FEW_IN_PLAY - 1:
            points += w.need_thin_bench
        return points

    def _need_of_evolution(self, card: Card, others: int) -> float:
        w = self.weights
        bases = self.names[card.evolves_from] + (self.names[card.basic_form] if card.basic_form else 0)
        strength = min(self.power(card.index) / _GOOD_ATTACK, 1.5)
        if bases > others:
            return w.need_evolution + strength
        return w.need_later_evolution + strength + w.need_second_copy * max(others - bases, 0)

    def _need_of_energy(self, card: Card, others: int) -> float:
        w = self.weights
        wanted = self.wanted
        fits = sum([wanted[letter] for letter in set(card.provides) | {"C"}])
        held = sum([count for held, count in self.hand.items() if CARDS[held].is_energy]) - self.hand[card.index]
        if self.burns_hand:
            return w.need_energy - 0.2 * others
        if fits > others + max(held, 0):
            return w.need_energy + 0.3 * (len(card.provides) - 1) + (w.need_second_copy / 2) * others
        if fits > 0:
            return w.need_spare_energy + 0.5
        return w.need_spare_energy if not others else 0.5

    def _need_of_other(self, card: Card) -> float:
        w = self.weights
        use = purpose(card.text)
        points = w.need_other_card
        if use.evolve:
            held = any(CARDS[index].basic_form and self.names[CARDS[index].basic_form] for index in self.hand)
            points = w.need_evolving_item if held else w.need_search_item
        elif use.gust:
            points = w.need_gust
        elif use.search or use.attach or (use.from_discard and self.burns_hand):
            points = w.need_search_item
        if card.is_ace_spec:
            points += 1.0
        return points

    def hand_value(self, besides: int = -1) -> float:
        """The needs of all cards in hand together, one copy of ``besides`` left out."""
        total = 0.0
        for index, count in self.hand.items():
            for others in range(count - (index == besides)):
                total += self.need(index, others)
        return total

    def cost_of_discard(self, count: int, besides: int) -> float:
        """The needs of the ``count`` cards in hand that are missed least, one copy of ``besides`` left out."""
        needs: list[float] = []
        for index, copies in self.hand.items():
            for others in range(copies - (index == besides)):
                needs.append(self.need(index, others))
        needs.sort()
        return sum(needs[:count])
