"""The upstreams as an address: rows of named codes without a platform, kept in a folder of Parquet files.

Clients, parsers, checks, order of the sources and fusion are the pipeline's own
(`platform_assets.pipeline.unstored`). A kept file answers until the next session is over; then its code is
asked for again as a whole, so that a correction arrives.
"""

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ashare.client.backends import refuse
from core.calendar import FIRST_PARTITION, TradeCalendar, shipped_calendar
from core.declaration.registry import builtin_registry
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Table
from core.errors import InputError, PayloadError, StorageError, Unavailable, UpstreamError
from platform_assets.pipeline.unstored import Unstored, reads_of, scope_of
from platform_assets.research.known_codes import unknown_code
from platform_assets.research.queries import INDEX_BARS, RowQuery, readable
from resources.composition import market_clock, open_context
from resources.lake.schema import row_schema
from resources.settings import load_settings
from resources.simulated_market_process import needs_market
from resources.upstreams.fetch_context import FetchContext

MOST_CODES = 50
"""Of one question: the upstreams are asked code by code, with pauses."""
MOST_DATES = 60
"""Trade dates of one question about a table without codes: a call or more each."""
_KEPT_AS = b"asked"
_WHOLE = "_all"
_CODE = re.compile(r"[A-Za-z0-9]{1,16}")
_AWAY = (UpstreamError, PayloadError, Unavailable)


