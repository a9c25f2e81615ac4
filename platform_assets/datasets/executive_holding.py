"""raw_executive_holding: trades of executives and their relatives in their own company."""

import pandas as pd

from core.declaration.columns import K16, S32, S64, Amt, Big, Code, Date, Model, Px, col, key
from core.declaration.dataset import Raw, Source
from core.declaration.interfaces import REQUIRED, stock
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.text_keys import hash_key
from platform_assets.datasets._notices import by_notice
from resources.upstreams.fetch_context import FetchContext

_REPORTED_WITHIN = 14
"""Days after a trade by which it is reported; the exchanges allow two trade dates."""
_LINE = ["code", "change_date", "person", "change_shares", "price"]


class ExecutiveHolding(Model):
    """One trade of one person."""

    code: Code = key("security code")
    change_date: Date = key("date of the trade")
    person: S64 = col(title="who traded", nullable=False)
    row_key: K16 = key("hash of person, shares, price and the number of the line among equal ones")
    title: S64 = col(title="position of the executive")
    relation: S32 = col(title="relation of the person to the executive")
    change_shares: Big = col("sh", "shares bought, below zero sold", nullable=False)
    price: Px = col("CNY", "mean price", ge=0)
    amount: Amt = col("CNY", "value of the trade as reported")
    after_shares: Big = col("sh", "shares held afterwards", ge=0)
    reason: S64 = col(title="how the shares changed hands")


def portal(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Trades by their day, with the two weeks before, since it is reported days later: one call a date.
    Codes: one call for a hundred."""
    rows = by_notice(
        ctx,
        scope,
        "executive_trades",
        lambda portal: portal.executive_trades,
        ("code", "change_date"),
        again=_REPORTED_WITHIN,
    )
    return keyed(rows) if len(rows) else rows


def keyed(rows: pd.DataFrame) -> pd.DataFrame:
    """The trades with their `row_key`: equal lines of one day are numbered."""
    equal = rows.groupby(_LINE, dropna=False).cumcount()
    lines = zip(rows["person"], rows["change_shares"], rows["price"], equal, strict=True)
    keys = [hash_key(person, f"{shares:.0f}", f"{price:.4f}", str(n)) for person, shares, price, n in lines]
    return rows.assign(row_key=keys)


DATASET = Raw(
    name="executive_holding",
    title="Trades of executives in their own company",
    model=ExecutiveHolding,
    partition=Partition.CODE,
    sources=(Source("eastmoney", portal),),
    per_code=True,
).alone(
    subject="holders",
    tasks=("fusion_daily_sync", "eod_core"),
    interfaces=(
        stock(
            "get_executive_holding", "newest", "trades of executives in a code, newest first", ttl=3600
        ).takes(code=REQUIRED, limit=50),
    ),
)
