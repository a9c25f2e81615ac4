"""New rows of a RAW or staging table compared with stored ones: which are written, and which stored ones
go."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from core.declaration.dataset import Dataset, Raw
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Table
from platform_assets.pipeline.run import PipelineRun
from platform_assets.pipeline.slices import Part
from platform_assets.pipeline.windows import Window
from resources.warehouse.slices import Slice


def coalesce_with_stored(run: PipelineRun, raw: Raw, window: Window, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with stored values of `coalesce_with_stored` columns where this answer, of a poorer call, has
    none."""
    key = list(key_with_src(raw.table))
    stored = run.warehouse.frame(
        raw.table_name, columns=(*key, *raw.coalesce_with_stored), where=window.slice()
    )
    known = frame[key].merge(stored, on=key, how="left")
    for column in raw.coalesce_with_stored:
        frame[column] = frame[column].where(frame[column].notna(), known[column])
    return frame


def first_reported(run: PipelineRun, table: Table, window: Window, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without those of a loose table whose key is stored under an earlier day."""
    if not window.loose or frame.empty:
        return frame
    key, day = list(table.key), str(window.date_column)
    codes = tuple(sorted(set(frame["code"].dropna().tolist())))
    stored = run.warehouse.frame(table.name, columns=(*key, day), where=Slice.of_codes(codes))
    reported = frame[key].merge(stored, on=key, how="left")[day].set_axis(frame.index)
    return frame[~window.repeats(frame[day], reported)]


def keep_better(run: PipelineRun, raw: Raw, window: Window, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without those that a better source has, now or stored: the key has one row, of whichever
    source. Stored rows do not keep out new ones of a table that `moves`, nor a group that is replaced
    whole."""
    rank = {source.name: place for place, source in enumerate(raw.sources)}
    key = list(raw.key)
    # An empty column of texts stays one of texts, whatever it is mapped to: ranks are numbers.
    ranks = frame["src"].map(rank).astype(float)
    if raw.combine == "all":
        best = frame.assign(_rank=ranks).sort_values("_rank", kind="stable")
        frame = frame[frame.index.isin(best.drop_duplicates(key).index)]
    if raw.moves or raw.replace_by:  # of a group, a half would take the place of the stored whole
        return frame
    stored = run.warehouse.frame(raw.table_name, columns=(*key, "src"), where=window.slice())
    known = frame[key].merge(stored, on=key, how="left")["src"].map(rank).astype(float)
    return frame[~(known.set_axis(frame.index) < ranks.loc[frame.index])]


def withdrawn_fallbacks(run: PipelineRun, raw: Raw, frame: pd.DataFrame, scope: Scope) -> list[Part]:
    """An empty part for each stored group of a source that was the fallback of the one that has answered now,
    where groups are those of a source. It would not be asked again, so its rows would stay and age."""
    if "src" not in raw.replace_by or raw.combine == "all" or frame.empty:
        return []
    names = [source.name for source in raw.sources]
    worse = names[max(names.index(name) for name in frame["src"].unique()) + 1 :]
    groups = [Slice(equal=(("src", name),), codes=scope.codes) for name in worse]
    stored = [one for one in groups if len(run.warehouse.frame(raw.table_name, columns=("src",), where=one))]
    return [Part(scope.until, frame.iloc[:0], one) for one in stored]


def key_with_src(table: Table) -> tuple[str, ...]:
    return table.key if "src" in table.key else (*table.key, "src")


def written_codes(run: PipelineRun, dataset: Dataset, scope: Scope, tables: Sequence[str]) -> Scope:
    """A staged dataset by code goes on with the codes that the loads of the scope's dates wrote in `tables`:
    the scope, limited to those. A scope of codes, or of another dataset, stays as it is."""
    if dataset.partition is not Partition.CODE or dataset.dimension or scope.codes is not None:
        return scope
    found: set[str] = set()
    for table in tables:
        rows = run.warehouse.query(
            f"SELECT DISTINCT code FROM {run.warehouse.sql.name(table)} WHERE batch_id IN (SELECT batch_id "
            "FROM sys_batch WHERE table_name=? AND partition_key>=? AND partition_key<=?)",
            (table, scope.since, scope.until),
        )
        found |= {str(code) for (code,) in rows}
    return replace(scope, codes=tuple(sorted(found)))
