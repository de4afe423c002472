"""Tables made of a run's counted games: win rates, endings, a summary an entrant. Rows are plain dictionaries."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from results.statistics import Record
from results.tally import MEASURED_COUNTS, Group, Tally

Row = dict[str, Any]


def records(tally: Tally) -> dict[str, Record]:
    """Every entrant's games against others."""
    found = {name: Record() for name in tally.entrants}
    for seat, group in _seats(_between_two(tally)):
        found[group.entrants[seat]].add(group.result_of(seat), group.games)
    return found


def win_rate_rows(tally: Tally) -> list[Row]:
    """A row an ordered pair of entrants that met, by name; an entrant's games against itself are left out."""
    found: defaultdict[tuple[str, str], Record] = defaultdict(Record)
    for seat, group in _seats(_between_two(tally)):
        found[group.entrants[seat], group.entrants[1 - seat]].add(group.result_of(seat), group.games)
    return [
        {"entrant": entrant, "opponent": opponent, **record.columns()}
        for (entrant, opponent), record in sorted(found.items())
    ]


def win_rate_by_deck_rows(tally: Tally) -> list[Row]:
    """A row an ordered pair of entrants and decks that met, by name."""
    found: defaultdict[tuple[str, str, str, str], Record] = defaultdict(Record)
    for seat, group in _seats(_between_two(tally)):
        other = 1 - seat
        key = (group.entrants[seat], group.decks[seat], group.entrants[other], group.decks[other])
        found[key].add(group.result_of(seat), group.games)
    return [
        {"entrant": entrant, "deck": deck, "opponent": opponent, "opponent_deck": opponent_deck, **record.columns()}
        for (entrant, deck, opponent, opponent_deck), record in sorted(found.items())
    ]


def ending_rows(tally: Tally) -> list[Row]:
    """A row an entrant, result and cause, by name; an entrant's games against itself are left out."""
    found: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for seat, group in _seats(_between_two(tally)):
        found[group.entrants[seat], group.result_of(seat), group.cause] += group.games
    return [
        {"entrant": entrant, "result": result, "cause": cause, "games": games}
        for (entrant, result, cause), games in sorted(found.items())
    ]


def agent_rows(tally: Tally, void: Mapping[str, Mapping[str, float]]) -> list[Row]:
    """A row an entrant, by name: its record, what it did and what it cost.

    Calls, tokens and money are those of all games, void ones (``void`` has what these took, by entrant and column) and
    games against itself included: they were spent.
    """
    found = sorted(records(tally).items())
    return [_agent_row(name, tally, record, void.get(name, {})) for name, record in found]


def _agent_row(name: str, tally: Tally, record: Record, void: Mapping[str, float]) -> Row:
    first, second = Record(), Record()
    for seat, group in _seats(_between_two(tally)):
        if group.entrants[seat] == name and group.first_player is not None:
            (first if group.first_player == seat else second).add(group.result_of(seat), group.games)
    played = [(seat, group) for seat, group in _seats(tally.groups) if group.entrants[seat] == name]
    decided = [
        (seat, group) for seat, group in played if group.outcome != "void" and group.entrants[0] != group.entrants[1]
    ]
    measured = {
        column: _sum([*(group.sums[f"{column}_{seat}"] for seat, group in played), void.get(column)])
        for column in MEASURED_COUNTS
    }
    attempts, invalid = measured["attempts"], measured["invalid_attempts"]
    return {
        "entrant": name,
        **record.columns(),
        "self_games": sum(group.games for group in tally.groups if group.entrants == (name, name)),
        "first_games": first.games,
        "first_win_rate": first.win_rate,
        "second_games": second.games,
        "second_win_rate": second.win_rate,
        "mean_turns": _mean((group.sums["turns"], group.counts["turns"]) for _, group in decided),
        "mean_decisions": _mean(
            (group.sums[f"decisions_{seat}"], group.counts[f"decisions_{seat}"]) for seat, group in decided
        ),
        **{column: None if total is None else int(total) for column, total in measured.items()},
        "invalid_action_rate": invalid / attempts if attempts and invalid is not None else None,
        "cost_usd": _sum([*(group.sums[f"cost_usd_{seat}"] for seat, group in played), void.get("cost_usd")]),
        "mean_agent_seconds": _mean(
            (group.sums[f"agent_seconds_{seat}"], group.counts[f"agent_seconds_{seat}"]) for seat, group in played
        ),
    }


def _between_two(tally: Tally) -> Iterator[Group]:
    return (group for group in tally.groups if group.entrants[0] != group.entrants[1])


def _seats(groups: Iterable[Group]) -> Iterator[tuple[int, Group]]:
    return ((seat, group) for group in groups for seat in (0, 1))


def _sum(values: Iterable[float | None]) -> float | None:
    """Exact sum of what is known; ``None`` where nothing is."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known else None


def _mean(sums_and_counts: Iterable[tuple[float | None, int]]) -> float | None:
    """Mean of values given as sums and numbers of values; ``None`` where there are none."""
    known = [(total, count) for total, count in sums_and_counts if total is not None]
    count = sum(count for _, count in known)
    return math.fsum(total for total, _ in known) / count if count else None