def cache_folder() -> Path:
    """Where kept files are by default: below XDG_CACHE_HOME, else ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ashare"


class LiveBackend:
    """Asks the upstreams that DATA_SOURCE names; pacing and breakers are shared by all processes that keep
    their files in the same folder."""

    kind = "live"
    judges_codes = True

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser() if folder else cache_folder()
        given = load_settings({**os.environ, "DATA_DIR": str(self._folder)})
        settings = replace(given, warehouse_url="", explicit=frozenset())
        if needs_market(settings):
            raise InputError("DATA_SOURCE", "mock needs SIMULATOR_URL and SIMULATOR_TDX of a running market")
        self._registry = builtin_registry()
        self._tables = {
            table.name: table
            for table in readable(self._registry).values()
            if reads_of(self._registry, table) is not None
        }
        self._calendar: TradeCalendar = shipped_calendar()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._ctx: FetchContext = open_context(settings, market_clock(settings), self._calendar)
        self._session = ""
        self._lock = threading.RLock()

    # -- the questions of a client ------------------------------------------------------------------------

    def rows(self, query: RowQuery) -> pa.Table:
        table = query.table
        if table.name not in self._tables:
            refuse(self.kind, "calculated and market-wide tables", f"{table.name}: ")
        if query.as_of is not None:
            refuse(self.kind, "as_of")
        with self._lock:
            whole = self._kept_or_asked(table, self._codes(query), self._since(query))
        if table.date_column is not None and len(whole):
            day = pc.utf8_slice_codeunits(pc.cast(whole[table.date_column], pa.string()), 0, 10)
            first, last = query.since or "", query.until or "9999"
            whole = whole.filter(pc.and_(pc.greater_equal(day, first), pc.less_equal(day, last)))
        order = [(name, "ascending") for name in table.key]
        return whole.sort_by(order).select(list(query.columns))

    def about(self, query: RowQuery) -> dict[str, Any]:
        """{"sources": {dataset: [{src, rows, reason?}]}, "asked_at": time} of kept rows."""
        names = [query.table.name, *sorted(reads_of(self._registry, query.table) or ())]
        found: dict[str, Any] = {}
        asked_at = ""
        for name in names:
            for code in query.codes or (_WHOLE,):
                about = self._about(self._file(name, code))
                if about is not None:
                    sources = found.setdefault(self._registry.of_table(name).name, [])
                    sources += [one for one in about["sources"] if one not in sources]
                    asked_at = max(asked_at, about["asked_at"])
        return {"sources": found, "asked_at": asked_at}

    def tables(self) -> set[str]:
        return set(self._tables)

    def freshness(self, table: str) -> dict[str, Any]:
        """Of the rows that are kept."""
        files = sorted((self._folder / "tables" / table).glob("*.parquet"))
        return {
            "newest": self._ctx.newest_finished(),
            "rows": sum(pq.read_metadata(one).num_rows for one in files),
        }

    def lineage(self, table: str, key: Mapping[str, str], column: str | None) -> NoReturn:
        refuse(self.kind, "lineage")

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]
    ) -> NoReturn:
        refuse(self.kind, "screen" if "screener" in path else "backtest")

    def close(self) -> None:
        self._ctx.close()

    # -- what is asked for --------------------------------------------------------------------------------

    def _codes(self, query: RowQuery) -> tuple[str, ...] | None:
        """The codes to ask for; None of a table that has none. Raises InputError."""
        if "code" not in query.table.names:
            return None
        if query.codes is None:
            if not self._registry.of_table(query.table.name).of_stocks:
                return None
            raise InputError(
                "codes", "name them: live asks code by code; a folder, lake or API has the market"
            )
        if len(query.codes) > MOST_CODES:
            raise InputError("codes", f"{len(query.codes)} codes; live answers at most {MOST_CODES}")
        wrong = next((code for code in query.codes if not _CODE.fullmatch(code)), None)
        if wrong is not None:  # it names a file as well
            raise InputError("codes", f"{wrong[:20]!r} is no code")
        return query.codes

    def _since(self, query: RowQuery) -> str:
        """The first trade date to ask for: rows are asked for up to the newest, which qfq is relative to."""
        newest = self._ctx.newest_finished()
        since = min(self._calendar.on_or_after(query.since or FIRST_PARTITION), newest)
        most = self._most_dates(query.table)
        first = None if most is None else self._calendar.last(most, newest)[0]
        if first is None or since >= first:
            return since
        if query.since is None:
            return first
        raise InputError("since", f"the sources give {query.table.name} since {first}; a platform keeps more")

    def _most_dates(self, table: Table) -> int | None:
        """How many of the newest trade dates the sources give in a few calls; None: any number."""
        dataset = self._registry.of_table(table.name)
        raws = [
            self._registry.raws[name]
            for name in (dataset.feeds or (table.name,))
            if name in self._registry.raws
        ]
        if not any(raw.partition is Partition.TRADE_DATE for raw in raws):
            return None if "code" in table.names else MOST_DATES
        return max(raw.history for raw in raws) if "code" in table.names else MOST_DATES

    def _kept_or_asked(self, table: Table, codes: tuple[str, ...] | None, since: str) -> pa.Table:
        """The rows of a table, asked for where no file of this session is kept."""
        if (session := self._ctx.newest_finished()) != self._session:
            self._session, self._ctx = session, self._ctx.new_run()
        missing = [code for code in codes or (_WHOLE,) if not self._is_kept(table.name, code, since)]
        if missing:
            self._ask(table, None if codes is None else tuple(missing), since)
        files = [self._file(table.name, code) for code in codes or (_WHOLE,)]
        return pa.concat_tables([pq.read_table(file) for file in files])

    def _ask(self, table: Table, codes: tuple[str, ...] | None, since: str) -> None:
        """Ask for rows and keep them. Raises InputError for an unknown code, Unavailable where no source
        answered for one."""
        if codes is not None:
            self._refuse_unknown(table, codes)
        dataset = self._registry.of_table(table.name)
        raw = self._registry.raws.get(table.name)
        partition: Partition = dataset.partition if raw is None else raw.partition
        dates = self._calendar.between(since, self._session)
        # What others are computed with has no trade dates of its own, and goes back as far as they do.
        whole = tuple(dates) if table.name == "ref_exright" else None
        scope = scope_of(table, partition, dates, codes)
        asked = Unstored(self._registry, self._ctx, self._read)
        answer = asked.answer(table, scope if whole is None else replace(scope, dates=whole))
        if not answer.sources:
            raise Unavailable(f"{table.name}: no source serves this; a folder, lake or API of a platform may")
        about = {"session": self._session, "since": since, "sources": answer.sources,
                 "asked_at": self._ctx.clock.now().isoformat(timespec="seconds")}  # fmt: skip
        lost = []
        for code in codes or (_WHOLE,):
            own = answer.frame if code == _WHOLE else answer.frame[answer.frame["code"] == code]
            if own.empty and code in answer.not_served:
                lost.append(code)
            else:
                self._keep(table, code, own, about)
        if lost:
            why = answer.not_served[lost[0]]
            raise Unavailable(f"{table.name}: no source answered for {', '.join(lost)}: {why}")

    def _read(self, table: Table, scope: Scope) -> pd.DataFrame:
        """What a load reads of another table: in the types of the pipeline."""
        rows = self._kept_or_asked(table, scope.codes, scope.since)
        frame = rows.to_pandas()
        for name in rows.column_names:
            if pa.types.is_date(rows.schema.field(name).type):
                frame[name] = [None if day is None else day.isoformat() for day in rows[name].to_pylist()]
        return frame

    def _refuse_unknown(self, table: Table, codes: Sequence[str]) -> None:
        """InputError for a code that is in no list of the securities of today."""
        if table.name == INDEX_BARS or not self._registry.of_table(table.name).of_stocks:
            return
        try:
            listed = self._ctx.securities()
        except _AWAY:
            return  # the sources say themselves that they have none
        names = dict(zip(listed["code"].astype(str), listed["name"].astype(str), strict=True))
        for code in codes:
            if code not in names:
                raise unknown_code(code, table, names)

    # -- kept files ---------------------------------------------------------------------------------------

    def _file(self, table: str, code: str) -> Path:
        return self._folder / "tables" / table / f"{code}.parquet"

    def _is_kept(self, table: str, code: str, since: str) -> bool:
        about = self._about(self._file(table, code))
        return about is not None and about["session"] == self._session and about["since"] <= since

    def _about(self, file: Path) -> dict[str, Any] | None:
        """What is known of a kept file; None where there is none, or none that can be read."""
        try:
            metadata = pq.read_schema(file).metadata or {}
            found: dict[str, Any] = json.loads(metadata[_KEPT_AS])
        except (OSError, KeyError, ValueError, pa.ArrowInvalid):
            return None
        return found

    def _keep(self, table: Table, code: str, frame: pd.DataFrame, about: Mapping[str, Any]) -> None:
        """Write a file whole or not at all; another process may write the same."""
        file = self._file(table.name, code)
        schema = pa.schema([row_schema(table).field(name) for name in table.names])
        columns = {field.name: _column(frame, field) for field in schema}
        rows = pa.table(columns, schema=schema.with_metadata({_KEPT_AS: json.dumps(about)}))
        part = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, part, compression="zstd")
            os.replace(part, file)
        except OSError as error:
            raise StorageError(f"{file.parent} cannot be written ({error.strerror})") from None
        finally:
            part.unlink(missing_ok=True)


def _column(frame: pd.DataFrame, field: pa.Field) -> pa.Array:
    """A column of a frame in the type of the declaration; nulls where the frame does not have it: what a
    platform alone gives."""
    if field.name not in frame.columns:
        return pa.nulls(len(frame), field.type)
    values = [None if _is_missing(value) else value for value in frame[field.name].tolist()]
    if pa.types.is_string(field.type):
        values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
        return pa.array(values, pa.string())
    if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
        texts = pa.array([None if value is None else str(value) for value in values], pa.string())
        return texts.cast(field.type)
    if pa.types.is_boolean(field.type):
        return pa.array([None if value is None else bool(value) for value in values], pa.bool_())
    if pa.types.is_integer(field.type):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    return pa.array([None if value is None else float(value) for value in values], field.type)


def _is_missing(value: Any) -> bool:
    return value is None or (not isinstance(value, str | list | dict | set) and bool(pd.isna(value)))
