"""What a start of a watch list refuses."""

from datetime import datetime
from pathlib import Path

import pytest

from resources.run_lock import StartRefused
from resources.warehouse.ledger.watch_list import Watched
from schedules.supervisor.watching import WatchRequest, refuse_market

HELD = Watched("600519", "2016-01-01", "2026-08-21", "supervisor", datetime(2026, 8, 21))
NAMED = WatchRequest(("600519",), "2016-01-01")
NOTHING = WatchRequest((), "")


def test_a_watch_list_needs_codes_and_a_folder_of_its_own() -> None:
    with pytest.raises(StartRefused, match=r"^codes: nothing is on the watch list yet"):
        refuse_market([], NOTHING, Path("data"), loaded_before=False)
    with pytest.raises(StartRefused, match=r"^DATA_DIR: data holds the whole market"):
        refuse_market([], NAMED, Path("data"), loaded_before=True)


@pytest.mark.parametrize("asked", [None, NOTHING, NAMED])
def test_what_is_watched_goes_on(asked: WatchRequest | None) -> None:
    refuse_market([HELD], asked, Path("data"), loaded_before=True)


def test_a_whole_market_starts_as_before() -> None:
    refuse_market([], None, Path("data"), loaded_before=True)
