"""Metrics: what is told of changes, and that the dashboard shows exactly what is exported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.metrics import METRICS, changes

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "prizefight.json"


def queries(value: Any) -> Iterator[str]:
    """All queries anywhere in a dashboard."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("expr", "query", "definition") and isinstance(inner, str):
                yield inner
            else:
                yield from queries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from queries(inner)


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    asked = {name for query in queries(json.loads(DASHBOARD.read_text())) for name in re.findall(r"\bray_\w+", query)}
    assert asked == {metric.exported for metric in METRICS}


def test_the_dashboards_queries_name_only_tags_that_their_metrics_have() -> None:
    tags = {metric.exported: {"run", *metric.tags} for metric in METRICS}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            metrics = re.findall(r"\bray_\w+", target["expr"])
            named = {name for group in re.findall(r"by \(([^)]*)\)", target["expr"]) for name in group.split(", ")}
            shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert shown <= named, f"{panel['title']}: a legend names what the query has summed away"
            assert all(named <= tags[metric] for metric in metrics), panel["title"]
            assert target["expr"].count("(") == target["expr"].count(")")


def test_the_dashboard_can_be_imported() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    assert [entry["pluginId"] for entry in dashboard["__inputs"]] == ["prometheus"]
    source = f"${{{dashboard['__inputs'][0]['name']}}}"
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    used: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & used, f"{panel['title']} lies on another panel"
        assert max(x for x, _ in cells) < 24
        used |= cells
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == source
            assert panel["targets"]
            assert {target["datasource"]["uid"] for target in panel["targets"]} == {source}


def test_counters_tell_what_they_gained_and_all_others_what_they_are() -> None:
    before = {("prizefight_games", ()): 10.0, ("prizefight_workers", ()): 2.0, ("prizefight_void_games", ()): 1.0}
    after = {
        ("prizefight_games", ()): 13.0,
        ("prizefight_workers", ()): 2.0,
        ("prizefight_void_games", ()): 1.0,
        ("prizefight_failed_tries", ("worker_crash",)): 2.0,
    }
    assert changes(before, after) == [
        ("prizefight_games", (), 3.0),
        ("prizefight_workers", (), 2.0),
        ("prizefight_failed_tries", ("worker_crash",), 2.0),
    ]


def test_a_counter_whose_source_began_anew_loses_nothing() -> None:
    refusals = ("prizefight_rate_limited", ("account",))
    assert changes({refusals: 7.0}, {refusals: 3.0}) == [(*refusals, 3.0)]


def test_the_page_on_clusters_lists_every_metric() -> None:
    page = (DASHBOARD.parents[1] / "cluster.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| `ray_prizefight_")]
    assert [re.findall(r"`(\w+)`", row.split("|")[1] + row.split("|")[2]) for row in rows] == [
        [metric.exported, *metric.tags] for metric in METRICS
    ]
