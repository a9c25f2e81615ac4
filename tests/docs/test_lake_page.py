"""The snippets of docs/lake.md run as they are printed, and five engines give the same five answers."""

import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.warehouse.warehouse import Warehouse
from tests.docs.pages import ROOT
from tests.serving_api.market import NOW, bar, put

PAGE = (ROOT / "docs/lake.md").read_text(encoding="utf-8")
NAMES = {"000001": "平安银行", "300750": "宁德时代", "600519": "贵州茅台", "688981": "中芯国际"}
DAYS = ("2026-07-31", "2026-08-19", "2026-08-20", "2026-08-21")


def block(heading: str) -> str:
    """The first Python block below a heading."""
    found = re.search(rf"^###? {heading}$.*?^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bars of four companies on four dates, corrected on the evening of the third, with their names."""
    made = tmp_path_factory.mktemp("research")
    warehouse = Warehouse(
        f"sqlite:///{made}/data/warehouse.sqlite3", builtin_registry().tables, clock=FrozenClock(NOW),
        payload_folder=made,
    )  # fmt: skip
    warehouse.migrate()
    kline, master = warehouse.table("fusion_kline_daily"), warehouse.table("fusion_stock_master")
    rows = [
        {**bar(code, day, 10.0 + at + number / 4), "amount": 1000.0 * at + number}
        for at, code in enumerate(NAMES)
        for number, day in enumerate(DAYS)
    ]
    put(warehouse, kline, rows, public_at="2026-08-20 15:00:00.000000")
    put(warehouse, kline, [{**row, "close": 9.0} for row in rows if row["code"] == "600519"])
    put(warehouse, master, [{"code": code, "name": name} for code, name in NAMES.items()])
    for table in (kline, master):
        Publisher(warehouse, Lake(made / "data/lake")).publish(table)
    warehouse.close()
    return made


EXPECTED: list[list[tuple[Any, ...]]] = [
    [(date.fromisoformat(day), 9.0) for day in DAYS[1:]],
    [
        (date.fromisoformat(day), (10 + 11 + 13 + 3 * number / 4 + 9.0) / 4)
        for number, day in enumerate(DAYS)
        if number
    ],
    [("2026-07", 4), ("2026-08", 12)],
    [(code, 10.5 + at) for at, code in enumerate(NAMES)],
    [(NAMES[code], 1000.0 * at + 3) for at, code in [*enumerate(NAMES)][:0:-1]],
]


@pytest.mark.parametrize("engine", ["DuckDB", "Polars", "pandas", "PyArrow", "Spark"])
def test_every_engine_gives_the_same_answers(
    engine: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "Spark":
        pytest.importorskip("pyspark", reason="package not there: pyspark")
        if shutil.which("java") is None:
            pytest.skip("program not there: java")
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(block(engine), names)

    assert [[tuple(row) for row in answer] for answer in names["answers"]] == EXPECTED


def test_a_commit_names_what_it_contains(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    exec(block("When it is published"), {})
    assert re.fullmatch(
        r'\["2026-07","2026-08"\] 2 \["[0-9a-f]{32}","[0-9a-f]{32}"\]\n', capsys.readouterr().out
    )
