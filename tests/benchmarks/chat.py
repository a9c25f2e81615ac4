"""The chat without a model: assembly of a pack, and the first byte of a stream, over 500 companies."""

import http.client
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from core.declaration.tables import Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.db.sessions import Session
from serving_api.evidence.packs import read_companies
from serving_api.evidence.parts import BASE, OF_ONE
from tests.benchmarks.measure import Figure, at_most
from tests.benchmarks.panel_data import LAST_DAY
from tests.benchmarks.servers import API, api, login
from tests.benchmarks.store import open_store

COMPANIES, DATES, REPORTS = 500, 60, 8
ASKED = 200
PACK_S, FIRST_BYTE_S = 0.25, 0.1
NOW = datetime.fromisoformat(f"{LAST_DAY}T17:00")


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warehouse = open_store(f"sqlite:///{folder}/warehouse.sqlite3", folder)
        names = [f"{600000 + at}" for at in range(COMPANIES)]
        for table in dict.fromkeys(part.table for part in OF_ONE):
            fill(warehouse, warehouse.table(table), names)
        chance = random.Random(1)
        with warehouse.connect() as connection:
            session = Session(warehouse, connection)
            facts = [0]

            def one() -> None:
                facts[0] = len(read_companies(session, (chance.choice(names),), OF_ONE, NOW).facts)

            def ten() -> None:
                facts[0] = len(read_companies(session, chance.sample(names, 10), BASE, NOW).facts)

            for title, work in (("one company", one), ("ten companies", ten)):
                taken = p95(work)
                yield at_most(f"pack of {title}, p95, vs a quarter of a second", taken, PACK_S, 1.0,
                              f"{facts[0]} facts")  # fmt: skip
        warehouse.close()
        with api(folder) as server:
            headers = {"Authorization": f"Bearer {login(server.port)}", "Content-Type": "application/json"}
            taken = p95(lambda: first_byte(server.port, headers, chance.choice(names)))
            yield at_most("first byte of a stream, p95, vs a tenth of a second", taken, FIRST_BYTE_S, 1.0)


def fill(warehouse: Warehouse, table: Table, names: list[str]) -> None:
    """Rows of every company on the newest dates, of whatever the table declares."""
    chance = random.Random(table.name)
    day = table.date_column
    daily = table.name.startswith(
        ("fusion_kline", "calc_", "fusion_fund_flow", "fusion_margin", "fusion_val")
    )
    days = shipped_calendar().last(DATES if daily else REPORTS, LAST_DAY) if day else [""]
    rows = []
    for code in names:
        for at in days:
            row: dict[str, Any] = {"src": "test"} if "src" in table.names else {}
            for spec in table.columns:
                row[spec.name] = value_of(spec.family, chance)
            rows.append({**row, "code": code, **({day: at} if day else {})})
            if "name" in table.names:
                rows[-1]["name"] = f"公司{code}"
    frame = pd.DataFrame(rows).drop_duplicates(list(table.key))
    warehouse.writer.write(table, frame, where=Slice.of_codes(names), batch=Batch(partition_key=LAST_DAY))


def value_of(family: str, chance: random.Random) -> Any:
    match family:
        case "float":
            return round(chance.uniform(1, 99), 2)
        case "int":
            return chance.randint(1, 99)
        case "bool":
            return False
        case "date":
            return LAST_DAY
        case "time":
            return f"{LAST_DAY} 15:00:00"
        case "json":
            return "[]"
        case _:
            return "文"


def p95(work: Callable[[], object]) -> float:
    taken = []
    for _ in range(ASKED):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[int(ASKED * 0.95)]


def first_byte(port: int, headers: dict[str, str], code: str) -> None:
    """Until the first frame is there; the rest is read so that the next question finds an idle server."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"message": f"{code}怎么样"})
    connection.request("POST", f"{API}/chat/ask/stream", body, headers)
    answer = connection.getresponse()
    answer.read(1)
    connection.close()
