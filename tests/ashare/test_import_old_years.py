"""Old years of a package are in column files; whoever reads sees one series, whatever is where."""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastapi.testclient import TestClient

import ashare
from ashare.main import main
from core.calendar import shipped_calendar
from platform_assets.pipeline.imports import loading
from resources.settings import load_settings
from resources.upstreams.tdx import corporate
from resources.upstreams.tdx.instruments import instrument
from resources.warehouse.writer import Writer
from serving_api.app import create_app
from tests.ashare.conftest import CommandLine
from tests.serving_api.market import bar, put
from tests.upstreams.tdx.recorded import payload
from tests.upstreams.tdx_packages.written import day_file, event_file, zipped

DAYS = tuple(shipped_calendar().between("2026-06-29", "2026-07-03"))
BORDER = DAYS[3]


def bars(price: int, days: tuple[str, ...] = DAYS, scale: int = 100, mean: float = 1.0) -> bytes:
    """Open at `price`, close 0.02 higher, each day 0.10 above the one before."""
    rows = []
    for at, day in enumerate(days):
        low = price + at * 10
        volume = 1_000_000 + at
        rows.append((int(day.replace("-", "")), low, low + 3, low, low + 2,
                     volume * mean * (low + 1) / scale, volume, 65536))  # fmt: skip
    return day_file(rows)


def package(folder: Path, name: str = "hsjday.zip", days: tuple[str, ...] = DAYS, first: int = 1000) -> Path:
    path = folder / name
    path.write_bytes(zipped({
        "sh\\lday\\sh600000.day": bars(first, days),
        "sh\\lday\\sh510300.day": bars(4700, days, scale=1000),
        "sh\\lday\\sh000300.day": bars(470_000, days, mean=0.3),
        "sz\\lday\\sz000002.day": bars(1100, days[1:]),
        "gbbq": event_file([(1, "600000", 20260701, 1, 1.0, 0.0, 0.0, 0.0)]),
    }))  # fmt: skip
    return path


CODES = ["600000", "510300", "000002"]


def imported(cli: CommandLine, path: Path, border: str | None = BORDER) -> dict[str, Any]:
    """Facts of each dataset of an import."""
    where = () if border is None else ("--columns-before", border)
    return {one["dataset"]: one for one in cli.result("import", str(path), *where)["datasets"]}


