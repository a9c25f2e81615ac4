"""`python -m tests.benchmarks.writing <data folder> <which of the two>`: the product's writer, one market day
after the other, until it is stopped."""

import signal
import sys
from pathlib import Path

from tests.benchmarks.panel_data import day_frames, trade_dates
from tests.benchmarks.store import open_store, write_day

DAYS = 8
PAUSE_DAYS = 130
"""The newest dates are what the readers read; the writers correct those before."""


def main(folder: Path, which: int) -> None:
    warehouse = open_store(f"sqlite:///{folder}/warehouse.sqlite3", folder)
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    days = trade_dates(PAUSE_DAYS)[which * DAYS : (which + 1) * DAYS]
    frames = list(day_frames(days))
    written = 0
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while not stopped:
        day, frame = frames[written % DAYS]
        frame["close"] += 0.01
        write_day(warehouse, day, frame)
        written += 1
    warehouse.close()
    sys.stdout.write(f"{written}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
