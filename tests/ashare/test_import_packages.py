"""`ashare import` of the publisher's packages and of an installation's files: no mapping is needed."""

import struct
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from tests.ashare.conftest import DAYS, CommandLine
from tests.serving_api.market import put
from tests.upstreams.tdx_packages.written import (
    date_members,
    day_file,
    event_file,
    flat_bars,
    report_file,
    zipped,
)

TABLE = "fusion_kline_daily"
OLD = tuple(shipped_calendar().between("2026-06-29", "2026-07-03"))
SRC = "import:tdx_files"


def bars(price: int, days: tuple[str, ...] = OLD, scale: int = 100, mean: float = 1.0) -> bytes:
    """A rising security: open at `price`, close 0.02 higher, each day 0.10 above the one before."""
    rows = []
    for at, day in enumerate(days):
        low = price + at * 10
        volume = 1_000_000 + at
        amount = volume * mean * (low + 1) / scale
        rows.append((int(day.replace("-", "")), low, low + 3, low, low + 2, amount, volume, 65536))
    return day_file(rows)


def installation(cli: CommandLine) -> Path:
    """An installation's folder: a stock, a fund, an index, a bond, a B share, minutes, events, a report."""
    folder = cli.folder / "new_tdx"
    files = {
        "vipdoc/sh/lday/sh600000.day": bars(1000),
        "vipdoc/sh/lday/sh510300.day": bars(4700, scale=1000),
        "vipdoc/sh/lday/sh000300.day": bars(470_000, mean=0.3),
        "vipdoc/sh/lday/sh900901.day": bars(500, scale=1000),
        "vipdoc/sh/minline/sh600000.lc1": bytes(32),
        "vipdoc/sz/lday/sz127045.day": bars(11_850),
        "vipdoc/cw/gpcw20260331.zip": zipped({"gpcw20260331.dat": REPORT}),
        "vipdoc/ds/lday/31#00700.day": bytes(32),
        "T0002/hq_cache/gbbq": event_file([(1, "600000", 20260701, 1, 1.0, 0.0, 0.0, 0.0)]),
        "T0002/hq_cache/base.dbf": b"dbf",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


REPORT = report_file(
    20260331,
    {
        "600000": {1: 0.61, 40: 9.4e12, 63: 8.7e12, 72: 7e11, 74: 4.59e10, 96: 1.76e10, 314: 260430},
        "000001": {1: 0.62, 40: 5.8e12, 74: 33.0e9, 96: 14.1e9},
        "000002": {},
    },
)  # fmt: skip


def stored(cli: CommandLine, table: str, what: str, where: str = f"src='{SRC}'") -> list[Any]:
    return [
        tuple(str(one) for one in row)
        for row in cli.warehouse.query(f"SELECT {what} FROM {table} WHERE {where} ORDER BY 1, 2")
    ]


def test_an_installation_is_read_without_a_mapping(cli: CommandLine) -> None:
    done = cli.result("import", str(installation(cli)))

    assert [(one["dataset"], one["rows"]) for one in done["datasets"]] == [
        ("exright", 1), ("kline_daily", 15), ("index_daily", 5), ("finance_indicator", 2),
    ]  # fmt: skip
    assert {one["source"] for one in done["datasets"]} == {SRC}
    assert done["others"] == 1
    assert {name.rpartition("/")[2]: why.split(" (")[0] for name, why in done["left_out"].items()} == {
        "sh900901.day": "no dataset holds daily bars of this kind",
        "sh600000.lc1": "minute bars: no dataset keeps those of files",
        "31#00700.day": "a name of no mainland security",
    }
    rows = stored(
        cli, TABLE, "code, date, open, close, volume, last_close", f"src='{SRC}' AND date<='2026-06-30'"
    )
    assert [(code, float(o), float(c), v) for code, _, o, c, v, _ in rows] == [
        ("127045", 118.5, 118.52, "1000000"), ("127045", 118.6, 118.62, "1000001"),
        ("510300", 4.7, 4.702, "1000000"), ("510300", 4.71, 4.712, "1000001"),
        ("600000", 10.0, 10.02, "1000000"), ("600000", 10.1, 10.12, "1000001"),
    ]  # fmt: skip
    index = stored(cli, "fusion_index_daily", "date, code, name, close, volume, last_close")
    assert (index[1][1], index[1][2], float(index[1][3]), index[1][4], float(index[1][5])) == (
        "sh000300", "沪深300", 4700.12, "100000100", 4700.02,
    )  # fmt: skip


def test_events_come_before_the_bars_that_need_them(cli: CommandLine) -> None:
    """1 CNY per 10 shares on 2026-07-01, after a close of 10.12: 10.02 is the reference price."""
    cli.result("import", str(installation(cli)))

    ((_, day, cash, factor, src),) = stored(cli, "ref_exright", "code, date, cash_per10, factor, src")
    assert (day, float(cash), src) == ("2026-07-01", 1.0, SRC)
    assert float(factor) == pytest.approx(10.12 / 10.02)
    rows = stored(cli, TABLE, "date, last_close, adj_factor", "code='600000' AND date>'2026-06-29'")
    found = {day: (float(reference), float(adjusted)) for day, reference, adjusted in rows}
    assert found["2026-06-30"] == (10.02, 1.0)
    assert found["2026-07-01"] == (10.02, pytest.approx(10.12 / 10.02))
    assert found["2026-07-02"][0] == 10.22


def test_reports_are_known_from_their_announcement_and_marked(cli: CommandLine) -> None:
    cli.result("import", str(installation(cli)))

    rows = stored(cli, "fusion_finance_indicator", "code, report_type, ann_date, revenue, roe, quality_flags")
    assert [(code, kind, day, float(revenue)) for code, kind, day, revenue, *_ in rows] == [
        ("000001", "Q1", "2026-05-01", pytest.approx(33.0e9, rel=1e-7)),  # the day after the legal deadline
        ("600000", "Q1", "2026-04-30", pytest.approx(45.9e9, rel=1e-7)),
    ]
    flags = {code: flags for code, *_, flags in rows}
    assert "figures_are_as_announced" in flags["600000"]
    assert "notice_is_stated" in flags["000001"]
    assert "notice_is_stated" not in flags["600000"]
    seen = cli.warehouse.query("SELECT code, valid_from FROM fusion_finance_indicator ORDER BY code")
    assert [str(day)[:10] for _, day in seen] == ["2026-05-01", "2026-04-30"]


def test_a_dry_run_shows_each_dataset_and_writes_nothing(cli: CommandLine) -> None:
    folder = installation(cli)
    dry = cli.result("import", str(folder), "--dry-run")

    assert {one["dataset"]: (one["rows"], one["since"], one["until"], one["compared"]["new"])
            for one in dry["datasets"]} == {
        "exright": (1, "2026-07-01", "2026-07-01", 1),
        "kline_daily": (15, OLD[0], OLD[-1], 15),
        "index_daily": (5, OLD[0], OLD[-1], 5),
        "finance_indicator": (2, "2026-03-31", "2026-03-31", 2),
    }  # fmt: skip
    assert len(dry["left_out"]) == 3
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_import") == [(0,)]
    assert cli("import", str(folder), "--dry-run") == 0
    assert "15 rows of kline_daily" in cli.out
    assert "left out: " in cli.out


def test_the_second_time_writes_nothing(cli: CommandLine) -> None:
    folder = installation(cli)
    cli.result("import", str(folder))
    before = cli.warehouse.query("SELECT COUNT(*) FROM sys_batch")

    again = cli.result("import", str(folder))

    assert all(one["before"] for one in again["datasets"])
    assert cli.warehouse.query("SELECT COUNT(*) FROM sys_batch") == before
    # One day more: what was there is read, and not written again.
    path = folder / "vipdoc/sh/lday/sh600000.day"
    day = shipped_calendar().offset(OLD[-1], 1)
    path.write_bytes(bars(1000, (*OLD, day)))
    more = {one["dataset"]: one["written"] for one in cli.result("import", str(folder))["datasets"]}
    assert more == {"exright": 0, "kline_daily": 1, "index_daily": 0, "finance_indicator": 0}


def test_lineage_leads_to_the_record_in_the_zip(cli: CommandLine) -> None:
    path = cli.folder / "hsjday.zip"
    path.write_bytes(zipped({"sh\\lday\\sh600000.day": bars(1000), "sz\\lday\\sz000001.day": bars(1100)}))
    (done,) = cli.result("import", str(path))["datasets"]

    found = cli.result("lineage", TABLE, "code=000001", f"date={OLD[1]}")

    (raw,) = found["raw"]
    assert raw["file"] == {"name": "hsjday.zip/sz/lday/sz000001.day", "row": 2, "sha256": done["file_hash"]}


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("sh600000.day", bars(1000)[:-1], "cut off"),
        ("sh600000.day", flat_bars(1013, 1013.0), "another unit"),
        ("sh510300.day", bars(470), "another scale"),
        ("sh688001.day", bars(361_760, ("2019-07-19",)), "amount / volume|before the first session"),
        ("gpcw20261231.dat", report_file(20261231, {"600000": {74: 1.0}}), "has not ended"),
        ("gpcw20260630.dat", report_file(20260630, {"600000": {}}), "no company has reported"),
        ("gbbq", event_file([(1, "600000", 20260701, 1, 1.0, 0.0, 0.0, 0.0)])[:-1], "cut off"),
        ("hsjday.zip", b"<html>a check for browsers</html>", "cannot be read as a zip"),
        ("hsjday.zip", zipped({"../sh600000.day": bars(1000)}), "a member named"),
        ("hsjday.zip", zipped({"readme.txt": b""}), "holds nothing that can be imported"),
        ("sh600000.lc1", struct.pack("<HHfffffII", 0, 0, *[0.0] * 5, 0, 0), "minute bars"),
        ("notes.txt", b"", "holds nothing that can be imported"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_what_it_says_is_refused(
    cli: CommandLine, name: str, content: bytes, why: str
) -> None:
    path = cli.folder / name
    path.write_bytes(content)
    fault = cli.fault("import", str(path))
    assert fault["parameter"] == "file"
    assert any(part in fault["error"] for part in why.split("|")), fault["error"]
    assert cli.warehouse.query("SELECT COUNT(*) FROM raw_import_kline_daily") == [(0,)]


def test_bars_of_another_security_are_left_out_of_a_package(cli: CommandLine) -> None:
    """600519 closes at 11 and 000001 at 10 on the newest dates; the file under the first name has the
    second's."""
    path = cli.folder / "hsjday.zip"
    flat = day_file((int(day.replace("-", "")), 1000, 1000, 1000, 1000, 1e7, 1_000_000, 0) for day in DAYS)
    path.write_bytes(zipped({"sh600519.day": flat, "sz000001.day": flat, "sh600000.day": bars(1000)}))

    done = cli.result("import", str(path))

    assert list(done["left_out"]) == ["hsjday.zip/sh600519.day"]
    assert "10 and 11 on 2026-08-21, 3 of 3 dates" in done["left_out"]["hsjday.zip/sh600519.day"]
    ((reason,),) = cli.warehouse.query(
        "SELECT message FROM sys_quality_record WHERE check_name='import:file'"
    )
    assert "sh600519.day" in reason


def test_bars_from_before_the_listing_are_left_out(cli: CommandLine) -> None:
    master = cli.warehouse.table("fusion_stock_master")
    row = {"code": "600000", "name": "浦发银行", "market": "SH", "sec_type": "stock", "board": "main",
           "list_date": "2026-07-01", "is_st": False, "status": "listed"}  # fmt: skip
    put(cli.warehouse, master, [{name: value for name, value in row.items() if name in master.names}])
    path = cli.folder / "sh600000.day"
    path.write_bytes(bars(1000))
    assert "before it was listed on 2026-07-01" in cli.fault("import", str(path))["error"]


def test_the_bar_of_a_running_session_is_left_out(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMPLE_NOW", "2026-08-21T11:00:00")
    path = cli.folder / "sz000002.day"
    path.write_bytes(bars(1000, DAYS))
    cli.result("import", str(path))
    assert [day for _, day in stored(cli, TABLE, "code, date")] == list(DAYS[:2])


def test_a_day_package_is_the_bars_of_its_date(cli: CommandLine) -> None:
    path = cli.folder / "20260703.zip"
    members = date_members(OLD[-1], {
        "sh600519": (1485.0, 1489.0, 1496.5, 1463.15, 1468.8, 3_555_100, 5_239_992_522.0),
        "sz000001": (10.92, 0.0, 0.0, 0.0, 0.0, 0, 0.0),
        "sh000300": (4700.0, 4700.0, 4700.0, 4700.0, 4700.0, 10_000, 1.4e7),
        "bj920002": (19.8, 19.9, 20.1, 19.5, 19.7, 10_000, 197_000.0),
    })  # fmt: skip
    path.write_bytes(zipped(members))

    (done,) = cli.result("import", str(path))["datasets"]

    assert (done["dataset"], done["rows"]) == ("kline_daily", 3)
    rows = stored(cli, TABLE, "code, last_close, close, volume, amount")
    assert [(code, float(last), float(close), volume, float(amount))
            for code, last, close, volume, amount in rows] == [
        ("000001", 10.92, 10.92, "0", 0.0),
        ("600519", 1485.0, 1468.8, "3555100", 5_239_992_522.0),
        ("920002", 19.8, 19.7, "10000", 197_000.0),
    ]  # fmt: skip


@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_the_reference_price_after_a_long_suspension_is_the_close_before_it(cli: CommandLine) -> None:
    path = cli.folder / "sh600000.day"
    path.write_bytes(bars(1000, ("2026-05-28", "2026-05-29", "2026-06-30")))
    cli.result("import", str(path))
    rows = stored(cli, TABLE, "date, last_close", f"src='{SRC}' AND date>'2026-05-28'")
    assert [(day, float(price)) for day, price in rows] == [("2026-05-29", 10.02), ("2026-06-30", 10.12)]


@pytest.mark.real_data
def test_every_bar_of_real_files_is_stored_as_it_is(cli: CommandLine, real_data_dir: Path) -> None:
    """Two hundred sessions of a real stock, and the first sessions of an index."""
    content = (real_data_dir / "tdx_files" / "sh600000.day").read_bytes()[-32 * 200 :]
    path = cli.folder / "sh600000.day"
    path.write_bytes(content)
    cli.result("import", str(path))
    theirs = list(struct.iter_unpack("<IIIIIfII", content))
    ours = stored(cli, TABLE, "date, code, open, high, low, close, amount, volume")
    assert [(int(day.replace("-", "")), *map(float, numbers)) for day, _, *numbers in ours] == [
        (day, o / 100, h / 100, low / 100, c / 100, pytest.approx(amount, abs=0.01), volume)
        for day, o, h, low, c, amount, volume, _ in theirs
    ]  # fmt: skip


@pytest.mark.real_data
def test_the_first_session_of_the_exchange_is_loaded(cli: CommandLine, real_data_dir: Path) -> None:
    content = (real_data_dir / "tdx_files" / "sh000001.day").read_bytes()[: 32 * 20]
    (cli.folder / "sh000001.day").write_bytes(content)
    first = day_file([(19901219, 18530, 18530, 18530, 18530, 37060.0, 200, 0)])
    (cli.folder / "sh600601.day").write_bytes(first)
    cli.result("import", str(cli.folder / "sh000001.day"))
    cli.result("import", str(cli.folder / "sh600601.day"))
    assert stored(cli, "fusion_index_daily", "date, code, close")[0][0] == "1990-12-19"
    assert stored(cli, TABLE, "date, code")[0] == ("1990-12-19", "600601")
