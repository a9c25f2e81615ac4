"""The market clock of a file: several processes see one time, somebody sets it, real upstreams refuse it."""

import json
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.errors import InputError
from core.simulated_clock import SimulatedClock
from resources.composition import market_clock
from resources.settings import load_settings

AT = datetime(2026, 9, 28, 15, 0)


def test_it_runs_as_fast_as_the_file_says_and_others_follow(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    mine, theirs = SimulatedClock(path), SimulatedClock(path)
    mine.begin(AT, rate=3600)
    time.sleep(0.05)
    assert theirs.now() - AT >= timedelta(minutes=3)
    assert not theirs.frozen

    back = AT - timedelta(hours=1)
    assert mine.change(at=back, rate=0.001) == back
    assert theirs.now() - back < timedelta(seconds=1)
    assert theirs.pace.rate == 0.001
    mine.change(rate=2)
    assert (theirs.pace.rate, theirs.now() - back < timedelta(minutes=1)) == (2, True)


@pytest.mark.parametrize("rate", [0, -1, 3601])
def test_a_rate_that_no_clock_has_is_refused(tmp_path: Path, rate: float) -> None:
    with pytest.raises(InputError, match="rate"):
        SimulatedClock(tmp_path / "clock.json").begin(AT, rate=rate)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        json.dumps({"at": "2026-09-28T15:00", "since": 0}),
        json.dumps({"at": "2026-09-28T15:00+08:00", "since": 0, "rate": 1}),
        json.dumps({"at": "2026-09-28T15:00", "since": 0, "rate": 0}),
    ],
)
def test_a_file_that_is_no_clock_is_refused_by_the_name_of_the_setting(tmp_path: Path, text: str) -> None:
    path = tmp_path / "clock.json"
    with pytest.raises(InputError, match="SAMPLE_CLOCK: there is no file"):
        SimulatedClock(path).now()
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"SAMPLE_CLOCK.*is no clock file"):
        SimulatedClock(path).now()


def test_it_is_the_market_clock_of_simulated_upstreams_alone(tmp_path: Path) -> None:
    path = tmp_path / "clock.json"
    SimulatedClock(path).begin(AT, rate=0.001)
    given = {"SAMPLE_CLOCK": str(path), "DATA_SOURCE": "mock"}
    settings = load_settings(given, dotenv=tmp_path / "none")
    clock = market_clock(settings)
    assert clock.now() - AT < timedelta(minutes=1)
    assert settings.why_idle(clock) is None

    for source in ("real", "direct"):
        with pytest.raises(InputError, match="SAMPLE_CLOCK: only with DATA_SOURCE=mock"):
            load_settings({**given, "DATA_SOURCE": source}, dotenv=tmp_path / "none")
    with pytest.raises(InputError, match="SAMPLE_CLOCK: not together with SAMPLE_NOW"):
        load_settings({**given, "SAMPLE_NOW": "2026-09-28T15:00"}, dotenv=tmp_path / "none")
