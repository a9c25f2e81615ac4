"""What the killed writer writes: one partition, revision after revision, everything a batch can carry."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd

from core.clock import ManualClock
from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table
from resources.fetch_record import Fetch, Outcome
from resources.warehouse.batch_records import Batch, Quality
from resources.warehouse.locks import DomainLocks, Lease
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from resources.warehouse.writer import Piece, WriteResult

DAY = "2026-08-20"
FIRST_INSTANT = datetime(2026, 8, 20, 16, 0)
ROWS = 3000
NEW_ROWS = 7
"""Rows that each revision has more than the one before."""
REJECTED = 40
TABLE = Table(
    "fusion_killed",
    Layer.DWD,
    columns_from(
        "code:code date:date open:px high:px low:px close:px volume:big amount:amt change_pct:pct "
        "halted:bool note:s64 limit_up:px limit_down:px"
    ),
    ("code", "date"),
    date_column="date",
)


def open_scene(url: str, folder: Path, *, ttl_s: float | None = None) -> Warehouse:
    """The warehouse of the scene; `ttl_s` shortens the lease where its length is not what is tested."""
    warehouse = Warehouse(url, (TABLE,), clock=ManualClock(FIRST_INSTANT), payload_folder=folder / "payloads")
    if ttl_s is not None:
        warehouse.locks = DomainLocks(warehouse.engine, ttl_s=ttl_s)
        warehouse.writer._locks = warehouse.locks
    return warehouse


def revision_frame(revision: int) -> pd.DataFrame:
    """Content of a revision (1, 2, ...): each changes a third of the rows and brings `NEW_ROWS` new ones.
    The rest is equal to the revision before."""
    count = ROWS + NEW_ROWS * revision
    place = np.arange(count)
    # The newest revision that touched a row: rows take turns.
    touched = revision - (revision - place) % 3
    close = 10 + place % 97 + np.maximum(touched, 0) * 0.01
    return pd.DataFrame(
        {
            "code": [f"{600000 + at:06d}" for at in place],
            "date": DAY,
            "open": close - 0.1,
            "high": close + 0.3,
            "low": close - 0.3,
            "close": close,
            "volume": place * 100 + np.maximum(touched, 0),
            "amount": close * 100,
            "change_pct": (place % 21) - 10.0,
            "halted": place % 50 == 0,
            "note": [None if at % 4 else f"第{at}行" for at in place],
            "limit_up": close * 1.1,
            "limit_down": close * 0.9,
            "src": np.where(place % 10 == 0, "tencent", "tdx"),
            "provenance": ['{"tencent":["volume"]}' if at % 9 == 0 else None for at in place],
            "quality": np.where(place % 31 == 0, "warning", "ok"),
            "quality_flags": ['["odd"]' if at % 31 == 0 else None for at in place],
        }
    )


def quality_of(revision: int) -> list[Quality]:
    """Records of the rejected rows and their summary."""
    rows = [
        Quality("close:gt", "hard", "rejected", natural_key=f'{{"code":"{at}"}}', failed_value=str(revision))
        for at in range(REJECTED)
    ]
    return [*rows, Quality("close:gt", "hard", "rejected", failed_count=REJECTED, total_count=ROWS)]


def fetches_of(revision: int) -> list[Fetch]:
    return [
        Fetch(
            upstream=name,
            call_name="quotes",
            request=f"{name}://quotes?revision={revision}",
            outcome=Outcome.OK,
            body=f"{name} {revision} ".encode() * 2000,
            received_at=FIRST_INSTANT,
        )
        for name in ("tdx", "tencent")
    ]


def instant_of(revision: int) -> datetime:
    return FIRST_INSTANT + timedelta(seconds=revision)


def write_revision(warehouse: Warehouse, revision: int, lease: Lease | None = None) -> WriteResult:
    """Write a revision at its own instant, so that a rerun is the same work at the same market time."""
    frame = revision_frame(revision)
    assert isinstance(warehouse.clock, ManualClock)
    warehouse.clock.at = instant_of(revision)
    return warehouse.writer.write(
        TABLE,
        frame,
        where=Slice.of_date("date", DAY),
        batch=Batch(
            partition_key=DAY,
            fusion_type="killed",
            domain="kline",
            trigger="backfill",
            trigger_ref=str(revision),
            sources=[{"src": "tdx", "calls": 1, "rows": len(frame)}],
        ),
        rejected=REJECTED,
        quality=quality_of(revision),
        fetches=fetches_of(revision),
        lease=lease,
        public_at=[f"{DAY} 15:00:00.000000"] * len(frame),
        source_rank={"tdx": 0, "tencent": 1},
    )


def write_range(warehouse: Warehouse, days: list[str], lease: Lease | None = None) -> list[WriteResult]:
    """The first revision on each of `days`, all of them in one transaction."""
    frame = revision_frame(1)
    pieces = [
        Piece(
            frame.assign(date=day),
            Slice.of_date("date", day),
            Batch(partition_key=day, fusion_type="killed", domain="kline", trigger="backfill"),
            rejected=REJECTED,
            quality=quality_of(1),
            fetches=fetches_of(1),
            public_at=[f"{day} 15:00:00.000000"] * len(frame),
        )
        for day in days
    ]
    return warehouse.writer.write_all(TABLE, pieces, lease=lease, source_rank={"tdx": 0, "tencent": 1})
