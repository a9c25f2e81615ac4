"""Rules, dashboard and documentation name series that /metrics has, and each alert has its row."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.serving_api.test_metrics import measured, samples

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docker/monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs/operations/monitoring.md").read_text(encoding="utf-8")
SERIES = re.compile(r"\b(?:ashare|http)_[a-z_]+\b")
LABELS = re.compile(r"{{\s*(?:\$labels\.)?(\w+)\s*}}")


def expressions() -> list[tuple[str, str]]:
    """(where, PromQL) of every rule and panel."""
    panels = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    return [(rule["alert"], rule["expr"]) for rule in RULES] + [
        (panel["title"], target["expr"]) for panel in panels for target in panel["targets"]
    ]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Series -> labels, of one scrape; families without a row yet are read from their description."""
    folder = tmp_path_factory.mktemp("metrics")
    with measured(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, "loopback") as bench:
        bench.api.get("/stocks/600519/kline")
        answer = bench.api.get("//metrics")
    found: dict[str, set[str]] = {}
    for name in re.findall(r"^# TYPE (\S+)", answer.text, re.MULTILINE):
        found.setdefault(name, set())
    for name, labels in samples(answer):
        found.setdefault(name, set()).update(key for key, _ in labels)
    return found


def test_rules_and_panels_ask_for_series_that_are_served(served: dict[str, set[str]]) -> None:
    named = {name for _, text in expressions() for name in SERIES.findall(text)}

    assert len(named) > 12
    assert sorted(named - served.keys()) == []
    assert (
        sorted(set(SERIES.findall("\n".join(PAGE.split("## Metrics")[1].split("## ")[:1]))) - served.keys())
        == []
    )


def test_every_alert_says_what_to_do() -> None:
    alerts = [rule["alert"] for rule in RULES]
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.split("### Alerts")[1].split("\n## ")[0], re.MULTILINE)

    assert listed == alerts
    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] for rule in RULES)


def test_texts_name_labels_of_their_series(served: dict[str, set[str]]) -> None:
    for rule in RULES:
        shown = LABELS.findall(rule["annotations"]["summary"])
        known = set().union(*(served[name] for name in SERIES.findall(rule["expr"]) if name in served))
        empty = [name for name in SERIES.findall(rule["expr"]) if not served.get(name)]
        assert not shown or empty or set(shown) <= known, rule["alert"]


def test_braces_and_brackets_are_closed() -> None:
    pairs = {")": "(", "]": "[", "}": "{"}
    for where, text in expressions():
        opened: list[str] = []
        for letter in re.sub(r'"[^"]*"', "", text):
            if letter in pairs.values():
                opened.append(letter)
            elif letter in pairs:
                assert opened, where
                assert opened.pop() == pairs[letter], where
        assert opened == [], where


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