@contextmanager
def another_warehouse(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty installation; commands inside go there."""
    folder = cli.folder / "other"
    folder.mkdir()
    with monkeypatch.context() as there:
        there.setenv("DATA_DIR", str(folder))
        there.setenv("WAREHOUSE_URL", f"sqlite:///{folder / 'warehouse.sqlite3'}")
        yield folder


def read(folder: Path, dataset: str = "kline_daily", **how: Any) -> pd.DataFrame:
    with ashare.open(str(folder)) as market:
        return market.read(dataset, **how)


def answered(path: str) -> Any:
    with TestClient(create_app(load_settings(os.environ))) as client:
        answer = client.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_the_series_is_that_of_a_warehouse_that_holds_all_of_it(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = imported(cli, package(cli.folder))
    assert {name: one["in_column_files"] for name, one in done.items()} == {
        "exright": 0, "kline_daily": 8, "index_daily": 3,
    }  # fmt: skip
    (held,) = cli.warehouse.query("SELECT COUNT(*), MIN(date) FROM fusion_kline_daily WHERE code='600000'")
    assert (held[0], str(held[1])) == (2, BORDER)

    ours = {
        adjust: read(cli.folder / "data", codes=CODES, adjust=adjust) for adjust in ("none", "qfq", "hfq")
    }
    index = read(cli.folder / "data", "index_daily", codes=["000300.SH"])
    charts = {code: answered(f"/stocks/{code}/kline?days=30&adjust=qfq") for code in CODES}
    with another_warehouse(cli, monkeypatch) as other:
        assert main(["import", str(package(cli.folder, "whole.zip"))]) == 0
        for adjust, frame in ours.items():
            pd.testing.assert_frame_equal(frame, read(other, codes=CODES, adjust=adjust))
        pd.testing.assert_frame_equal(index, read(other, "index_daily", codes=["000300.SH"]))
        for code, chart in charts.items():
            theirs = answered(f"/stocks/{code}/kline?days=30&adjust=qfq")
            assert {**chart, "request_id": 0} == {**theirs, "request_id": 0}
    assert len(ours["none"]) == 14
    # 1 CNY per 10 shares on the third day, after a close of 10.12.
    before, after = (ours["qfq"].query("code == '600000'")["close"].iloc[at] for at in (1, 2))
    assert (before, after) == (pytest.approx(10.12 * 10.02 / 10.12), pytest.approx(10.22))


@pytest.mark.parametrize("border", [DAYS[0], DAYS[2], "2026-07-04"])
def test_no_border_is_seen(cli: CommandLine, border: str) -> None:
    """Wherever it lies: nothing before it, a part, all."""
    imported(cli, package(cli.folder), border)
    rows = read(cli.folder / "data", codes=["600000"])
    assert [str(day)[:10] for day in rows["date"]] == list(DAYS)
    assert rows["close"].tolist() == [10.02, 10.12, 10.22, 10.32, 10.42]
    assert rows["last_close"].tolist()[1:] == [10.02, 10.02, 10.22, 10.32]
    some = read(cli.folder / "data", since=DAYS[1], until=DAYS[3])
    assert sorted(set(some["code"])) == ["000002", "510300", "600000"]
    assert len(some) == 9
    answer = answered("/stocks/600000/kline?days=30&adjust=none")
    assert [one["date"] for one in answer["results"]] == list(DAYS)
    assert answer["first_date"] == DAYS[0]
    for name in ("a.csv", "b.parquet"):
        out = cli.folder / name
        cli.result("export", "kline_daily", "--out", str(out), "--codes", "600000,000002")
        frame = pd.read_csv(out, dtype={"code": str}) if name == "a.csv" else pd.read_parquet(out)
        assert [(code, str(day)[:10]) for code, day in zip(frame["code"], frame["date"], strict=True)] == [
            *(("000002", day) for day in DAYS[1:]), *(("600000", day) for day in DAYS),
        ]  # fmt: skip


def test_what_both_hold_is_read_from_the_warehouse(cli: CommandLine) -> None:
    """A correction of an old day, and an import whose days the warehouse has already: both directions."""
    kline = cli.warehouse.table("fusion_kline_daily")
    put(cli.warehouse, kline, [{**bar("600000", DAYS[0], 9.0), "market": "SH"}])
    imported(cli, package(cli.folder))
    put(cli.warehouse, kline, [{**bar("600000", DAYS[1], 9.5), "market": "SH"}])

    for rows in (
        read(cli.folder / "data", codes=["600000"]),
        read(cli.folder / "data", since=DAYS[0], until=DAYS[-1]).query("code == '600000'"),
    ):
        assert rows["close"].tolist() == [9.0, 9.5, 10.22, 10.32, 10.42]
    chart = answered("/stocks/600000/kline?days=30&adjust=none")["results"]
    assert [one["close"] for one in chart] == [9.0, 9.5, 10.22, 10.32, 10.42]


def test_a_past_time_shows_what_was_known_then(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bar is known from the close of its day; a later package, and a correction, from when they came."""
    imported(cli, package(cli.folder))
    monkeypatch.setenv("SAMPLE_NOW", "2026-08-22T10:00")
    done = imported(cli, package(cli.folder, "later.zip", first=1010))
    assert done["kline_daily"]["written"] == 5, "the days of one stock; the other rows are there"

    def closes(as_of: str | None) -> list[float]:
        rows = read(cli.folder / "data", codes=["600000"], as_of=as_of)
        return list(rows["close"])

    assert closes(None) == [10.12, 10.22, 10.32, 10.42, 10.52]
    assert closes("2026-08-21T23:00") == [10.02, 10.12, 10.22, 10.32, 10.42]
    assert closes(f"{DAYS[1]}T14:00") == [10.02]
    assert closes(f"{DAYS[1]}T15:00") == [10.02, 10.12]
    then = answered(f"/stocks/600000/kline?days=30&adjust=none&as_of={DAYS[1]}")
    assert [one["close"] for one in then["results"]] == [10.02, 10.12]
    found = cli.result("lineage", "kline_daily", "code=600000", f"date={DAYS[0]}", "--column", "close")
    assert [one["changed"] for one in found["revisions"]] == [{"close": {"old": 10.02, "new": 10.12}}, {}]


def test_a_dry_run_shows_the_border(cli: CommandLine) -> None:
    path = package(cli.folder)
    found = cli.result("import", str(path), "--dry-run", "--columns-before", BORDER)["datasets"]
    previews = {one["dataset"]: one for one in found}
    assert (previews["kline_daily"]["border"], previews["kline_daily"]["in_column_files"]) == (BORDER, 8)
    assert previews["exright"]["border"] is None
    assert cli("import", str(path), "--dry-run", "--columns-before", BORDER) == 0
    assert f"from before {BORDER} into column files: 8 rows" in cli.out
    # Few bars all go to the warehouse.
    assert cli("import", str(path), "--dry-run") == 0
    assert "into column files" not in cli.out


def test_the_same_package_again_writes_nothing(cli: CommandLine) -> None:
    path = package(cli.folder)
    imported(cli, path)
    before = sorted(file.name for file in (cli.folder / "data" / "lake_old_years").rglob("*.parquet"))

    assert all(one["before"] for one in imported(cli, path).values())
    # One day more, under another hash: what is there is compared, and not written again.
    longer = package(cli.folder, "longer.zip", (*DAYS, shipped_calendar().offset(DAYS[-1], 1)))
    done = imported(cli, longer)

    assert (done["kline_daily"]["in_column_files"], done["kline_daily"]["written"]) == (8, 3)
    assert sorted(file.name for file in (cli.folder / "data" / "lake_old_years").rglob("*.parquet")) == before


def test_lineage_leads_to_the_record_in_the_file(cli: CommandLine) -> None:
    done = imported(cli, package(cli.folder))
    found = cli.result("lineage", "kline_daily", "code=000002", f"date={DAYS[2]}")
    (raw,) = found["raw"]
    digest = done["kline_daily"]["file_hash"]
    assert raw["file"] == {"name": "hsjday.zip/sz/lday/sz000002.day", "row": 2, "sha256": digest}
    (batch,) = found["batches"]
    assert (batch["status"], batch["rows_written"]) == ("success", 8)


def test_a_process_that_ends_before_its_batch_is_recorded_gets_it_by_the_same_call(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are readable by then, and the import begins in another month."""
    path = package(cli.folder)

    def killed(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Writer, "record_column_files", killed)
        with suppress(KeyboardInterrupt):
            cli("import", str(path), "--columns-before", BORDER)
    done = imported(cli, path)

    assert done["kline_daily"]["in_column_files"] == 8
    assert len(read(cli.folder / "data", codes=CODES)) == 14
    for code, day in (("000002", DAYS[2]), ("600000", DAYS[0])):
        (batch,) = cli.result("lineage", "kline_daily", f"code={code}", f"date={day}")["batches"]
        assert (batch["status"], batch["rows_written"]) == ("success", 8)


def test_a_border_stays_where_an_import_began(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(cli.folder)
    with monkeypatch.context() as broken:
        broken.setattr(loading, "_month", lambda *_: 1 / 0)
        with suppress(ZeroDivisionError):
            cli("import", str(path), "--columns-before", BORDER)
    imported(cli, path, "2026-07-04")

    rows = read(cli.folder / "data", codes=["600000"])
    assert [str(day)[:10] for day in rows["date"]] == list(DAYS)


def test_two_processes_do_what_one_does(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large packages alone are parted; an error in one of them comes through as it is."""
    monkeypatch.setattr(loading, "FEW", 0)
    done = imported(cli, package(cli.folder))
    assert {name: one["in_column_files"] for name, one in done.items() if name != "exright"} == {
        "kline_daily": 8, "index_daily": 3,
    }  # fmt: skip
    rows = read(cli.folder / "data", codes=CODES)
    assert len(rows) == 14
    (batch,) = cli.result("lineage", "kline_daily", "code=600000", f"date={DAYS[0]}")["batches"]
    assert batch["rows_written"] == 8

    wrong = cli.folder / "wrong.zip"
    wrong.write_bytes(zipped({"sh600004.day": bars(1000)[:-5]}))
    fault = cli.fault("import", str(wrong), "--columns-before", BORDER)
    assert "155 bytes are no whole records" in str(fault), fault


def test_a_row_that_is_refused_leaves_nothing_behind(cli: CommandLine) -> None:
    path = cli.folder / "hsjday.zip"
    sunday = ("2026-06-28", *DAYS)
    path.write_bytes(zipped({"sh600000.day": bars(1000, sunday), "sz000002.day": bars(1100)}))

    fault = cli.fault("import", str(path), "--columns-before", BORDER)

    assert "no trade date" in fault["error"]
    assert list((cli.folder / "data" / "lake_old_years").rglob("*.parquet")) == []
    assert read(cli.folder / "data", since=DAYS[0], until=DAYS[-1]).empty
    done = cli.result("import", str(path), "--columns-before", BORDER, "--skip-refused")["datasets"]
    assert [(one["rows"], one["refused"]) for one in done] == [(10, 1)]


@pytest.mark.real_data
@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_every_bar_of_real_files_is_read_as_it_is(cli: CommandLine, real_data_dir: Path) -> None:
    """Two banks and the index of Shanghai, from their first bars on. One bar of the index has its high below
    its low: it is refused by its number, and left out when that is said."""
    files = real_data_dir / "tdx_files"
    path = cli.folder / "hsjday.zip"
    path.write_bytes(zipped({f"{name}.day": (files / f"{name}.day").read_bytes()
                             for name in ("sh600000", "sz000001", "sh000001")}))  # fmt: skip

    fault = cli.fault("import", str(path), "--columns-before", "2021-01-01")
    assert "sh000001.day, row 379" in fault["error"]
    done = cli.result("import", str(path), "--columns-before", "2021-01-01", "--skip-refused")["datasets"]

    assert [one["refused"] for one in done] == [0, 1]
    for name, dataset, code in (("sh600000", "kline_daily", "600000"), ("sz000001", "kline_daily", "000001"),
                                ("sh000001", "index_daily", "sh000001")):  # fmt: skip
        theirs = list(struct.iter_unpack("<IIIIIfII", (files / f"{name}.day").read_bytes()))
        names = ["date", "open", "high", "low", "close", "volume"]
        rows = read(cli.folder / "data", dataset, codes=[code], until="2025-12-31", columns=names)
        shares = 100 if dataset == "index_daily" else 1
        assert [
            (int(str(day)[:10].replace("-", "")), o, h, low, c, volume)
            for day, o, h, low, c, volume in rows[names].itertuples(index=False)
        ] == [(day, o / 100, h / 100, low / 100, c / 100, volume * shares)
              for day, o, h, low, c, _, volume, _ in theirs if h >= low]  # fmt: skip


@pytest.mark.real_data
@pytest.mark.parametrize("warehouse_url", ["sqlite"], indirect=True)
def test_adjusted_prices_of_real_files_are_those_that_are_published(
    cli: CommandLine, real_data_dir: Path
) -> None:
    """Bars of sz000001 from the terminal's file under its recorded events, against the adjusted series that a
    quote site published in 2026: 2,690 dates with nine events between. Its factor reaches to 2026, so both
    differ by one number; what is left is the rounding of its prices and factors."""
    recorded = pd.DataFrame(corporate.parse_xdxr(payload("tdx_gbbq_sz000001.hex"), instrument("sz000001")))
    names = ["date", "category", "f1", "f2", "f3", "f4"]
    events = [(0, "000001", int(str(day).replace("-", "")), int(category), *values)
              for day, category, *values in recorded[names].itertuples(index=False)]  # fmt: skip
    path = cli.folder / "hsjday.zip"
    bars = (real_data_dir / "tdx_files" / "sz000001.day").read_bytes()
    path.write_bytes(zipped({"sz000001.day": bars, "gbbq": event_file(events)}))
    cli.result("import", str(path), "--columns-before", "2021-01-01")

    wanted = {"codes": ["000001"], "since": "2010-01-01", "until": "2021-05-14", "columns": ["date", "close"]}
    ours = read(cli.folder / "data", adjust="qfq", **wanted)
    theirs = pd.read_csv(
        real_data_dir / "bars_daily_qfq_bluechip47_2010_2026.csv.gz", dtype={"code": str}
    ).query("code == '000001'")
    both = ours.assign(date=ours["date"].astype(str)).merge(theirs, on="date", suffixes=("", "_published"))

    assert len(both) == 2690
    share = (both["close_published"] / both["close"]).median()
    assert (both["close_published"] - both["close"] * share).abs().max() < 0.015
