"""A lake as an address: published tables, without a warehouse or a server."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ashare.client.backends import refuse
from core.errors import InputError, NotFound
from platform_assets.research.queries import RowQuery, nearest
from resources.lake.location import Lake
from resources.lake.old_years import COMPARED, old_years, with_old
from resources.lake.reading import read_published


class LakeBackend:
    """Reads the newest published snapshot of each table."""

    kind = "lake"
    judges_codes = False

    def __init__(self, url: str) -> None:
        self._lake = Lake(url)

    def rows(self, query: RowQuery) -> pa.Table:
        name = query.table.name
        old = old_years(self._lake, name)
        try:
            opened = self._lake.table(name)
        except NotFound:
            if not query.table.published:
                problem = f"{name} is as received and never published; a folder or an API has it"
                raise InputError("table", problem) from None
            if old is None:
                raise InputError(
                    "table", f"{name} is not published in this lake{nearest(name, self.tables())}"
                ) from None
            opened = None
        which: dict[str, Any] = {"codes": query.codes, "since": query.since, "until": query.until}
        if old is None or not old.reaches(query.since):
            assert opened is not None  # noqa: S101  one of both is there
            return read_published(opened, columns=query.columns, as_of=query.as_of, **which)
        names = list(dict.fromkeys([*query.columns, *COMPARED]))
        found = old.read(names, as_of=query.as_of, **which)
        if opened is not None:
            rows = read_published(opened, columns=names, as_of=query.as_of, **which)
            found = with_old(rows, found, query.as_of)
        return found.sort_by([(one, "ascending") for one in query.table.key]).select(list(query.columns))

    def tables(self) -> set[str]:
        return {*self._lake.names(), *self._lake.old.names()}

    def freshness(self, table: str) -> dict[str, Any]:
        old = old_years(self._lake, table)
        newest_old, old_rows = (old.last, old.rows) if old is not None else (None, 0)
        if table not in self._lake.names():
            return {"newest": newest_old, "rows": old_rows}
        opened = self._lake.table(table)
        rows = sum(file.rows for file in opened.of_months(None, current=True)) + old_rows
        if opened.date_column is None or not opened.files:
            return {"newest": newest_old, "rows": rows}
        newest = read_published(opened, columns=[opened.date_column], months=[opened.files[-1].month])
        found = pc.max(newest[opened.date_column]).as_py()
        return {"newest": None if found is None else str(found)[:10], "rows": rows}

    def lineage(self, table: str, key: Mapping[str, str], column: str | None) -> dict[str, Any]:
        refuse(self.kind, "lineage")

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]) -> Any:
        refuse(self.kind, "screen" if "screener" in path else "backtest")

    def about(self, query: RowQuery) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        """Nothing is held open."""
