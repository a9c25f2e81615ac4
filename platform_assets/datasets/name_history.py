"""ref_name_history: names and ST states with their dates, continued from the daily quotes.

Before the first name that was seen, that first name is the best knowledge there is.
"""

from typing import Any

import pandas as pd

from platform_assets.compute.names import is_st, plain_name
from platform_assets.declaration.columns import K32, S64, Bool, Code, Date, Model, col, key
from platform_assets.declaration.dataset import Dataset, Source
from platform_assets.declaration.rules import Partition
from platform_assets.declaration.scope import Scope
from platform_assets.declaration.tables import Layer

_BEST_NAME = {"tencent": 0, "eastmoney": 1, "tdx": 2}
"""The terminal's list cuts names at eight bytes."""


class NameSpan(Model):
    """One name of one security; `valid_to` is null for the current one."""

    code: Code = key("security code")
    valid_from: Date = key("first trade date seen with this name")
    valid_to: Date = col(title="last trade date with this name")
    name: S64 = col(title="name without one-day prefixes", nullable=False)
    is_st: Bool = col(title="special treatment", nullable=False)
    src: K32 = col(title="upstream of the name")


def continued(desk: Any, scope: Scope) -> pd.DataFrame:
    """Spans that the quotes of the scope's last date open or close."""
    day = scope.until
    quotes = desk.read("raw_quote", columns=("code", "name", "src"), codes=scope.codes, since=day, until=day)
    quotes = quotes[quotes["name"].notna()].assign(rank=lambda f: f["src"].map(_BEST_NAME).fillna(9))
    quotes = quotes.sort_values(["code", "rank"]).drop_duplicates("code")
    stored = desk.read("ref_name_history", columns=("code", "valid_from", "valid_to", "name", "is_st", "src"))
    current = {row.code: row for row in stored[stored["valid_to"].isna()].itertuples(index=False)}
    before = desk.calendar.offset(day, -1)
    rows: list[dict[str, Any]] = []
    for quote in quotes.itertuples(index=False):
        name = plain_name(quote.name)
        span = current.get(quote.code)
        if span is not None and (span.valid_from >= day or _same(span, name, quote.src)):
            continue
        if span is not None:
            rows.append({**span._asdict(), "valid_to": before})
        rows.append(
            {
                "code": quote.code,
                "valid_from": day,
                "valid_to": None,
                "name": name,
                "is_st": is_st(name),
                "src": quote.src,
            }
        )
    return pd.DataFrame(rows, columns=["code", "valid_from", "valid_to", "name", "is_st", "src"])


def _same(span: Any, name: str, src: str) -> bool:
    """The same name, or one that only a source with cut names spells shorter."""
    if span.name == name:
        return True
    cut = src == "tdx" or span.src == "tdx"
    return cut and (str(span.name).startswith(name) or name.startswith(str(span.name)))


DATASET = Dataset(
    name="name_history",
    title="Names and ST states by date",
    layer=Layer.REF,
    model=NameSpan,
    key=("code", "valid_from"),
    partition=Partition.CODE,
    may_be_empty=True,
    date_column="valid_from",
    sources=(Source("derived", continued),),
    reads=("raw_quote",),
    owners={"name": ("raw_quote", "name"), "is_st": ("raw_quote", "name")},
    tasks=("fusion_wide_sync", "eod_core"),
)
