"""`ashare start` as a process on an empty folder, with the upstreams of the autumn of 2026: from the command
to a candle of the API and a frame of a notebook."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

import ashare
from resources.settings import Settings, load_settings
from serving_api.framework.envelope import PREFIX
from serving_api.inspection.__main__ import Caller
from simulated_market.world.loader import load_world
from simulated_market.world.model import PRICE_UNIT
from tests.serving_api.first_day import PATIENCE_S, environment

NOW, SINCE = "2026-08-21T20:00", "2026-01-05"
STOCK, FUND = "600040", "510001"
READY = "Ctrl-C stops everything"


class Platform:
    """A platform that `ashare start` runs, until its welcome."""

    def __init__(self, folder: Path, env: dict[str, str], *arguments: str) -> None:
        self.log, self.env = folder / "start.log", env
        self._begin = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ashare", "start", *arguments],
                cwd=folder, env=env, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    @property
    def said(self) -> str:
        """What this start printed; the log is of all of them."""
        return self.log.read_bytes()[self._begin :].decode()

    def ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while READY not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < deadline, self.said
            time.sleep(0.5)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start")


@pytest.fixture(scope="module")
def env(folder: Path) -> dict[str, str]:
    return environment(folder / "data", NOW) | {"DATA_SOURCE": "mock"}


@pytest.fixture(scope="module")
def platform(folder: Path, env: dict[str, str]) -> Iterator[Platform]:
    made = Platform(folder, env, "--codes", f"{STOCK},sh{FUND},000300.SH", "--since", SINCE)
    try:
        made.ready()
        yield made
    finally:
        made.stop()


def market_closes(symbol: str) -> tuple[list[str], list[float], list[float]]:
    """(dates, closes, forward-adjusted closes) of the simulated market since SINCE, from its own arrays: an
    ex-date is where the reference price is not the close before."""
    # As the platform starts it: to the end of the year after its clock's.
    world = load_world("synthetic", "S", Settings().sample_seed, state="autumn-2026", until=2027)
    security = world.find(symbol)
    assert security is not None
    bars = world.bars(security, datetime.fromisoformat(NOW))
    dates = [f"{day // 10_000}-{day // 100 % 100:02}-{day % 100:02}" for day in bars.date.tolist()]
    closes = [close / PRICE_UNIT for close in bars.close.tolist()]
    references = [price / PRICE_UNIT for price in bars.preclose.tolist()]
    factor, factors = 1.0, []
    for at, reference in enumerate(references):
        factor *= closes[at - 1] / reference if at else 1.0
        factors.append(factor)
    first = next(at for at, day in enumerate(dates) if day >= SINCE)
    adjusted = [close * one / factors[-1] for close, one in zip(closes, factors, strict=True)]
    return dates[first:], closes[first:], adjusted[first:]


@pytest.mark.parametrize(("code", "symbol"), [(STOCK, f"sh{STOCK}"), (FUND, f"sh{FUND}")])
def test_a_frame_holds_the_bars_of_the_market(platform: Platform, code: str, symbol: str) -> None:
    dates, closes, adjusted = market_closes(symbol)
    with ashare.open(platform.env["DATA_DIR"]) as market:
        raw = market.read("kline_daily", codes=[code], since=SINCE, adjust="none")
        forward = market.read("kline_daily", codes=[code], since=SINCE, adjust="qfq")

    assert raw["date"].astype(str).tolist() == dates
    assert raw["close"].tolist() == pytest.approx(closes)
    assert forward["close"].tolist() == pytest.approx(adjusted, abs=0.011)


def test_a_candle_of_the_api_and_the_lines_that_read_it(platform: Platform) -> None:
    dates, closes, _ = market_closes(f"sh{STOCK}")
    ask = Caller(load_settings(platform.env, dotenv=Path("none")))

    status, answer = ask("GET", f"{PREFIX}/stocks/{STOCK}/kline", {"days": "30", "adjust": "none"}, None)

    assert status == 200, answer
    assert [one["date"] for one in answer["results"]] == dates[-30:]
    assert [one["close"] for one in answer["results"]] == pytest.approx(closes[-30:])
    assert f"/console/stock/{STOCK}" in platform.said
    assert f'read("kline_daily", codes=["{STOCK}"], since="{SINCE}", adjust="qfq")' in platform.said
    assert "upstream calls, about:" in platform.said
    status, answer = ask("GET", f"{PREFIX}/datamgr/watch-list", {}, None)
    assert status == 200, answer
    assert {one["code"]: one["loaded_until"] for one in answer["results"]} == {
        STOCK: dates[-1],
        FUND: dates[-1],
        "sh000300": dates[-1],
    }


def test_the_next_start_goes_on_where_it_was(platform: Platform, folder: Path) -> None:
    platform.stop()
    again = Platform(folder, platform.env)
    try:
        again.ready()
        assert "loading the days since the last one" in again.said
        assert f"{STOCK}, {FUND}, sh000300" in again.said.rpartition("watched")[2]
    finally:
        again.stop()


def test_a_folder_of_the_simulated_market_is_not_filled_from_the_real_one(
    platform: Platform, folder: Path
) -> None:
    platform.stop()
    refused = Platform(folder, platform.env | {"DATA_SOURCE": "real"})

    assert refused.process.wait(120) == 1
    assert "was filled from the simulated market" in refused.said
