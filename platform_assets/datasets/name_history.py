"""ref_name_history: names and ST states with their dates.

Former names come from the terminal's own list of them, complete up to the day before; the current name
and a change of today from the security list and the quotes. Where the list of former names cannot be had,
a name is known from the day it was first seen, and nothing is said about the days before.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pandas as pd

from core.declaration.columns import K32, S64, Bool, Code, Date, Model, col, key
from core.declaration.dataset import MIN_COVERAGE, Dataset, Source
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.errors import PayloadError, Unavailable, UpstreamError
from core.market.names import plain_name
from core.market.securities import sec_type_of
from platform_assets.compute.name_spans import Seen, Span, spans_of
from platform_assets.datasets._dated import SPELLING
from resources.upstreams.fetch_context import FetchContext

_BEST_NAME = {"tencent": 0, "eastmoney": 1, "tdx": 2}
"""The terminal's list cuts names at eight bytes."""
_COLUMNS = ("code", "valid_from", "valid_to", "name", "is_st", "src")
_HELD = ("stock", "etf", "lof", "cb", "reit")
_FEW = 3
"""Changes that were seen while the list, which is a day old, does not have them yet."""
Former = dict[str, list[tuple[str, str]]]
Spans = dict[str, list[Span]]


class NameSpan(Model):
    """One name of one security; `valid_to` is null for the current one."""

    code: Code = key("security code")
    valid_from: Date = key("first day with this name (the exchange's first, when it has had no other before)")
    valid_to: Date = col(
        title="last trade date with this name", varies="a span ends when the next one begins"
    )
    name: S64 = col(
        title="name without one-day prefixes; former ones cut at eight bytes", nullable=False, varies=SPELLING
    )
    is_st: Bool = col(title="special treatment", nullable=False)
    src: K32 = col(title="upstream of the name")


def with_former_names(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The spans that are not stored so, from the terminal's list of former names and what is shown now."""
    listed = ctx.former_names()
    kinds = [sec_type_of(code, market) for code, market in zip(listed["code"], listed["market"], strict=True)]
    held = listed[pd.Series(kinds, index=listed.index, dtype=object).isin(_HELD)]
    held = held.sort_values(["code", "renamed_on"])
    former: Former = defaultdict(list)
    for row in held.itertuples(index=False):
        former[str(row.code)].append((str(row.renamed_on), plain_name(str(row.old_name))))
    stored = _stored(ctx, scope)
    _not_shortened(stored, former)
    return _changes(ctx, stored, [*_shown(ctx, scope), *_listed(ctx, scope)], former)


def as_seen(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """The spans that today's names open or close, while former names cannot be had."""
    shown = list(_shown(ctx, scope))
    with suppress(UpstreamError, PayloadError, Unavailable):
        shown += _listed(ctx, scope)
    return _changes(ctx, _stored(ctx, scope), shown, None)


def _changes(
    ctx: FetchContext, stored: Spans, shown: list[tuple[str, Seen]], former: Former | None
) -> pd.DataFrame:
    """All spans of the codes whose stored ones are not these."""
    seen = {code: [Seen(s.since, s.name, s.src, s.until) for s in spans] for code, spans in stored.items()}
    for code, one in shown:
        seen.setdefault(code, []).append(one)
    rows: list[tuple[Any, ...]] = []
    for code, names in seen.items():
        spans = spans_of(names, None if former is None else former.get(code, ()), ctx.calendar.dates)
        if spans != stored.get(code):
            rows += [(code, s.since, s.until, s.name, s.is_st, s.src) for s in spans]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def _stored(ctx: FetchContext, scope: Scope) -> Spans:
    frame = ctx.read("ref_name_history", columns=_COLUMNS, codes=scope.codes)
    found: Spans = defaultdict(list)
    for row in frame.sort_values(["code", "valid_from"]).itertuples(index=False):
        until = None if pd.isna(row.valid_to) else str(row.valid_to)
        found[str(row.code)].append(Span(str(row.valid_from), until, str(row.name), str(row.src)))
    return found


def _shown(ctx: FetchContext, scope: Scope) -> Iterator[tuple[str, Seen]]:
    """Names in the stored quotes of the scope's last date, the fullest spelling of each."""
    day = scope.until
    columns = ("code", "name", "src", "price")
    quotes = ctx.read("raw_quote", columns=columns, codes=scope.codes, since=day, until=day)
    # A name without a price is of the moment at which it was asked for.
    quotes = quotes[quotes["name"].notna() & quotes["price"].notna()].assign(
        rank=lambda f: f["src"].map(_BEST_NAME).astype(float).fillna(9)
    )
    quotes = quotes.sort_values(["code", "rank"]).drop_duplicates("code")
    return _names(quotes, day)


def _listed(ctx: FetchContext, scope: Scope) -> Iterator[tuple[str, Seen]]:
    """Names in the terminal's list, which is of now whatever the scope is."""
    listed = ctx.terminal_list()[["code", "name"]].assign(src="tdx")
    listed = listed[listed["code"].isin(list(scope.codes))] if scope.codes is not None else listed
    return _names(listed, ctx.calendar.on_or_before(ctx.today))


def _names(rows: pd.DataFrame, day: str) -> Iterator[tuple[str, Seen]]:
    for code, shown, src in rows[["code", "name", "src"]].itertuples(index=False):
        name = plain_name(str(shown))
        if name:
            yield str(code), Seen(day, name, str(src))


def _not_shortened(stored: Spans, former: Former) -> None:
    """Former names are never taken back: a list that lacks many of those known is cut short."""
    known = sum(len(spans) - 1 for spans in stored.values())
    reported = sum(len(former.get(code, ())) for code in stored)
    if reported < MIN_COVERAGE * known - _FEW:
        raise PayloadError(
            f"the list of former names has {reported} changes, {known} are known", source="tdx"
        )


DATASET = Dataset(
    name="name_history",
    subject="securities",
    title="Names and ST states by date",
    layer=Layer.REF,
    model=NameSpan,
    partition=Partition.CODE,
    may_be_empty=True,
    replace="code",
    sources=(Source("tdx", with_former_names), Source("seen", as_seen)),
    reads=("raw_quote",),
    owners={"name": ("raw_quote", "name"), "is_st": ("raw_quote", "name")},
    tasks=("fusion_kline_sync", "fusion_wide_sync", "eod_core"),
)
