"""Imported rows beside those of upstreams: their place in the order of the sources, and the fused rows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from core.declaration.dataset import Dataset
from core.declaration.rules import Partition
from core.declaration.scope import Context, Scope
from core.declaration.tables import Layer
from platform_assets.compute.exright import TERMS, gaps, moves_price, references
from platform_assets.datasets._kline_sources import left_to_quotes
from platform_assets.pipeline.batches import Loaded, write_parts
from platform_assets.pipeline.download import Download
from platform_assets.pipeline.fused_rows import NothingLeft, fused_parts
from platform_assets.pipeline.inputs import staged_input
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.windows import Window
from resources.warehouse.ledger.imports import PREFIX, Imports, ranked

_BEFORE, _LONGEST, _NAMED = 10, 250, 1000
"""Trade dates before a month in which the last bar of every code is looked for; those for codes that have
none there, if there are not more of them than the third number."""
_BARS = "fusion_kline_daily"
_CODES = 100
"""Codes whose whole past is read at once."""


def with_imports(run: PipelineRun, dataset: Dataset) -> Dataset:
    """The dataset with its imports in the order of its sources."""
    placed = Imports(run.warehouse.engine, run.clock).placed(dataset.name) if dataset.importable else []
    return replace(dataset, order=ranked(dataset.source_order, placed)) if placed else dataset


def with_imported_rows(run: PipelineRun, dataset: Dataset, scope: Scope, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of upstreams and, below them, the imported ones of the same scope."""
    if dataset.layer is not Layer.DWD or not any(name.startswith(PREFIX) for name in dataset.source_order):
        return rows  # rows of a reference table are not fused: what is stored stays beside what is loaded
    window = Window.of(dataset.stage_table, dataset.partition, scope, run.calendar)
    imported = run.warehouse.frame(dataset.stage_name, where=window.slice())
    if imported.empty:
        return rows
    names = [spec.name for spec in dataset.stage_table.columns]
    return pd.concat([rows, imported[[*names, "src"]]], ignore_index=True)


def fuse_imported(run: PipelineRun, dataset: Dataset, scope: Scope, staged: pd.DataFrame) -> Loaded:
    """Writes the fused rows of `staged`, rows of one import (`src` and `batch_id` set) of a dataset whose
    upstreams are not staged. A key that a better source has stays as it is."""
    loaded = Loaded(dataset.table)
    window = Window.of(dataset.table, dataset.partition, scope, run.calendar)
    rows = _without_outranked(run, dataset, window, staged)
    if rows.empty:
        return loaded
    inputs = [staged_input(dataset.stage_name, rows, dataset.date_column)]
    rows = rows.drop(columns=["batch_id", "imported_at"], errors="ignore")
    context = run.context(_limited(scope, rows, dataset))
    if dataset.name == "kline_daily":
        rows = with_references(rows, context)
    if dataset.name == "exright":
        rows = with_factors(rows, context)
    try:
        parts = fused_parts(dataset, rows, context, context.scope)
    except NothingLeft:
        return loaded  # what is left passed the checks of the file; a contract of the market refused it
    source = str(rows["src"].iloc[0])
    note = {"src": source, "calls": 0, "rows": len(rows), "fetch_ids": []}
    write_parts(run, loaded, parts, Download(rows, [note]), facts={"inputs": inputs}, fused=dataset)
    return loaded


def _limited(scope: Scope, rows: pd.DataFrame, dataset: Dataset) -> Scope:
    """The dates of which rows are left: a date without one is not one that was looked at."""
    if dataset.partition is not Partition.TRADE_DATE:
        return scope
    return replace(scope, dates=tuple(sorted(set(rows[str(dataset.date_column)]))))


