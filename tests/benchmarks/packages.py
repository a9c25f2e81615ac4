"""The package of all daily bars: zip to numpy to Parquet, and Parquet into DuckDB, as the floors; our checked
reader beside them, and `ashare import` from the file to readable, checked, adjusted bars, in column files and
in the row store.

    python -m tests.benchmarks packages
    python -m tests.benchmarks.packages [--codes 5500] [--years 30]

The package is written here, by hand: random walks of stocks in the layout of the publisher.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.calendar import shipped_calendar
from resources.upstreams.tdx_packages import archives
from resources.upstreams.tdx_packages.day_files import RECORD, read_day, symbol_of
from tests.benchmarks.importing import codes_of
from tests.benchmarks.measure import MIB, Figure, PeakMemory, at_most, faster, timed

try:
    import duckdb
except ImportError:  # the second floor is then left out
    duckdb = None  # type: ignore[assignment]

CODES, YEARS = 600, 10
IMPORTED_CODES, IMPORTED_YEARS = 60, 2
LAST, NOW = "2026-07-31", "2026-08-21T15:30"
_LAYOUT = np.dtype(
    [("date", "<u4"), ("prices", "<u4", 4), ("amount", "<f4"), ("volume", "<u4"), ("reserved", "<u4")]
)


def written(path: Path, codes: int, years: int, seed: int = 7) -> int:
    """A package; its bars."""
    days = [day for day in shipped_calendar().dates if day <= LAST]
    days = days[-243 * years :]
    numbers = np.array([int(day.replace("-", "")) for day in days], dtype="<u4")
    random = np.random.default_rng(seed)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for code in codes_of(codes):
            close = (2000 * np.exp(np.cumsum(random.normal(0, 0.015, len(days))))).clip(200, 300_000)
            bars = np.zeros(len(days), dtype=_LAYOUT)
            opened = close * (1 + random.normal(0, 0.005, len(days)))
            high, low = np.maximum(opened, close) * 1.01, np.minimum(opened, close) * 0.99
            bars["date"], bars["prices"] = numbers, np.stack([opened, high, low, close], axis=1)
            bars["volume"] = random.integers(100_000, 10_000_000, len(days))
            bars["amount"] = bars["volume"] * (high + low) / 200
            market = "sh" if code.startswith("6") else "sz"
            file.writestr(f"{market}\\lday\\{market}{code}.day", bars.tobytes())
    return codes * len(days)


def bare(path: Path, out: Path) -> None:
    """Zip to numpy to Parquet, and nothing else."""
    with zipfile.ZipFile(path) as file, _Parquet(out) as parquet:
        for name in file.namelist():
            raw = np.frombuffer(file.read(name), dtype=RECORD)
            parquet.add(name[-12:-4], {name: raw[name] / 100 for name in ("open", "high", "low", "close")}
                        | {"date": raw["date"].astype(np.int32), "volume": raw["volume"].astype(np.int64),
                           "amount": raw["amount"].astype(np.float64)})  # fmt: skip


def ours(path: Path, out: Path) -> None:
    """The same with every check of the reader and of the archive."""
    with archives.opened(path, path.name) as archive, _Parquet(out) as parquet:
        for name in archive.names:
            symbol = symbol_of(name)
            parquet.add(symbol, read_day(archive.read(name), symbol))


class _Parquet:
    """One row group for many securities: one for each would be small."""

    _ROWS = 1_000_000

    def __init__(self, path: Path) -> None:
        names = ("open", "high", "low", "close", "amount")
        self._schema = pa.schema(
            [("symbol", pa.dictionary(pa.int32(), pa.string())), ("date", pa.int32())]
            + [(name, pa.float64()) for name in names]
            + [("volume", pa.int64())]
        )
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
        self._held: list[pa.Table] = []

    def __enter__(self) -> "_Parquet":
        return self

    def add(self, symbol: str, columns: dict[str, Any]) -> None:
        codes = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(len(columns["date"]), dtype=np.int32)), pa.array([symbol])
        )
        arrays = [codes, *(pa.array(columns[name]) for name in self._schema.names[1:])]
        self._held.append(pa.Table.from_arrays(arrays, schema=self._schema))
        if sum(map(len, self._held)) >= self._ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.concat_tables(self._held).unify_dictionaries())
            self._held = []

    def __exit__(self, *_: object) -> None:
        self._flush()
        self._writer.close()


def into_duckdb(parquet: Path, database: Path) -> None:
    """The bars of a Parquet file as a table of DuckDB."""
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE bars AS SELECT * FROM '{parquet}'")


def imported(path: Path, folder: Path, *options: str) -> int:
    """The whole way, in processes of its own; the most bytes that they held together."""
    environ = {**os.environ, "DATA_DIR": str(folder / "data"), "SAMPLE_NOW": NOW}
    environ["WAREHOUSE_URL"] = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    command = [sys.executable, "-m", "ashare", "--json", "import", str(path), *options]
    most = 0
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as running:
        while running.poll() is None:
            most = max(most, _private_bytes(running.pid))
            time.sleep(0.05)
    if running.returncode:
        raise RuntimeError(f"the import of {path.name} ended with {running.returncode}")
    return most


def _private_bytes(pid: int) -> int:
    """Memory of a process and its children without mapped files; 0 where the system does not say."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    own = next((int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:")), 0)
    return own + sum(_private_bytes(int(child)) for child in children)


