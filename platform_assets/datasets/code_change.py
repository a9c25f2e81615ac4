"""ref_code_change: securities that go on under another code, with the day of the new one.

Beijing replaced its 43, 83 and 87 numbers by 920xxx, and after mergers a company of Shenzhen may get a new
number. What happened before an installation is known from a shipped table (`core.market.renumbering`) and
from the disclosure site, whose id of many companies holds the code of their listing. No upstream reports a
change: a code that is quoted for the first time and was listed long before is the one that is no longer
quoted, when market and listing date are the same, and the name or the previous close too. The bars of the new
code reach back over the old one: they are loaded when such a change is found.
"""

import pandas as pd

from core.declaration.columns import K32, S4, S64, Code, Date, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.rules import Partition
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.renumbering import known_changes
from core.market.securities import STOCK, is_a_share, market_of, tick_of_code
from resources.upstreams.fetch_context import FetchContext

TABLE = "ref_code_change"
_BARS = "fusion_kline_daily"
_NEWEST = 20
"""Trade dates in which the last close of a code is looked for."""
_OF_LISTING = r"^(?:gssh|gssz|gfbj)0([0-9]{6})$"
"""An id of the disclosure site that holds the code of the listing."""
_COLUMNS = ["code", "new_code", "date", "market", "name", "src"]


class CodeChange(Model):
    """One code that became another one."""

    code: Code = key("former code")
    new_code: Code = col(title="code since then", nullable=False)
    date: Date = col(title="first trade date of the new code; null where it is not known")
    market: S4 = col(title="SH, SZ, BJ", nullable=False)
    name: S64 = col(title="name under the new code")
    src: K32 = col(title="known: shipped table; cninfo: id of the company; quotes: found in the day's quotes")


def renumbered(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The changes from before, and those that the newest quotes show. What is quoted was not replaced."""
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
    found = [_found(ctx, quotes, master, day), _known(day)]
    if not quotes["code"].isin(master["code"]).all():
        found.append(_by_company(ctx, set(master["code"])))
    changes = pd.concat(found, ignore_index=True)
    return changes[~changes["code"].isin(quotes["code"])].drop_duplicates("code")


def _known(day: str) -> pd.DataFrame:
    """The shipped table up to a day."""
    rows = [
        (one.code, one.new_code, one.date, _market(one.new_code), None, "known")
        for one in known_changes()
        if (one.date or "") <= day
    ]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _market(code: str) -> str:
    return market_of(code, shanghai=code.startswith("6"))


def _by_company(ctx: FetchContext, held: set[str]) -> pd.DataFrame:
    """Companies whose id has another code of their market, under which nothing is listed now. It is asked for
    when a code is quoted for the first time; without an answer it waits for the next one."""
    nothing = pd.DataFrame(columns=_COLUMNS)
    try:
        orgs = ctx.once("cninfo_orgs", lambda view: view.cninfo.orgs())
    except (UpstreamError, PayloadError, Unavailable) as error:
        if ctx.direct:
            raise
        ctx.problems.append(("former codes", str(error)))
        return nothing
    stored = set(ctx.read(TABLE, columns=("code",))["code"])
    listed = {*orgs["code"], *held, *stored}
    orgs = orgs.assign(former=orgs["org_id"].str.extract(_OF_LISTING)[0])
    orgs = orgs[orgs["former"].notna() & ~orgs["former"].isin(listed) & orgs["code"].map(is_a_share)]
    rows = [
        (one.former, one.code, None, _market(one.code), one.name, "cninfo")
        for one in orgs.itertuples(index=False)
        if _market(one.former) == _market(one.code)
    ]
    return pd.DataFrame(rows, columns=_COLUMNS) if rows else nothing


def _found(ctx: FetchContext, quotes: pd.DataFrame, master: pd.DataFrame, day: str) -> pd.DataFrame:
    """The changes that the quotes of a day show."""
    gone = master[
        (master["sec_type"] == STOCK) & (master["list_status"] != "R") & ~master["code"].isin(quotes["code"])
    ]
    new = quotes[~quotes["code"].isin(master["code"]) & (quotes["list_date"] < day)]
    pairs = new.merge(gone, on=["market", "list_date"], suffixes=("", "_before"))
    if pairs.empty:
        return pd.DataFrame(columns=_COLUMNS)
    since = ctx.calendar.last(_NEWEST, day)[0]
    bars = ctx.read(_BARS, columns=("code", "date", "close"), codes=tuple(pairs["code_before"]), since=since)
    closes = bars.sort_values("date").drop_duplicates("code", keep="last").set_index("code")["close"]
    half = [tick_of_code(c, m) / 2 for c, m in zip(pairs["code"], pairs["market"], strict=True)]
    same_price = (pairs["code_before"].map(closes).astype(float) - pairs["last_close"]).abs() < half
    pairs = pairs[(pairs["name"] == pairs["name_before"]) | same_price]
    # Two that could be either are neither.
    pairs = pairs[~pairs["code"].duplicated(keep=False) & ~pairs["code_before"].duplicated(keep=False)]
    return pd.DataFrame(
        {
            "code": pairs["code_before"],
            "new_code": pairs["code"],
            "date": day,
            "market": pairs["market"],
            "name": pairs["name"],
            "src": "quotes",
        }
    )


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
