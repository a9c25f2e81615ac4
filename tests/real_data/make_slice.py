"""Cut the committed slice out of the full set of real bars.

    python tests/real_data/make_slice.py ../shared/data

Writes files of the same names and columns beside this script: 12 codes and the indices, every session
from 2022-01-04 to 2022-07-29 (61 sessions from 2022-05-05 are the window of `make real-day`; the rest is
history for previous closes and short averages). Output is byte-identical for identical input.
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
    dates = pd.read_csv(source / "trade_dates_1990_2026.csv", dtype=str)
    write(
        dates[(dates.trade_date >= "2000-01-01") & (dates.trade_date <= "2022-12-31")],
        "trade_dates_1990_2026.csv",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
