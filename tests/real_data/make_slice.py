"""Cut the committed slice out of the full set of real bars.

    python tests/real_data/make_slice.py ../shared/data

Writes files of the same names and columns beside this script: 12 codes and the indices, every session
from 2022-01-04 to 2022-07-29 (61 sessions from 2022-05-05 are the window of `make real-day`; the rest is
history for previous closes and short averages). Two more files serve the calculations, which need longer
histories: 20 codes and the CSI 300 from 2020-01-02, bars only. Output is byte-identical for identical input.
"""

import gzip
import sys
from pathlib import Path

import pandas as pd

FIRST, LAST = "2022-01-04", "2022-07-29"
CODES = {
    "sh600519": "ex-right day 2022-06-30, high price",
    "sh600515": "ST on every day, suspended 2022-05-18",
    "sh600372": "suspended 2022-05-27..2022-06-10",
    "sh600938": "listed 2022-04-21 under the old first-day rule",
    "sh601318": "Shanghai main board, plain",
    "sh688169": "STAR, price cut by 29 % on 2022-07-08",
    "sz000001": "Shenzhen main board; its digits are also an index",
    "sz000425": "suspended 2022-05-27 alone",
    "sz000538": "price cut by 30 % on 2022-05-05, the first date of the window",
    "sz002709": "price cut by 50 % on 2022-05-16",
    "sz300782": "ChiNext, price cut by 38 % on 2022-06-30",
    "sz301269": "ChiNext listing on 2022-07-29, no limit",
}
LONG_LAST = "2021-09-22"
LONG_CODES = (
    "sh600000 sh600009 sh600036 sh600276 sh600372 sh600515 sh600519 sh600585 sh601318 sh601919 sh603259 "
    "sh688036 sz000001 sz000333 sz000538 sz000725 sz002709 sz300014 sz300750 sz300782"
).split()
"""The CSI 300's sectors, the codes above that were listed, and some with long suspensions or splits."""
HERE = Path(__file__).parent


def write(frame: pd.DataFrame, name: str) -> None:
    body = frame.to_csv(index=False, lineterminator="\n").encode()
    target = HERE / name
    target.write_bytes(gzip.compress(body, 9, mtime=0) if name.endswith(".gz") else body)


def main(source: Path) -> None:
    def cut(name: str, codes: set[str] | None, column: str, day: str | None = "date") -> None:
        frame = pd.read_csv(source / name, dtype=str, keep_default_na=False)
        if codes is not None:
            frame = frame[frame[column].isin(codes)]
        if day:
            frame = frame[(frame[day] >= FIRST) & (frame[day] <= LAST)]
        write(frame, name)

    digits = {code[2:] for code in CODES}
    cut("bars_daily_raw_hs300_2020_2025.csv.gz", set(CODES), "code")
    cut("index_daily_tushare_2005_2026.csv.gz", None, "code")
    cut("stock_list_em_2024.csv.gz", digits, "code", None)
    cut("stock_basic_2026-03-04.csv", digits, "symbol", None)
    cut("name_changes_until_2022.csv.gz", digits, "code", None)
    bars = pd.read_csv(source / "bars_daily_raw_hs300_2020_2025.csv.gz", dtype=str, keep_default_na=False)
    bars = bars[bars["code"].isin(LONG_CODES) & (bars["date"] <= LONG_LAST)]
    kept = "date code open high low close preclose volume amount turn tradestatus".split()
    write(bars[kept], "bars_daily_raw_20_codes_2020_2021.csv.gz")
    index = pd.read_csv(source / "index_daily_tushare_2005_2026.csv.gz", dtype=str, keep_default_na=False)
    index = index[(index["code"] == "sh000300") & index["date"].between("2020-01-02", LONG_LAST)]
    write(index[["date", "close"]], "index_csi300_2020_2021.csv.gz")
    dates = pd.read_csv(source / "trade_dates_1990_2026.csv", dtype=str)
    write(
        dates[(dates.trade_date >= "2000-01-01") & (dates.trade_date <= "2022-12-31")],
        "trade_dates_1990_2026.csv",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
