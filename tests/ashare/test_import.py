"""`ashare import`: files of users become rows like those of upstreams, or nothing at all."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from tests.ashare.conftest import DAYS, CommandLine
from tests.serving_api.market import put

TABLE = "fusion_kline_daily"
OLD = ("2026-07-01", "2026-07-02", "2026-07-03")
MAPPING = """
dataset = "kline_daily"
name = "vendor"
adjust = "none"

[columns]
code = "ts_code"
open = "open"
high = "high"
low = "low"
close = "close"
date = {column = "trade_date", format = "%Y%m%d"}
volume = {column = "vol", unit = "lot"}
amount = {column = "amount", unit = "kCNY"}
"""


def bars(codes: tuple[str, ...] = ("600519.SH", "000001.SZ"), days: tuple[str, ...] = OLD) -> pd.DataFrame:
    rows = []
    for code in codes:
        for at, day in enumerate(days):
            close = 10.0 + at
            rows.append(
                {
                    "ts_code": code,
                    "trade_date": day.replace("-", ""),
                    "open": close - 0.1,
                    "high": close + 0.2,
                    "low": close - 0.2,
                    "close": close,
                    "vol": 1000 + at,
                    "amount": (1000 + at) * 100 * close / 1000,
                }
            )
    return pd.DataFrame(rows)


@pytest.fixture
def vendor(cli: CommandLine) -> CommandLine:
    (cli.folder / "map.toml").write_text(MAPPING, encoding="utf-8")
    return cli


def written(cli: CommandLine, frame: pd.DataFrame, name: str = "bars.csv") -> str:
    path = cli.folder / name
    if name.endswith(".csv"):
        frame.to_csv(path, index=False)
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_excel(path, index=False)
    return str(path)


def asked(cli: CommandLine, file: str, *more: str) -> tuple[str, ...]:
    return ("import", file, "--map", str(cli.folder / "map.toml"), *more)


def stored(cli: CommandLine, what: str = "code, date, close, volume, amount, src, last_close") -> list[Any]:
    found = cli.warehouse.query(f"SELECT {what} FROM {TABLE} WHERE date < '2026-08-01' ORDER BY code, date")
    return [
        tuple(
            str(one) if name in ("code", "date", "src") else one
            for one, name in zip(row, what.split(", "), strict=True)
        )
        for row in found
    ]


@pytest.mark.parametrize("name", ["bars.csv", "bars.parquet", "bars.xlsx"])
def test_each_format_gives_the_same_rows_in_our_units(vendor: CommandLine, name: str) -> None:
    found = vendor.result(*asked(vendor, written(vendor, bars(), name)))

    assert (found["rows"], found["written"], found["refused"]) == (6, 6, 0)
    rows = stored(vendor)
    assert [row[:2] for row in rows] == [(code, day) for code in ("000001", "600519") for day in OLD]
    first = rows[3]
    assert (float(first[2]), int(first[3]), float(first[4]), first[5]) == (
        10.0,
        100_000,
        1_000_000.0,
        "import:vendor",
    )
    assert [row[6] if row[6] is None else float(row[6]) for row in rows[3:]] == [None, 10.0, 11.0]


def test_the_second_time_writes_nothing(vendor: CommandLine) -> None:
    file = written(vendor, bars())
    vendor.result(*asked(vendor, file))
    before = vendor.warehouse.query("SELECT COUNT(*) FROM sys_batch")

    again = vendor.result(*asked(vendor, file))
    assert (again["before"], again["written"]) == (True, 0)
    assert vendor.warehouse.query("SELECT COUNT(*) FROM sys_batch") == before

    # Another file with the same rows is read, and finds nothing new.
    other = vendor.result(*asked(vendor, written(vendor, bars(), "bars.parquet")))
    assert (other["before"], other["rows"], other["written"]) == (False, 6, 0)
    assert vendor.warehouse.query(f"SELECT COUNT(*) FROM {TABLE}_history WHERE src='import:vendor'") == [(0,)]


def test_lineage_leads_to_the_row_of_the_file(vendor: CommandLine) -> None:
    done = vendor.result(*asked(vendor, written(vendor, bars())))

    found = vendor.result("lineage", TABLE, "code=000001", f"date={OLD[1]}")

    assert found["columns"]["close"]["source"] == "import:vendor"
    assert found["columns"]["close"]["from"]["table"] == "stg_kline_daily"
    (raw,) = found["raw"]
    assert raw["table"] == "raw_import_kline_daily"
    assert raw["file"] == {"name": "bars.csv", "row": 5, "sha256": done["file_hash"]}
    assert len(raw["row_hash"]) == 64
    assert {batch["table_name"] for batch in found["batches"]} >= {
        TABLE,
        "stg_kline_daily",
        "raw_import_kline_daily",
    }


def test_a_better_source_keeps_its_rows_unless_the_import_goes_first(vendor: CommandLine) -> None:
    """DAYS are stored by an upstream."""
    file = written(vendor, bars(("600519",), DAYS).assign(open=10.05, high=10.05, low=10.05, close=10.05))

    dry = vendor.result(*asked(vendor, file, "--dry-run"))
    assert (dry["compared"]["kept"], dry["compared"]["different"]) == (3, 0)
    assert vendor.result(*asked(vendor, file))["written"] == 0
    assert {
        str(one) for (one,) in vendor.warehouse.query(f"SELECT src FROM {TABLE} WHERE code='600519'")
    } == {"tencent"}

    dry = vendor.result(*asked(vendor, file, "--place", "first", "--dry-run"))
    assert (dry["compared"]["kept"], dry["compared"]["different"]) == (0, 3)
    assert vendor.result(*asked(vendor, file, "--place", "first"))["written"] == 3
    assert {
        str(one) for (one,) in vendor.warehouse.query(f"SELECT src FROM {TABLE} WHERE code='600519'")
    } == {"import:vendor"}


def test_an_open_item_of_the_ledger_gives_the_reference_price(vendor: CommandLine) -> None:
    """The quote said 8.8 after a close of 11, and no source has the event yet."""
    items = vendor.warehouse.table("ref_exright_item")
    item = {
        "code": "600519", "date": OLD[2], "market": "SH", "before_date": OLD[1], "close_before": 11.0,
        "quoted": 8.8, "expected": 11.0, "factor": 1.25, "status": "open", "opened_on": OLD[2],
    }  # fmt: skip
    put(vendor.warehouse, items, [item])

    assert vendor(*asked(vendor, written(vendor, bars()))) == 0, vendor.err

    found = {
        (code, day): (reference, factor)
        for code, day, reference, factor in stored(vendor, "code, date, last_close, adj_factor")
    }
    assert found["600519", OLD[2]] == (8.8, 1.25)
    assert found["000001", OLD[2]] == (11.0, 1.0)


def test_a_dry_run_shows_and_writes_nothing(vendor: CommandLine) -> None:
    frame = bars()
    frame.loc[4, "close"] = -1.0

    assert vendor("--json", *asked(vendor, written(vendor, frame), "--dry-run")) == 1
    assert '"refused": 1' in vendor.out
    assert '"row": 5' in vendor.out
    assert vendor.warehouse.query("SELECT COUNT(*) FROM raw_import_kline_daily") == [(0,)]
    assert vendor.warehouse.query("SELECT COUNT(*) FROM sys_import") == [(0,)]
    assert vendor(*asked(vendor, written(vendor, bars()), "--dry-run")) == 0
    assert "100000" in vendor.out
    assert "6 new, 0 equal" in vendor.out


def _with(**changes: Any) -> pd.DataFrame:
    frame = bars().astype(object)
    for name, value in changes.items():
        frame.loc[3, name] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (_with(close=-10.0), "close"),
        (_with(high=1.0), "high_is_highest"),
        (_with(vol="many"), "volume: no number"),
        (_with(trade_date="20260705"), "no trade date"),
        (_with(trade_date="19890705"), "no trade date"),
        (_with(trade_date="20270104"), "future"),
        (_with(trade_date="yesterday"), "no date"),
        (_with(ts_code="MSFT"), "six digits"),
        (_with(ts_code="600519.SH", trade_date=OLD[0].replace("-", "")), "the same"),
    ],
)
def test_a_bad_row_refuses_the_file_and_is_named(
    vendor: CommandLine, frame: pd.DataFrame, reason: str
) -> None:
    fault = vendor.fault(*asked(vendor, written(vendor, frame)))

    assert reason in fault["error"]
    assert "bars.csv, row 4" in fault["error"]
    for table in (TABLE, "stg_kline_daily", "raw_import_kline_daily"):
        assert vendor.warehouse.query(f"SELECT COUNT(*) FROM {table} WHERE src='import:vendor'") == [(0,)]
    assert vendor.warehouse.query(
        "SELECT status, rows_rejected FROM sys_batch WHERE table_name='raw_import_kline_daily'"
    ) == [("failed", 1)]
    ((message,),) = vendor.warehouse.query(
        "SELECT message FROM sys_quality_record WHERE natural_key IS NOT NULL"
    )
    assert "row 4" in message

    done = vendor.result(*asked(vendor, str(vendor.folder / "bars.csv"), "--skip-refused"))
    assert (done["rows"], done["refused"]) == (5, 1)
    assert len(stored(vendor)) == 5


def test_a_file_that_is_no_file_is_refused(vendor: CommandLine) -> None:
    good = Path(written(vendor, bars(), "bars.parquet"))
    cut = vendor.folder / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-100])
    assert "cut.parquet" in vendor.fault(*asked(vendor, str(cut)))["error"]

    wrong = vendor.folder / "gbk.csv"
    text = bars().to_csv(index=False).splitlines()
    wrong.write_bytes("\n".join([*text[:3], text[3] + "平安", *text[4:]]).encode("gbk"))
    assert "gbk.csv, row 3" in vendor.fault(*asked(vendor, str(wrong)))["error"]

    short = vendor.folder / "short.csv"
    short.write_text("\n".join([*text[:4], "600519.SH,2026"]), encoding="utf-8")
    fault = vendor.fault(*asked(vendor, str(short)))["error"]
    assert "short.csv" in fault
    assert "Row #" in fault or "row" in fault
    book = vendor.folder / "book.xlsx"
    book.write_bytes(b"PK nothing")
    assert "book.xlsx" in vendor.fault(*asked(vendor, str(book)))["error"]
    assert stored(vendor) == []


@pytest.mark.parametrize(
    ("line", "new", "parameter", "says"),
    [
        ('adjust = "none"', "", "adjust", "none, qfq, hfq"),
        ('adjust = "none"', 'adjust = "hfq"', "factor", "factor"),
        ('unit = "lot"', 'unit = "bucket"', "map", "share, lot"),
        (', unit = "lot"', "", "map", "say its unit"),
        ('close = "close"', 'clsoe = "close"', "map", "close"),
        ('code = "ts_code"', 'code = "tscode"', "map", "ts_code"),
        ('dataset = "kline_daily"', 'dataset = "news"', "dataset", "kline_daily"),
        ('name = "vendor"', 'name = "My Vendor"', "name", "a-z"),
    ],
)
def test_a_bad_mapping_is_named(vendor: CommandLine, line: str, new: str, parameter: str, says: str) -> None:
    (vendor.folder / "map.toml").write_text(MAPPING.replace(line, new), encoding="utf-8")

    fault = vendor.fault(*asked(vendor, written(vendor, bars())))

    assert fault["parameter"] == parameter
    assert says in fault["error"]


def test_adjusted_prices_are_stored_as_they_were_traded(vendor: CommandLine) -> None:
    text = MAPPING.replace('adjust = "none"', 'adjust = "hfq"\nfactor = "f"')
    (vendor.folder / "map.toml").write_text(text, encoding="utf-8")
    frame = bars().assign(f=2.5)
    prices = ["open", "high", "low", "close"]
    frame[prices] = frame[prices] * 2.5

    vendor.result(*asked(vendor, written(vendor, frame)))

    assert [float(row[2]) for row in stored(vendor)][:3] == [10.0, 11.0, 12.0]


def test_weeks_are_stored_under_their_last_trade_date(vendor: CommandLine) -> None:
    options = ["code=c", "date=d", "open=o", "high=h", "low=l", "close=k", "volume=v:share", "period=p"]
    pd.DataFrame(
        {"c": ["600519"], "d": [OLD[0]], "o": [1], "h": [2], "l": [1], "k": [2], "v": [7], "p": ["week"]}
    ).to_csv(vendor.folder / "weeks.csv", index=False)  # fmt: skip
    maps = [part for option in options for part in ("--map", option)]

    vendor.result(
        "import",
        str(vendor.folder / "weeks.csv"),
        *maps,
        "--dataset",
        "kline_bar",
        "--name",
        "w",
        "--adjust",
        "none",
    )

    (row,) = vendor.warehouse.query(
        "SELECT code, period, date, bar_count, src, is_closed FROM fusion_kline_bar"
    )
    assert [str(one) for one in row] == ["600519", "week", "2026-07-03", "5", "import:w", "1"]


def test_staged_datasets_fuse_the_import_beside_their_sources(vendor: CommandLine) -> None:
    pd.DataFrame(
        {"code": ["600519", "000001"], "date": OLD[:1] * 2, "net": [1.5, -2.0], "pct": [0.01, -0.02]}
    ).to_csv(vendor.folder / "flow.csv", index=False)
    maps = ["code=code", "date=date", "main_net=net:10k_CNY", "main_net_pct=pct:ratio"]
    asked = [part for option in maps for part in ("--map", option)]

    done = vendor.result(
        "import", str(vendor.folder / "flow.csv"), *asked, "--dataset", "fund_flow", "--name", "f"
    )

    assert done["written"] == 2
    rows = vendor.warehouse.query(
        "SELECT code, main_net, main_net_pct, src FROM fusion_fund_flow ORDER BY code"
    )
    assert [(c, float(n), float(p), s) for c, n, p, s in rows] == [
        ("000001", -20000.0, -2.0, "import:f"),
        ("600519", 15000.0, 1.0, "import:f"),
    ]

    pd.DataFrame(
        {"code": ["600519"], "report_period": ["2025-12-31"], "ann_date": ["2026-04-01"], "cash": [2.5]}
    ).to_csv(vendor.folder / "dividends.csv", index=False)
    maps = ["code=code", "report_period=report_period", "ann_date=ann_date", "bonus_rmb=cash:CNY_per_share"]
    asked = [part for option in maps for part in ("--map", option)]
    vendor.result(
        "import", str(vendor.folder / "dividends.csv"), *asked, "--dataset", "dividend", "--name", "d"
    )
    assert [
        (float(one), src) for one, src in vendor.warehouse.query("SELECT bonus_rmb, src FROM fusion_dividend")
    ] == [(25.0, "import:d")]


def test_an_interrupted_import_goes_on_with_the_months_that_are_missing(
    vendor: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from platform_assets.pipeline.imports import loading

    days = tuple(shipped_calendar().between("2026-05-06", "2026-07-10"))
    file = written(vendor, bars(days=days).assign(close=10.0, open=10.0, high=10.5, low=9.5))
    real, months = loading._load, []

    def stops(job: Any, frame: pd.DataFrame, key: Any) -> int:
        months.append(frame["date"].iloc[0][:7])
        if len(months) == 2:
            raise KeyboardInterrupt
        return real(job, frame, key)

    monkeypatch.setattr(loading, "_load", stops)
    assert vendor(*asked(vendor, file)) == 130
    assert months == ["2026-05", "2026-06"]
    assert vendor.warehouse.query("SELECT owner FROM sys_domain_lock WHERE domain='kline'") == [(None,)]

    done = vendor.result(*asked(vendor, file))

    assert months[2:] == ["2026-06", "2026-07"]
    assert done["rows"] == len(stored(vendor)) == 2 * len(days)
    assert not list((vendor.folder / "data" / "imports").iterdir())


def test_the_lock_of_a_running_load_is_respected(vendor: CommandLine) -> None:
    with vendor.warehouse.locks.held(("kline",), "run 1"):
        assert "run 1" in vendor.fault(*asked(vendor, written(vendor, bars())))["error"]
    assert stored(vendor) == []


def test_a_folder_of_qlib_is_read_as_it_was_traded(vendor: CommandLine) -> None:
    folder = vendor.folder / "qlib"
    days = shipped_calendar().between("2026-06-29", "2026-07-03")
    (folder / "calendars").mkdir(parents=True)
    (folder / "calendars" / "day.txt").write_text("\n".join(days), encoding="utf-8")
    own = folder / "features" / "sh600519"
    own.mkdir(parents=True)
    values = {"open": 25.0, "high": 26.25, "low": 24.5, "close": 25.25, "volume": 4e4, "factor": 2.5}
    for name, value in values.items():
        np.array([2, value, value, value], dtype="<f4").tofile(own / f"{name}.day.bin")
    maps = [
        "code=instrument",
        "date=date",
        "open=open",
        "high=high",
        "low=low",
        "close=close",
        "volume=volume:share",
    ]
    mapping = vendor.folder / "qlib.yaml"
    mapping.write_text(
        "dataset: kline_daily\nname: qlib\nadjust: hfq\nfactor: factor\nvolume_adjusted: true\n",
        encoding="utf-8",
    )
    asked = [part for option in (str(mapping), *maps) for part in ("--map", option)]

    done = vendor.result("import", str(folder), *asked)

    assert (done["rows"], done["written"]) == (3, 3)
    rows = stored(vendor, "code, date, open, close, volume")
    assert rows[0][:2] == ("600519", "2026-07-01")
    assert [float(one) for one in rows[0][2:]] == [10.0, 10.1, 100_000.0]
