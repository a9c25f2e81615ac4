"""aux_equity: share capital by the day of its change. aux_capital: what companies do with their capital, as
events: buybacks and changes of the share capital."""

from collections.abc import Callable

import pandas as pd

from core.declaration.columns import K16, K32, S32, S64, S255, Amt, Big, Code, Date, Model, Text, col, key
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import stacked
from core.declaration.interfaces import REQUIRED, stock, timeseries
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.market.securities import is_a_share
from core.text_keys import hash_key
from platform_assets.datasets._notices import by_notice
from platform_assets.datasets._rotation import REPORTS, codes_to_fetch
from platform_assets.datasets.kline import of_named_codes
from resources.upstreams.fetch_context import FetchContext

BUYBACK, SHARE_CHANGE = "回购", "股本变动"
_EQUITY_KEY = ("code", "change_date")
_EVENT_KEY = ("code", "ann_date", "row_key")
_TASK = ("aux_f10_events_sync",)
_FIRST_DAY = "1990-01-01"


class AuxEquity(Model):
    """The structure of a company's shares from a day on."""

    code: Code = key("security code")
    change_date: Date = key("day of the change")
    src: K32 = key("upstream")
    total_shares: Big = col("sh", "total shares", nullable=False, gt=0)
    float_shares: Big = col("sh", "listed A shares that may be traded", ge=0)
    restricted_shares: Big = col("sh", "shares that may not be traded yet", ge=0)
    reason: S255 = col(title="why it changed")


class AuxCapital(Model):
    """One event."""

    code: Code = key("security code")
    ann_date: Date = key("day on which it was published; of a share change the day of the change")
    event_type: S32 = col(title="回购 or 股本变动", nullable=False, isin=[BUYBACK, SHARE_CHANGE])
    row_key: K16 = key("16 hex of the SHA-1 of kind, title, amount and number among equal events")
    title: S255 = col(title="the event in a few words", nullable=False)
    amount: Amt = col("CNY", "money spent; of a share change none", ge=0)
    progress: S64 = col(title="how far it has come")
    content: Text = col(title="the figures")


