"""`ashare export` to Parquet, Excel and qlib: the same rows as CSV has, prices adjusted where asked."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from core.calendar import shipped_calendar
from tests.ashare.conftest import DAYS, OPEN_ITEM, CommandLine
from tests.serving_api.market import bar, put

TABLE = "fusion_kline_daily"


@pytest.fixture
def exright(cli: CommandLine) -> CommandLine:
    """One more code, whose factor changes on the last day."""
    factors = zip(DAYS, (1.0, 1.0, 1.25), strict=True)
    rows = [{**bar("300750", day, 20.0, factor=factor), "market": "SZ"} for day, factor in factors]
    put(cli.warehouse, cli.warehouse.table(TABLE), rows)
    return cli


def test_parquet_and_excel_have_the_rows_of_the_csv(exright: CommandLine) -> None:
    asked = ("export", TABLE, "--columns", "code,date,close,volume,is_suspended,valid_from")
    for name in ("bars.csv", "bars.parquet", "bars.xlsx"):
        assert exright.result(*asked, "--out", str(exright.folder / name))["rows"] == 9

    text = pd.read_csv(exright.folder / "bars.csv", dtype={"code": str})
    parquet = pd.read_parquet(exright.folder / "bars.parquet")
    assert parquet["code"].tolist() == text["code"].tolist()
    assert parquet["date"].astype(str).tolist() == text["date"].tolist()
    assert parquet["close"].tolist() == text["close"].tolist()
    assert parquet["volume"].dtype == np.int64
    assert parquet["is_suspended"].tolist() == [False] * 9
    assert parquet["valid_from"].iloc[-1] == pd.Timestamp(text["valid_from"].iloc[-1])
    sheet = load_workbook(exright.folder / "bars.xlsx").active
    assert [row[0] for row in sheet.iter_rows(min_row=2, values_only=True)] == text["code"].tolist()


def test_a_text_that_begins_like_a_formula_is_text(exright: CommandLine) -> None:
    """Names come from upstreams: a spreadsheet must not run one. Numbers and a dash stay as they are."""
    texts = {
        "=1+1": "'=1+1",
        "+cmd": "'+cmd",
        "@SUM(A1)": "'@SUM(A1)",
        "-2+3": "'-2+3",
        "-1.5": "-1.5",
        "-": "-",
    }
    for number, name in enumerate(texts):
        row = {"code": f"60000{number}", "market": "SH", "name": name, "sec_type": "stock", "source": "test"}
        put(exright.warehouse, exright.warehouse.table("fusion_stock_master"), [row])
    asked = ("export", "fusion_stock_master", "--columns", "code,name", "--codes")
    codes = ",".join(f"60000{number}" for number in range(len(texts)))
    for name in ("names.csv", "names.xlsx"):
        exright.result(*asked, codes, "--out", str(exright.folder / name))

    text = pd.read_csv(exright.folder / "names.csv", dtype=str)
    cells = [row[1] for row in load_workbook(exright.folder / "names.xlsx").active.iter_rows(min_row=2)]
    assert text["name"].tolist() == [cell.value for cell in cells] == list(texts.values())
    assert {cell.data_type for cell in cells} == {"s"}


def test_an_export_says_that_its_factor_is_provisional(exright: CommandLine) -> None:
    put(exright.warehouse, exright.warehouse.table("ref_exright_item"), [OPEN_ITEM])
    target = exright.folder / "bars.parquet"
    asked = ("export", TABLE, "--out", str(target), "--force", "--columns", "code,close")

    found = exright.result(*asked, "--adjust", "qfq")

    assert (found["factor"], found["provisional_codes"]) == ("provisional", ["300750"])
    said = pq.read_schema(target).metadata
    assert (said[b"factor"], said[b"provisional_codes"]) == (b'"provisional"', b'["300750"]')
    assert exright(*asked, "--adjust", "qfq") == 0
    assert "factor provisional: no source has an ex-right event yet of 300750" in exright.out
    for more in ((), ("--adjust", "qfq", "--codes", "600519"), ("--adjust", "qfq", "--to", "2026-01-05")):
        assert "factor" not in exright.result(*asked, *more)
        assert not pq.read_schema(target).metadata


def test_prices_are_adjusted_to_the_newest_bar_that_is_known(exright: CommandLine) -> None:
    target = exright.folder / "bars.csv"

    def closes(*more: str) -> list[float]:
        asked = ("export", TABLE, "--out", str(target), "--codes", "300750", "--columns", "close,volume")
        exright.result(*asked, "--force", *more)
        frame = pd.read_csv(target)
        assert set(frame["volume"]) == {1000}
        found: list[float] = frame["close"].tolist()
        return found

    assert closes() == [20.0, 20.0, 20.0]
    assert closes("--adjust", "hfq") == [20.0, 20.0, 25.0]
    assert closes("--adjust", "qfq") == [16.0, 16.0, 20.0]
    assert closes("--adjust", "qfq", "--to", DAYS[0]) == [16.0]
    for names in ("code,date,close,volume", "adj_factor,volume,close,code"):
        assert closes("--adjust", "qfq", "--columns", names) == [16.0, 16.0, 20.0]
        assert list(pd.read_csv(target).columns) == names.split(",")
    exright.result("export", TABLE, "--out", str(target), "--force", "--adjust", "qfq")
    whole = pd.read_csv(target, dtype={"code": str})
    assert whole.loc[whole["code"] == "300750", "close"].tolist() == [16.0, 16.0, 20.0]
    fault = exright.fault("export", "fusion_fund_flow", "--out", str(target), "--adjust", "qfq", "--force")
    assert fault["parameter"] == "adjust"


def test_a_folder_of_qlib_comes_back_as_it_was(exright: CommandLine) -> None:
    """Read with numpy as qlib reads it: the first number is the place of the first day."""
    folder = exright.folder / "qlib"
    assert exright.result("export", TABLE, "--out", str(folder), "--qlib", "--codes", "300750")["rows"] == 3

    days = (folder / "calendars" / "day.txt").read_text(encoding="utf-8").split()
    every = shipped_calendar().dates
    assert days == every[: every.index(DAYS[-1]) + 1]
    assert (folder / "calendars" / "day_future.txt").read_text(encoding="utf-8").split() == every
    assert (folder / "instruments" / "all.txt").read_text(encoding="utf-8") == (
        f"SZ300750\t{DAYS[0]}\t{DAYS[-1]}\n"
    )
    own = folder / "features" / "sz300750"
    close, factor, volume = (
        np.fromfile(own / f"{name}.day.bin", "<f4") for name in ("close", "factor", "volume")
    )
    assert days[int(close[0]) : int(close[0]) + 3] == list(DAYS)
    np.testing.assert_allclose(close[1:] / factor[1:], [20.0] * 3)
    np.testing.assert_allclose(volume[1:] * factor[1:], [1000.0] * 3)
    fault = exright.fault("export", "fusion_fund_flow", "--out", str(exright.folder / "f"), "--qlib")
    assert fault["parameter"] == "format"
