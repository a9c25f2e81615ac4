"""Other file sets than the known one: other dates and boards, young listings, nothing but bars."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.errors import NotFound
from simulated_market.world.replay import ReplayWorld
from simulated_market.world.replay_files import BARS, BASIC, INDICES, LIST, NAMES, locate
from tests.real_day import scenarios
from tests.real_day.__main__ import main
from tests.real_day.companies import Companies
from tests.real_day.compare import compare_all, compare_prices, compare_stored, read_stored
from tests.real_day.conftest import SLICE
from tests.real_day.figures import counts, run_section, set_section
from tests.real_day.findings import Section
from tests.real_day.rules import Band, band_of
from tests.real_day.services import RealDay
from tests.real_day.test_day import holds
from tests.real_day.truth import Truth, read
from tests.real_day.window import NotUsable, Window, window_of

LAST = "2026-07-10"
SESSIONS = 16
YOUNG = ("sh601318", 3)
"""A code of the main board, and how many sessions before the last its listing lies."""
BSE = ("sz000425", "bj920425")
ONLY_BARS = "bars_daily_raw_some_codes.csv"


def _frame(name: str) -> pd.DataFrame:
    return pd.read_csv(SLICE / name, dtype=str, keep_default_na=False)


def _other_dates(folder: Path) -> None:
    """The slice four years later: its last day is `LAST`, one stock is of the BSE, one is listed three
    sessions before the end, and changes in percent have two decimals."""
    bars, indices, basic = _frame(BARS), _frame(INDICES), _frame(BASIC)
    old = sorted(set(bars["date"]))
    new = dict(zip(old, shipped_calendar().last(len(old), LAST), strict=True))
    for frame in (bars, indices):
        frame["date"] = frame["date"].map(new)
    basic["list_date"] = [new.get(_iso(day), _iso(day)).replace("-", "") for day in basic["list_date"]]
    symbol, back = YOUNG
    first = new[old[-1 - back]]
    bars = bars[(bars["code"] != symbol) | (bars["date"] >= first)]
    basic.loc[basic["symbol"] == symbol[2:], "list_date"] = first.replace("-", "")
    bars.loc[bars["code"] == BSE[0], "code"] = BSE[1]
    mine = basic["symbol"] == BSE[0][2:]
    basic.loc[mine, ["ts_code", "symbol"]] = [f"{BSE[1][2:]}.BJ", BSE[1][2:]]
    bars["pctChg"] = [f"{float(change):.2f}" if change else "" for change in bars["pctChg"]]
    bars.to_csv(folder / "bars_daily_raw_shifted.csv", index=False)
    indices.to_csv(folder / "index_daily_tushare_shifted.csv", index=False)
    basic.to_csv(folder / "stock_basic_shifted.csv", index=False)
    for name in (LIST, NAMES):
        _frame(name).to_csv(folder / name.removesuffix(".gz"), index=False)


def _iso(day: str) -> str:
    return f"{day[:4]}-{day[4:6]}-{day[6:]}"


@contextmanager
def _loaded(files: Path, sessions: int, folder: Path) -> Iterator[tuple[RealDay, Truth]]:
    window = window_of(files, sessions)
    url = f"sqlite:///{folder / 'warehouse.sqlite3'}"
    with RealDay(ReplayWorld(files), files, window, url, folder / "data", in_memory=True) as day:
        day.load()
        yield day, read(files, window.since, window.today)


@pytest.fixture(scope="module")
def other_dates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealDay, Truth]]:
    files = tmp_path_factory.mktemp("other_dates")
    _other_dates(files)
    with _loaded(files, SESSIONS, tmp_path_factory.mktemp("other_dates_house")) as opened:
        yield opened


@pytest.fixture(scope="module")
def only_bars(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealDay, Truth]]:
    """Twenty codes of 2020 and 2021 in one file that has neither isST nor pctChg nor a ratio."""
    files = tmp_path_factory.mktemp("only_bars")
    body = gzip.decompress((SLICE / "bars_daily_raw_20_codes_2020_2021.csv.gz").read_bytes())
    (files / ONLY_BARS).write_bytes(body)
    with _loaded(files, 6, tmp_path_factory.mktemp("only_bars_house")) as opened:
        yield opened


def test_another_set_holds_on_its_own_dates(other_dates: tuple[RealDay, Truth]) -> None:
    day, truth = other_dates

    assert (day.window.today, len(day.window.dates), f"{day.window.now}") == (LAST, 16, f"{LAST} 15:45:00")
    assert truth.change_decimals == 2
    holds(run_section(day, day.runs))
    holds(compare_all(day.warehouse, truth, LAST))


def test_boards_and_young_listings_have_the_limits_of_their_dates(
    other_dates: tuple[RealDay, Truth],
) -> None:
    day, truth = other_dates
    stored = read_stored(day.warehouse, truth, LAST)

    def percent(symbol: str, date: str) -> int | None:
        bar = stored.bars[symbol, date]
        return None if bar["limit_up"] is None else round((bar["limit_up"] / bar["last_close"] - 1) * 100)

    assert counts(truth)["codes of bj"] == 1
    assert percent(BSE[1], LAST) == 30
    assert {percent(YOUNG[0], date) for date in day.window.dates[-4:]} == {None}
    assert percent("sz301269", LAST) is None
    assert (percent("sh600515", "2026-07-03"), percent("sh600515", "2026-07-06")) == (5, 10)


def test_a_wrong_row_of_another_set_is_seen(other_dates: tuple[RealDay, Truth]) -> None:
    day, truth = other_dates
    stored = read_stored(day.warehouse, truth, LAST)
    for symbol, column, value in (
        (BSE[1], "limit_up", 1.0),
        (YOUNG[0], "limit_up", 50.0),
        (YOUNG[0], "change_pct", 0.006 + float(stored.bars[YOUNG[0], LAST]["change_pct"])),
    ):
        key, kept = (symbol, LAST), stored.bars[symbol, LAST]
        stored.bars[key] = {**kept, column: value}
        section = compare_stored(stored, truth)
        stored.bars[key] = kept

        assert any(symbol in line for finding in section.failed for line in finding.detail), column


def test_a_change_of_two_decimals_is_held_to_two_decimals() -> None:
    def judged(reported: str, decimals: int) -> bool:
        truth = Truth(change_decimals=decimals)
        row = read(SLICE, "2022-07-29", "2022-07-29").rows["sh600519", "2022-07-29"]
        from dataclasses import replace

        row = replace(row, change_pct=float(reported))
        own = round((float(row.prices["close"]) / float(row.preclose) - 1) * 100, 4)
        bar = {**{name: float(value) for name, value in row.prices.items()}}
        section = Section("changes")
        compare_prices(
            [(row, {**bar, "last_close": float(row.preclose), "change_pct": own})],
            section,
            truth.change_decimals,
        )
        return not section.failed

    row = read(SLICE, "2022-07-29", "2022-07-29").rows["sh600519", "2022-07-29"]
    own = (float(row.prices["close"]) / float(row.preclose) - 1) * 100
    assert judged(f"{own:.2f}", 2)
    assert not judged(f"{own:.2f}", 6)
    assert not judged(f"{own + 0.011:.2f}", 2)


def test_a_correction_and_a_fault_are_found_in_another_set(other_dates: tuple[RealDay, Truth]) -> None:
    """The parts are played by codes of the set; the last test on it, since it changes what is stored."""
    day, truth = other_dates
    assert Companies(truth, day.window).boards == ("star", "gem")

    holds(scenarios.correction(day, truth))

    compared = compare_all(day.warehouse, truth, LAST)
    assert next(finding.name for finding in compared.failed) == "prices (open, high, low, close)"


def test_a_set_of_nothing_but_bars_holds(only_bars: tuple[RealDay, Truth]) -> None:
    day, truth = only_bars

    runs, section = run_section(day, day.runs), compare_all(day.warehouse, truth, "2021-09-22")

    holds(runs)
    holds(section)
    assert any("nothing to load without" in line for finding in runs.findings for line in finding.detail)
    shown = {finding.name: finding.figure for finding in section.findings}
    assert shown["rows under special treatment, limits of their date"] == "none in these files"
    assert shown["index bars (0 indices), every value"] == "none in these files"
    holds(scenarios.second_run(day))


def test_what_a_set_does_not_have_is_reported(tmp_path: Path) -> None:
    (tmp_path / ONLY_BARS).write_bytes(
        gzip.decompress((SLICE / "bars_daily_raw_20_codes_2020_2021.csv.gz").read_bytes())
    )
    window = window_of(tmp_path, 5)
    truth = read(tmp_path, window.since, window.today)

    absent, stands_in = set_section(tmp_path, window, truth).notes[-2:]

    assert stands_in.startswith("the mean of the set's own stocks")
    assert absent.startswith("absent, and not needed: index_daily_tushare_2005_2026.csv.gz, stock_list_em")


def test_an_earlier_day_and_a_shorter_window_can_be_asked_for() -> None:
    window = window_of(SLICE, 5, "2022-06-30")

    assert window.dates == ("2022-06-24", "2022-06-27", "2022-06-28", "2022-06-29", "2022-06-30")


def test_no_day_can_be_made_of_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotUsable, match="no daily bars"):
        window_of(tmp_path)
    assert main(["--data", str(tmp_path)]) == 2
    assert "no day of these files" in capsys.readouterr().err
    _frame(BARS).head(5).to_csv(tmp_path / ONLY_BARS, index=False)
    with pytest.raises(NotUsable, match="0 trade dates can be a window, 3 are the least"):
        window_of(tmp_path)
    (tmp_path / "bars_daily_raw_more.csv").write_text("date,code\n")
    with pytest.raises(NotFound, match="several files"):
        locate(tmp_path, BARS)


@pytest.mark.parametrize(
    ("symbol", "date", "st", "session", "band"),
    [
        ("sh600000", "2023-04-07", False, 1, Band(1440, 640)),
        ("sh600000", "2023-04-10", False, 5, None),
        ("sh600000", "2023-04-10", False, 6, Band(1100, 900)),
        ("sz300001", "2020-08-21", True, 900, Band(1050, 950)),
        ("sz300001", "2020-08-24", True, 900, Band(1200, 800)),
        ("sh688001", "2019-07-29", False, 5, None),
        ("bj920001", "2026-07-06", False, 1, None),
        ("bj920001", "2026-07-06", True, 2, Band(1300, 700)),
        ("sh600000", "2026-07-03", True, 900, Band(1050, 950)),
        ("sh600000", "2026-07-06", True, 900, Band(1100, 900)),
    ],
)
def test_the_second_writing_of_the_rules(
    symbol: str, date: str, st: bool, session: int, band: Band | None
) -> None:
    assert band_of(symbol, 1000, date=date, st=st, session=session) == band


@pytest.mark.real_data
def test_the_window_of_2022_of_the_full_set_is_what_it_was(real_data_dir: Path) -> None:
    window = window_of(real_data_dir, until="2022-07-29")
    held = counts(read(real_data_dir, window.since, window.today))

    assert Window(window.dates).since == "2022-05-05"
    assert (held["codes"], held["rows"], held["ex-right days"]) == (293, 17_813, 219)
    assert (held["cuts of more than 15 %"], held["suspended rows"]) == (22, 13)
    assert (held["rows under special treatment"], held["rows without limits"]) == (61, 1)
