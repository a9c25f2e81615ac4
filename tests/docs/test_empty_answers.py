"""Every place that returns no rows is decided in docs/empty-answers.md."""

import re
from pathlib import Path

from tests.docs.empty_places import places

_ROW = re.compile(r"\| `([^`]+)` \| `([^`]+)` \| (\d+) \| ([^|]+) \| [^|]+ \|")
DECISIONS = {"no answer", "nothing there", "not out", "not stored", "decided by the caller", "no rows"}


def test_every_place_that_returns_nothing_is_decided() -> None:
    page = Path("docs/empty-answers.md").read_text(encoding="utf-8")
    decided = {f"{path}: {name}": (int(count), why) for path, name, count, why in _ROW.findall(page)}

    assert {name: count for name, (count, _) in decided.items()} == dict(places())
    assert {why for _, why in decided.values()} <= DECISIONS
