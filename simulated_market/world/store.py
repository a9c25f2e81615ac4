"""A built world on disk: one compressed npz per (version, profile, seed). A cache, never a source."""

import logging
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulated_market.world.bars import Applied, ShareChange, WorldBars

_ARRAYS = (
    "dates", "open", "high", "low", "close", "preclose", "volume", "amount", "traded", "limit_up",
    "limit_down", "up_count", "down_count", "members", "period",
)  # fmt: skip
_CAUSES = ("listing", "bonus", "release")
log = logging.getLogger(__name__)


def path_of(folder: Path, version: int, profile: str, seed: int) -> Path:
    return folder / f"world-v{version}-{profile}-{seed}.npz"


def save(world_bars: WorldBars, path: Path) -> None:
    """Write atomically: a killed process leaves the old file or none, also when two build the same world.
    A disk that takes no more keeps none."""
    applied, shares = tables(world_bars)
    columns: dict[str, npt.NDArray[np.generic]] = {name: getattr(world_bars, name) for name in _ARRAYS}
    columns |= {"applied": applied, "shares": shares, "count": np.asarray([len(world_bars.shares)])}
    partial = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, column in columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as target:
                    np.lib.format.write_array(target, np.asarray(column), allow_pickle=False)
        partial.replace(path)
    except OSError as error:
        log.warning("the world is not stored in %s: %s", path.parent, error.strerror)
        with suppress(OSError):
            partial.unlink()


def load(path: Path) -> WorldBars | None:
    """The stored bars of a world; None when there is no file or it is damaged (they are then built again)."""
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            columns = {name: file[name] for name in (*_ARRAYS, "applied", "shares", "count")}
    except (zipfile.BadZipFile, ValueError, KeyError, EOFError, OSError):
        return None
    count = int(columns.pop("count")[0])
    applied: list[list[Applied]] = [[] for _ in range(count)]
    for row in columns.pop("applied").tolist():
        place, day, cash, rights_price, bonus, rights, held, t0, f0, t1, f1 = row
        applied[int(place)].append(
            Applied(int(day), cash, rights_price, bonus, rights, held, (int(t0), int(f0)), (int(t1), int(f1)))
        )
    shares: list[list[ShareChange]] = [[] for _ in range(count)]
    for place, day, total, floating, cause in columns.pop("shares").tolist():
        shares[place].append(ShareChange(day, total, floating, _CAUSES[cause]))
    return WorldBars(**columns, applied=applied, shares=shares)


def tables(world_bars: WorldBars) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Ex-right events and share changes as flat tables (place first)."""
    applied = [
        (i, a.day, a.cash, a.rights_price, a.bonus, a.rights, a.held_back, *a.before, *a.after)
        for i, events in enumerate(world_bars.applied)
        for a in events
    ]
    shares = [
        (i, s.day, s.total, s.floating, _CAUSES.index(s.cause))
        for i, changes in enumerate(world_bars.shares)
        for s in changes
    ]
    return (
        np.asarray(applied, dtype=np.float64).reshape(-1, 11),
        np.asarray(shares, dtype=np.int64).reshape(-1, 5),
    )