def run(
    codes: int = CODES, years: int = YEARS, few: tuple[int, int] = (IMPORTED_CODES, IMPORTED_YEARS)
) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package, small = folder / "hsjday.zip", folder / "small.zip"
        bars = written(package, codes, years)
        note = f"{bars / 1e6:.1f} million bars"
        with PeakMemory() as memory:
            floor = timed(lambda: bare(package, folder / "bare.parquet"))
        with PeakMemory() as checked:
            reader = timed(lambda: ours(package, folder / "ours.parquet"))
        yield at_most("package: zip to Parquet, checked against bare", reader, floor, 2.0, note)
        used, plain = checked.grown / MIB, memory.grown / MIB
        yield Figure("package: memory of the same", f"{used:.0f} MiB", f"{plain:.0f} MiB",
                     used / max(plain, 1.0), at_most=True, note=note)  # fmt: skip
        if duckdb is not None:
            loading = timed(lambda: into_duckdb(folder / "bare.parquet", folder / "bars.duckdb"))
            floor_of_two = floor + loading
            yield Figure("package: into DuckDB", f"{loading:.1f} s", f"{floor:.1f} s", loading / floor,
                         at_most=True, note="Parquet into a table, against zip to Parquet")  # fmt: skip
        else:
            floor_of_two = floor
        held: list[int] = []
        columns = timed(lambda: held.append(imported(package, folder, "--columns-before", NOW[:10])))
        size = sum(one.stat().st_size for one in (folder / "data" / "lake_old_years").rglob("*.parquet"))
        yield at_most("package: import into column files against the floors", columns, floor_of_two, None,
                      f"{bars / columns:,.0f} bars a second, {size / bars:.0f} bytes a bar")  # fmt: skip
        yield Figure("package: memory of its processes", f"{held[0] / MIB:.0f} MiB", f"{plain:.0f} MiB",
                     held[0] / MIB / max(plain, 1.0), at_most=True)  # fmt: skip
        again = timed(lambda: imported(package, folder, "--columns-before", NOW[:10]))
        yield faster("package: the same file again", again, columns, None, "nothing is written")
        rows = written(small, *few)
        first = timed(lambda: imported(small, folder))
        floor_small = timed(lambda: bare(small, folder / "bare.parquet"))
        yield at_most("package: import into the row store against bare", first, floor_small, None,
                      f"{rows:,} bars, {rows / first:,.0f} a second")  # fmt: skip
        second = timed(lambda: imported(small, folder))
        yield faster("package: the same small file again", second, first, None, "nothing is written")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--codes", type=int, default=5500)
    parser.add_argument("--years", type=int, default=30)
    options = parser.parse_args()
    for figure in run(options.codes, options.years):
        sys.stdout.write(f"{figure.check}: {figure.figure} / {figure.baseline} = {figure.ratio:.2f}x\n")
