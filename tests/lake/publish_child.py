"""Publishes a table, for a test that kills it: `python -m tests.lake.publish_child URL LAKE`."""

import sys
from datetime import datetime
from pathlib import Path

from core.clock import FrozenClock
from resources.lake.location import Lake
from resources.lake.publishing import Publisher
from resources.warehouse.warehouse import Warehouse
from tests.lake.conftest import BARS, TABLES


def main(url: str, lake: str) -> None:
    warehouse = Warehouse(
        url, TABLES, clock=FrozenClock(datetime(2026, 8, 20, 20)), payload_folder=Path(lake).parent
    )
    print("begins", flush=True)
    Publisher(warehouse, Lake(lake)).publish(BARS)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
