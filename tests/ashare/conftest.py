"""The command line over a warehouse of its own, on both engines."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ashare.main import main
from core.clock import FrozenClock
from core.declaration.registry import builtin_registry
from resources.warehouse.ledger.heartbeats import Heartbeats, this_node
from resources.warehouse.warehouse import Warehouse
from tests.serving_api.market import NOW, bar, put

DAYS = ("2026-08-19", "2026-08-20", "2026-08-21")
OPEN_ITEM = {
    "code": "300750", "date": DAYS[2], "market": "SZ", "before_date": DAYS[1], "close_before": 20.0,
    "quoted": 16.0, "expected": 20.0, "factor": 1.25, "status": "open", "opened_on": DAYS[2],
    "asked_on": DAYS[2],
}  # fmt: skip
"""An item of the ledger of ex-rights."""


@dataclass
class CommandLine:
    """Runs commands in this process; `out` and `err` are what the last one printed."""

    url: str
    folder: Path
    warehouse: Warehouse
    capsys: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def __call__(self, *arguments: str) -> int:
        self.capsys.readouterr()
        code = main(arguments)
        self.out, self.err = self.capsys.readouterr()
        return code

    def result(self, *arguments: str) -> Any:
        assert self("--json", *arguments) == 0, self.err
        return json.loads(self.out)

    def fault(self, *arguments: str) -> dict[str, Any]:
        assert self("--json", *arguments) == 1
        assert self.out == ""
        fault: dict[str, Any] = json.loads(self.err.splitlines()[-1])
        return fault

    def has_worker(self) -> None:
        """From now on a worker is alive."""
        Heartbeats(self.warehouse.engine).beat(this_node("worker"))


@pytest.fixture
def cli(
    warehouse_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[CommandLine]:
    """Bars of two codes on three trade dates; one close was corrected later."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WAREHOUSE_URL", warehouse_url)
    monkeypatch.setenv("SAMPLE_NOW", NOW.isoformat())
    tables = builtin_registry().tables
    payloads = tmp_path / "data" / "payloads"
    warehouse = Warehouse(warehouse_url, tables, clock=FrozenClock(NOW), payload_folder=payloads)
    warehouse.migrate()
    kline = warehouse.table("fusion_kline_daily")
    first = [bar(code, day, 10.0) for code in ("000001", "600519") for day in DAYS]
    put(warehouse, kline, first)
    put(warehouse, kline, [bar("600519", day, 11.0) for day in DAYS], public_at="2026-08-21 15:20:00.000000")
    yield CommandLine(warehouse_url, tmp_path, warehouse, capsys)
    warehouse.close()