def structures(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Changes on the days of the scope and of the week before (one call, shared with `events`), and the whole
    history of the codes that reported and of a hundred in turn: some ten calls."""
    rows = by_notice(ctx, scope, "share_changes", lambda portal: portal.share_changes, _EQUITY_KEY)
    if scope.codes is not None:
        return rows
    due = Scope(scope.dates, codes_to_fetch(ctx, scope, listings=False))
    parts = [ctx.eastmoney.share_changes(None, scope.until, codes) for codes in due.named_groups()]
    found = stacked((rows, *parts), _EQUITY_KEY).drop_duplicates(subset=list(_EQUITY_KEY), keep="last")
    return found[found["code"].map(is_a_share).astype(bool)]


def platform(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The whole history of the scope's codes, one call for each."""
    now = ctx.clock.now()

    def of(symbol: str) -> pd.DataFrame:
        return ctx.cninfo.share_changes(symbol[2:], _FIRST_DAY, scope.until, now)

    return _of_codes(ctx, scope, of)


def terminal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The whole history of the scope's codes from the terminal's capital changes, one call for each."""
    return _of_codes(ctx, scope, lambda symbol: of_records(ctx.tdx.xdxr(symbol)))


def of_records(rows: pd.DataFrame) -> pd.DataFrame:
    """Structures after the terminal's changes, the last one of a day alone. `rows`: code, date, category,
    name, total_after, float_after."""
    reported = rows[(rows["category"] != 1) & (rows["total_after"] > 0)]
    reported = reported.drop_duplicates(subset=["code", "date"], keep="last")
    return pd.DataFrame(
        {
            "code": reported["code"], "change_date": reported["date"],
            "total_shares": reported["total_after"], "float_shares": reported["float_after"],
            "restricted_shares": reported["total_after"] - reported["float_after"],
            "reason": reported["name"],
        }
    )  # fmt: skip


def _of_codes(ctx: FetchContext, scope: Scope, ask: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    rows = stacked(ctx.each(ask, ctx.symbols(scope.codes, "stock")), _EQUITY_KEY)
    return rows[rows["change_date"] <= scope.until]


def events(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Buybacks with a notice in the days of the scope, and share changes of those days: two
    calls for an ordinary date, two for a hundred codes."""
    bought = by_notice(ctx, scope, "buybacks", lambda portal: portal.buybacks, ("code", "update_date"))
    changed = by_notice(ctx, scope, "share_changes", lambda portal: portal.share_changes, _EQUITY_KEY)
    rows = stacked((of_buybacks(bought), of_share_changes(changed)), _EVENT_KEY)
    return keyed(rows) if len(rows) else rows


def of_buybacks(rows: pd.DataFrame) -> pd.DataFrame:
    """One event for every notice of a buyback."""
    made = []
    for row in rows.itertuples(index=False):
        parts = [
            _range("拟回购金额", row.amount_low, row.amount_high, "元"),
            _range("拟回购数量", row.shares_low, row.shares_high, "股"),
            "" if pd.isna(row.price_cap) else f"价格上限{row.price_cap:g}元/股",
            "" if pd.isna(row.shares_bought) else f"已回购{row.shares_bought:.0f}股",
            "" if pd.isna(row.amount_bought) else f"已用资金{row.amount_bought:.2f}元",
            "" if row.end_date is None else f"截止{row.end_date}",
        ]
        made.append(
            {
                "code": row.code,
                "ann_date": row.update_date,
                "event_type": BUYBACK,
                "title": f"股份回购（{row.start_date}起）",
                "amount": row.amount_bought,
                "progress": row.progress,
                "content": "，".join(part for part in parts if part) or None,
            }
        )
    return pd.DataFrame(made)


def of_share_changes(rows: pd.DataFrame) -> pd.DataFrame:
    """One event for every change of the share capital."""
    made = []
    for row in rows.itertuples(index=False):
        parts = [
            f"总股本{row.total_shares:.0f}股",
            "" if pd.isna(row.float_shares) else f"流通A股{row.float_shares:.0f}股",
            "" if pd.isna(row.restricted_shares) else f"限售{row.restricted_shares:.0f}股",
        ]
        made.append(
            {
                "code": row.code,
                "ann_date": row.change_date,
                "event_type": SHARE_CHANGE,
                "title": row.reason or SHARE_CHANGE,
                "amount": None,
                "progress": None,
                "content": "，".join(part for part in parts if part),
            }
        )
    return pd.DataFrame(made)


def _range(what: str, low: float, high: float, unit: str) -> str:
    reported = [f"{value:.0f}" for value in (low, high) if not pd.isna(value)]
    return f"{what}{'-'.join(reported)}{unit}" if reported else ""


def keyed(rows: pd.DataFrame) -> pd.DataFrame:
    """`row_key` added: equal events of a day are numbered, so that each has its own."""
    amounts = ["" if pd.isna(value) else f"{value:.2f}" for value in rows["amount"]]
    same = [
        rows["code"],
        rows["ann_date"],
        rows["event_type"],
        rows["title"],
        pd.Series(amounts, index=rows.index),
    ]
    numbers = rows.groupby(same).cumcount()
    made = zip(rows["event_type"], rows["title"], amounts, numbers, strict=True)
    return rows.assign(row_key=[hash_key(kind, title, amount, str(at)) for kind, title, amount, at in made])


DATASET = Dataset(
    name="share_capital",
    subject="securities",
    title="Share capital and what companies do with it",
    raw=(
        Raw(
            name="aux_equity",
            title="Share capital by the day of its change",
            model=AuxEquity,
            partition=Partition.CODE,
            sources=(
                Source("em_f10", structures),
                Source("cninfo", platform, only_when=of_named_codes),
                Source("tdx", terminal, only_when=of_named_codes),
            ),
            reads=REPORTS,
            tasks=_TASK,
        ),
        Raw(
            name="aux_capital",
            title="Buybacks and share changes as events",
            model=AuxCapital,
            partition=Partition.CODE,
            sources=(Source("em_f10", events),),
            tasks=_TASK,
        ),
    ),
    interfaces=(
        timeseries("get_share_structure", "history", "share capital changes", ttl=86400).takes(
            code=REQUIRED, limit=30
        ),
        stock(
            "get_capital_operations", "newest", "buybacks and share changes", ttl=86400, table="aux_capital"
        ).takes(code=REQUIRED, limit=30),
    ),
)
