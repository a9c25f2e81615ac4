"""calc_reconcile: how far independent sources differ in the fields that both carry, by trade date.

A row per date, dataset, field and pair. Most pairs are stored already; three ask the second source about a
few codes. A previous close that is quoted otherwise than ours follows from an ex-right event that we do not
know, or from a wrong close of ours: the codes concerned are loaded again.
"""

import json

import pandas as pd

from core.declaration.columns import EVENING, K32, K64, S8, S16, Date, F, Int, Json, Model, Pct, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import canonical_json
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from platform_assets.compute.reconcile import ABS, PCT, SIGN_PCT, measure
from platform_assets.datasets._pairs import DERIVED, found_pairs
from resources.upstreams.fetch_context import FetchContext

DRIFT_DATES = 20
REPAIRED_BY = "fusion_kline_sync"
MOST_REPAIRED = 100
"""More codes at once are no events that we missed but a source that is wrong."""


class Reconcile(Model):
    """One pair on one date. Differences are in the unit of the field, or in percent, by `tolerance_kind`."""

    trade_date: Date = key("trade date of the figures")
    dataset: K32 = key("dataset that holds the field")
    field_name: K64 = key("column of the dataset, or what is counted")
    source_a: K32 = key("first source; fused: the stored row; derived: computed from stored rows")
    source_b: K32 = key("second source, independent of the first")
    compared: Int = col("", "values that both have", nullable=False, ge=0, varies=EVENING)
    within_count: Int = col("", "of these within the tolerance", nullable=False, ge=0, varies=EVENING)
    within_pct: Pct = col("pct", "share of them", ge=0, le=100, varies=EVENING)
    tolerance: F = col(
        "", "what they may differ by, beyond the rounding of the wires", nullable=False, ge=0, decimals=6
    )
    tolerance_kind: S8 = col(
        title="abs: unit of the field; pct: percent; sign_pct: percent and the same sign",
        nullable=False,
        isin=[ABS, PCT, SIGN_PCT],
    )
    median_diff: F = col("", "median of the differences", ge=0, decimals=6, varies=EVENING)
    p95_diff: F = col("", "95th percentile of them", ge=0, decimals=6, varies=EVENING)
    max_diff: F = col("", "largest of them", ge=0, decimals=6, varies=EVENING)
    only_a: Int = col("", "values that the first alone has", nullable=False, ge=0, varies=EVENING)
    only_b: Int = col("", "values that the second alone has", nullable=False, ge=0, varies=EVENING)
    drift_20d: F = col(
        "", "mean of the signed means of 20 trade dates", computed=True, decimals=6, varies=EVENING
    )
    worst_json: Json = col(title="the ten that differ most: {code, a, b, diff}", varies=EVENING)
    status: S16 = col(
        title="ok; warning: fewer than 99 % agree, or are on both sides; no_second_source: one side is away",
        nullable=False,
        isin=["ok", "warning", "no_second_source"],
        varies=EVENING,
    )
    mean_diff: F = col("", "mean of the signed differences (first - second)", decimals=6, varies=EVENING)


def compared(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    """Every pair of the scope's dates of which one side at least is there."""
    rows = []
    for day in scope.dates:
        for pair in found_pairs(ctx, day):
            reported = measure(pair.rows, pair.tolerance)
            worst = reported.pop("worst")
            if not (reported["compared"] or reported["only_a"] or reported["only_b"]):
                continue
            rows.append(
                {
                    "trade_date": day, "dataset": pair.dataset, "field_name": pair.field,
                    "source_a": pair.source_a, "source_b": pair.source_b, "tolerance": pair.tolerance.value,
                    "tolerance_kind": pair.tolerance.kind, "worst_json": canonical_json(worst), **reported,
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(Reconcile.to_schema().columns)).drop(columns="drift_20d")


_PAIR = ["dataset", "field_name", "source_a", "source_b"]


def add_drift(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Mean over the date and the nineteen before it, of those on which the pair is there; none while one of
    these dates is not stored."""
    since = context.calendar.offset(context.scope.since, 1 - DRIFT_DATES)
    columns = ("trade_date", *_PAIR, "mean_diff")
    stored = context.read("calc_reconcile", columns=columns, since=since, until=context.scope.until)
    known = pd.concat([stored, rows[list(columns)]], ignore_index=True)
    known = known.drop_duplicates(["trade_date", *_PAIR], keep="last").dropna(subset=["mean_diff"])
    held = {*stored["trade_date"], *rows["trade_date"]}
    drifts: list[float | None] = []
    for row in rows.itertuples(index=False):
        dates = context.calendar.last(DRIFT_DATES, str(row.trade_date))
        if not held.issuperset(dates):
            drifts.append(None)
            continue
        first = dates[0]
        own = known[(known["trade_date"] >= first) & (known["trade_date"] <= row.trade_date)]
        for name in _PAIR:
            own = own[own[name] == getattr(row, name)]
        drifts.append(round(float(own["mean_diff"].mean()), 6) if len(own) else None)
    rows["drift_20d"] = pd.Series(drifts, index=rows.index, dtype="float64")
    return rows


def broken_references(rows: pd.DataFrame, context: Context) -> dict[tuple[str, str], list[str]]:
    """A trade date with the one before it, since the fault may lie on either side -> codes whose previous
    close differs from ours at every source that quotes one, and those of which the ledger opened an item: it
    may be the stored close that is wrong."""
    breaks: dict[tuple[str, str], list[str]] = {}
    of_references = rows[(rows["field_name"] == "last_close") & (rows["source_a"] == DERIVED)]
    if of_references.empty:
        return breaks
    days = of_references["trade_date"]
    items = context.read(
        "ref_exright_item", columns=("code", "date", "status"), since=days.min(), until=days.max()
    )
    items = items[items["status"] == "open"]
    for day, reported in of_references.groupby("trade_date"):
        sets = [
            {str(one["code"]) for one in json.loads(row.worst_json or "[]") if one["diff"] > row.tolerance}
            for row in reported.itertuples(index=False)
            if row.compared
        ]
        differing = set.intersection(*sets) if sets else set()
        codes = sorted(differing | set(items.loc[items["date"] == day, "code"]))
        if codes and max(reported["compared"] - reported["within_count"]) <= MOST_REPAIRED:
            breaks[context.calendar.offset(str(day), -1), str(day)] = codes
    return breaks


DATASET = Dataset(
    name="reconcile",
    subject="operations",
    title="Agreement of independent sources",
    layer=Layer.CALC,
    model=Reconcile,
    late=1,
    sources=(Source("derived", compared),),
    derive=(add_drift,),
    reads=(
        "stg_quote_snapshot", "stg_valuation", "stg_fund_flow", "stg_margin", "stg_block_trade",
        "stg_dividend", "stg_finance_indicator", "raw_quote", "raw_dragon_tiger", "ref_exright",
        "ref_exright_item", "fusion_kline_daily", "fusion_index_daily", "fusion_stock_master",
    ),
    undated={"fusion_stock_master": ("code", "sec_type")},
    reads_own_past=True,
    of_stocks=False,
    monitored=False,
    may_be_empty=True,
    repairs=(REPAIRED_BY, broken_references),
    tasks=("freshness_snapshot",),
)  # fmt: skip
