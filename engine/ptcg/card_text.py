"""What a card says, in our own words and from its definition: exact enough that a reader needs no other source."""

from __future__ import annotations

from engine.ptcg.card import KIND_NAMES, TYPE_NAMES, Ability, Attack, Card, Limit


def card_label(card: Card) -> str:
    """Name and id, as in ``Charmander (PAF-7)``: the name alone may belong to several printings."""
    return f"{card.name} ({card.id})"


def energy_text(letters: str) -> str:
    """Energy by type, as in ``2 Fire, 1 Colorless``; ``no Energy`` for none. ``letters`` has a type letter for each."""
    counts = [(letters.count(letter), name) for letter, name in TYPE_NAMES.items() if letter in letters]
    return ", ".join(f"{count} {name}" for count, name in counts) or "no Energy"


def card_text(card: Card) -> str:
    """All that is printed on ``card``, a line each: what it is, its numbers, Abilities, attacks, effect."""
    return "\n".join([f"{card_label(card)}: {_first_line(card)}", *_body(card)])


def same_text(one: Card, other: Card) -> bool:
    """Whether two printings are alike in everything but their ids, so that nothing can depend on which it is."""
    return one is other or (
        one.name == other.name and _first_line(one) == _first_line(other) and _body(one) == _body(other)
    )


def attack_summary(attack: Attack) -> str:
    """Name, cost in type letters and printed damage, as in ``Burning Darkness [RR] 180+``."""
    return " ".join([attack.name, f"[{attack.cost or '-'}]", attack.damage]).rstrip()


def _first_line(card: Card) -> str:
    if not card.is_pokemon:
        return ", ".join([KIND_NAMES[card.kind], *card.tags]) + "."
    kind = f"{card.stage_name} Pokémon"
    if card.evolves_from:
        kind += f" that evolves from {card.evolves_from}"
    if card.basic_form:
        kind += f" (its line begins with {card.basic_form})"
    return ", ".join([kind, *[tag for tag in card.tags if tag != card.stage_name]]) + "."


def _body(card: Card) -> list[str]:
    lines: list[str] = []
    if card.is_pokemon:
        lines.append(_numbers(card))
    if card.text:
        lines.append(card.text)
    lines.extend(_ability_line(ability) for ability in card.abilities)
    lines.extend(_attack_line(attack) for attack in card.attacks)
    return lines


def _numbers(card: Card) -> str:
    types = " and ".join(TYPE_NAMES[letter] for letter in card.types)
    weakness = f"{TYPE_NAMES[card.weakness]} ×2" if card.weakness else "none"
    resistance = f"{TYPE_NAMES[card.resistance]} −30" if card.resistance else "none"
    numbers = f"HP {card.hp}. Type {types}. Weakness {weakness}. Resistance {resistance}. Retreat Cost {card.retreat}."
    if card.rule_box:
        numbers += " Has a Rule Box."
    if "Prize" not in card.text:
        numbers += (
            f" The opponent takes {card.prizes} Prize card{'s' if card.prizes > 1 else ''} when it is Knocked Out."
        )
    return numbers


def _ability_line(ability: Ability) -> str:
    kind = "VSTAR Power (one a game for each player)" if ability.limit is Limit.VSTAR else "Ability"
    return f"{kind} {ability.name}: {ability.text}"


def _attack_line(attack: Attack) -> str:
    said = [f"Attack {attack.name}, cost {energy_text(attack.cost)}"]
    if attack.damage:
        said.append(f"damage {attack.damage}")
    return f"{', '.join(said)}. {attack.text}".rstrip()
