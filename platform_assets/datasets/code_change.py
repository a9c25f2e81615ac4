"""ref_code_change: securities that go on under another code, with the day of the new one.

Beijing replaced its 43, 83 and 87 numbers by 920xxx, and after mergers a company of Shenzhen may get a new
number. No upstream reports it: a code that is quoted for the first time and was listed long before is the one
that is no longer quoted, when market and listing date are the same, and the name or the previous close too.
The bars of the new code reach back over the old one: they are loaded when the change is found.
"""

import pandas as pd

from core.declaration.columns import K32, S4, S64, Code, Date, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.rules import Partition
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from core.market.securities import STOCK, tick_of_code
from resources.upstreams.fetch_context import FetchContext

TABLE = "ref_code_change"
_BARS = "fusion_kline_daily"
_NEWEST = 20
"""Trade dates in which the last close of a code is looked for."""
_KNOWN = (
    ("000022", "001872", "2018-12-26", "SZ", "招商港口"),
    ("601313", "601360", "2018-02-28", "SH", "三六零"),
    ("000043", "001914", "2019-12-16", "SZ", "招商积余"),
)
"""Changes before the first date that is loaded."""
_COLUMNS = ["code", "new_code", "date", "market", "name", "src"]


class CodeChange(Model):
    """One code that became another one."""

    code: Code = key("former code")
    new_code: Code = col(title="code since then", nullable=False)
    date: Date = col(title="first trade date of the new code", nullable=False)
    market: S4 = col(title="SH, SZ, BJ", nullable=False)
    name: S64 = col(title="name under the new code")
    src: K32 = col(title="known: stated here; quotes: found in the quotes of the day")


def renumbered(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The changes that are known from before, and those that the newest quotes show."""
    known = pd.DataFrame([(*row, "known") for row in _KNOWN], columns=_COLUMNS)
    day = scope.until
    quotes = ctx.read(
        "raw_quote",
        columns=("code", "trade_date", "name", "market", "sec_type", "list_date", "last_close"),
        since=day,
        until=day,
    )
    master = ctx.read(
        "fusion_stock_master", columns=("code", "name", "market", "sec_type", "list_date", "list_status")
    )
    quotes = quotes[quotes["sec_type"] == STOCK].groupby("code", as_index=False).first()
    gone = master[
        (master["sec_type"] == STOCK) & (master["list_status"] != "R") & ~master["code"].isin(quotes["code"])
    ]
    new = quotes[~quotes["code"].isin(master["code"]) & (quotes["list_date"] < day)]
    pairs = new.merge(gone, on=["market", "list_date"], suffixes=("", "_before"))
    if pairs.empty:
        return known
    since = ctx.calendar.last(_NEWEST, day)[0]
    bars = ctx.read(_BARS, columns=("code", "date", "close"), codes=tuple(pairs["code_before"]), since=since)
    closes = bars.sort_values("date").drop_duplicates("code", keep="last").set_index("code")["close"]
    half = [tick_of_code(c, m) / 2 for c, m in zip(pairs["code"], pairs["market"], strict=True)]
    same_price = (pairs["code_before"].map(closes).astype(float) - pairs["last_close"]).abs() < half
    pairs = pairs[(pairs["name"] == pairs["name_before"]) | same_price]
    # Two that could be either are neither.
    pairs = pairs[~pairs["code"].duplicated(keep=False) & ~pairs["code_before"].duplicated(keep=False)]
    found = pd.DataFrame(
        {
            "code": pairs["code_before"],
            "new_code": pairs["code"],
            "date": day,
            "market": pairs["market"],
            "name": pairs["name"],
            "src": "quotes",
        }
    )
    return pd.concat([found, known], ignore_index=True)


def history_of_new_codes(rows: pd.DataFrame, context: Context) -> dict[tuple[str, str], list[str]]:
    """The dates that are stored under the former code -> the new one."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows[rows["src"] == "quotes"].itertuples(index=False):
        stored = context.read(_BARS, columns=("code", "date"), codes=(row.code,))
        if len(stored):
            dates = (str(stored["date"].min()), str(stored["date"].max()))
            found.setdefault(dates, []).append(str(row.new_code))
    return found


DATASET = Dataset(
    name="code_change",
    subject="securities",
    title="Securities that go on under another code",
    layer=Layer.REF,
    model=CodeChange,
    partition=Partition.CODE,
    date_column="",
    may_be_empty=True,
    sources=(Source("quotes", renumbered),),
    reads=("raw_quote",),
    repairs=("history", history_of_new_codes),
    tasks=("fusion_wide_sync", "eod_core"),
)