def _without_outranked(
    run: PipelineRun, dataset: Dataset, window: Window, staged: pd.DataFrame
) -> pd.DataFrame:
    """The rows without those that a better source has stored."""
    rank = {name: place for place, name in enumerate(dataset.source_order)}
    key = list(dataset.key)
    stored = run.warehouse.frame(dataset.table_name, columns=(*key, "src"), where=window.slice())
    known = staged[key].merge(stored, on=key, how="left")["src"].map(rank).astype(float)
    own = staged["src"].map(rank).astype(float).to_numpy()
    return staged[~(known.to_numpy() < own)].reset_index(drop=True)


def with_factors(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Ex-right events with the factor from stored bars where the file has none."""
    rows = rows.reset_index(drop=True)
    waiting = rows[moves_price(rows) & rows["factor"].isna()]
    codes = sorted(set(waiting["code"]))
    for at in range(0, len(codes), _CODES):
        some = codes[at : at + _CODES]
        bars = context.read(_BARS, columns=("code", "date", "market", "close"), codes=some)
        bars = bars.sort_values(["code", "date"])
        for code, own in bars.groupby("code"):
            events = waiting[waiting["code"] == code]
            days, closes = own["date"].to_numpy(dtype=str), own["close"].to_numpy(dtype=float)
            made = gaps(str(code), str(own["market"].iloc[0]), days, closes, events).factors
            rows.loc[events.index, "factor"] = made
    return rows


def with_references(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Daily bars with the reference price where the file has none: the close before, taken down by the
    ex-right events in between and by what they leave to the quotes. A first bar of a code has none."""
    rows = rows.sort_values(["code", "date"], kind="stable").reset_index(drop=True)
    codes = tuple(sorted(set(rows["code"])))
    since, until = str(rows["date"].min()), str(rows["date"].max())
    named = codes if len(codes) <= 1000 else None
    first = context.calendar.last(_BEFORE + 1, since)[0]
    last = context.calendar.last(2, since)[0]
    before = context.read(_BARS, columns=("code", "date", "close"), codes=named, since=first, until=last)
    away = sorted(set(codes) - set(before["code"]))
    if away and len(away) <= _NAMED:
        longest = context.calendar.last(_LONGEST, since)[0]
        older = context.read(_BARS, columns=("code", "date", "close"), codes=away, since=longest, until=last)
        before = pd.concat([before, older], ignore_index=True)
    before = before[before["date"] < since].sort_values(["code", "date"]).drop_duplicates("code", keep="last")
    closes, days = (dict(zip(before["code"], before[name], strict=True)) for name in ("close", "date"))
    same = (rows["code"] == rows["code"].shift()).to_numpy()
    previous = np.where(same, rows["close"].shift(), rows["code"].map(closes).astype(float))
    seen = np.where(same, rows["date"].shift(), rows["code"].map(days))
    events = context.read(
        "ref_exright",
        columns=("code", "date", "category", *TERMS, "held_back"),
        codes=named,
        since=first,
        until=until,
    )
    events = events[moves_price(events) & events["code"].isin(codes)]
    items = left_to_quotes(context.read, named)
    by_code, items_of = (dict(iter(steps.groupby("code"))) for steps in (events, items))
    places = rows.groupby("code").indices
    for code in (by_code.keys() | items_of.keys()) & places.keys():
        at = places[code]
        own = rows.iloc[at][["date", "close"]]
        if isinstance(seen[at[0]], str):
            first_bar = pd.DataFrame({"date": [seen[at[0]]], "close": [previous[at[0]]]})
            own = pd.concat([first_bar, own], ignore_index=True)
        # What went ex on the date of the earliest bar or before is in its price already.
        known_from = str(own["date"].iloc[0])
        steps = [one.get(code) for one in (by_code, items_of)]
        steps = [None if one is None else one[one["date"] > known_from] for one in steps]
        made = references(str(code), str(rows["market"].iloc[at[0]]), own, *steps)
        previous[at[len(at) + 1 - len(own) :]] = made[1:]
    known = rows["last_close"].astype(float)
    rows["last_close"] = known.where(known.notna(), np.round(previous.astype(float), 4))
    return rows
