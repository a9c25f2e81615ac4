"""Ten years of daily bars of 5,500 codes through `ashare import`: 13 million rows from one Parquet file.

    python -m tests.benchmarks.importing [--months 120] [--codes 5500] [--folder DIR]

Prints rows, seconds of both passes, rows a second and the peak of memory. It takes about an hour on two cores
and 15 GB of disk, so it is no part of `make bench`; `make soak` runs a year of it.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.calendar import shipped_calendar

MAPPING = """dataset = "kline_daily"
name = "bench"
adjust = "none"
[columns]
code = "code"
date = "date"
open = "open"
high = "high"
low = "low"
close = "close"
volume = {column = "volume", unit = "lot"}
amount = {column = "amount", unit = "kCNY"}
"""
LAST = "2026-07-31"
NOW = "2026-08-21T15:30"


def codes_of(count: int) -> list[str]:
    """Codes of the four boards."""
    blocks = [(600000, 1000), (601000, 1000), (603000, 1000), (1, 999), (2000, 1000), (300000, 999)]
    return sorted(f"{first + at:06d}" for first, size in blocks for at in range(size))[:count]


def generate(path: Path, months: int, codes: int, seed: int = 7) -> int:
    """Random walks, one row group a code, so that no month is together in the file; its rows."""
    days = [day for day in shipped_calendar().dates if day <= LAST]
    named = sorted({day[:7] for day in days})[-months:]
    days = [day for day in days if day[:7] in named]
    random = np.random.default_rng(seed)
    schema = pa.schema(
        [("code", pa.string()), ("date", pa.string())]
        + [(name, pa.float64()) for name in ("open", "high", "low", "close", "volume", "amount")]
    )
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for code in codes_of(codes):
            close = np.round(20 * np.exp(np.cumsum(random.normal(0, 0.015, len(days)))), 2).clip(1)
            open_ = np.round(close * (1 + random.normal(0, 0.005, len(days))), 2)
            high = np.round(np.maximum(open_, close) * 1.01, 2)
            low = np.round(np.minimum(open_, close) * 0.99, 2)
            volume = random.integers(1000, 100000, len(days)).astype(float)
            columns = [open_, high, low, close, volume, np.round(volume * close / 10, 2)]
            writer.write_table(pa.table([[code] * len(days), days, *columns], schema=schema))
            rows += len(days)
    return rows


def measured(folder: Path, file: Path, *more: str) -> tuple[float, float]:
    """(seconds, peak MiB) of one import in a process of its own."""
    mapping = folder / "map.toml"
    mapping.write_text(MAPPING, encoding="utf-8")
    environ = {**os.environ, "DATA_DIR": str(folder / "data"), "SAMPLE_NOW": NOW}
    environ.setdefault("WAREHOUSE_URL", f"sqlite:///{folder / 'warehouse.sqlite3'}")
    begun = time.perf_counter()
    command = [sys.executable, "-m", "ashare", "import", str(file), "--map", str(mapping), *more]
    subprocess.run(command, check=True, env=environ)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return time.perf_counter() - begun, peak


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the import of a large file.")
    parser.add_argument("--months", type=int, default=120)
    parser.add_argument("--codes", type=int, default=5500)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        file = folder / "bars.parquet"
        rows = generate(file, asked.months, asked.codes)
        print(f"{rows} rows, {file.stat().st_size / 2**20:.0f} MiB", flush=True)
        seconds, peak = measured(folder, file)
        print(f"import: {seconds:.0f} s, {rows / seconds:.0f} rows/s, peak {peak:.0f} MiB", flush=True)
        again, peak = measured(folder, file)
        print(f"again: {again:.0f} s, peak {peak:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
