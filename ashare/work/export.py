"""What `ashare export` does: rows of a declared table as a file, streamed, so that memory does not grow with
the table."""

import csv
import gzip
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from ashare.export_formats import QLIB_COLUMNS, as_text, write_excel, write_parquet, write_qlib
from ashare.output import Output
from ashare.session import with_state
from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError, PlatformError
from platform_assets.research.factors import PROVISIONAL, days_ahead, is_adjusted, reached
from platform_assets.research.known_codes import refuse_unknown
from platform_assets.research.queries import FACTOR, PRICES, RowQuery, adjust_of, codes_of
from resources.lake.location import Lake
from resources.lake.reading import LakeReader
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.admin.lineage.service import market_table
from serving_api.admin.shared import parse_day
from serving_api.db.old_rows import streamed
from serving_api.db.request_notes import current_code, taking_notes
from serving_api.framework.parameters import parse_as_of
from serving_api.framework.renumbered_codes import HEADER, KEY, header_of, renumbering_of, reported
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "excel"}
QLIB = "qlib"


def run(output: Output, table: str, out: str, qlib: bool, force: bool, **which: str | None) -> None:
    """Write the chosen rows and say how many they are. Raises InputError for a target that does not fit."""
    path = Path(out)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    form = QLIB if qlib else FORMATS.get(suffix)
    if form is None or (path.suffix == ".gz" and form not in ("csv", "jsonl")):
        raise InputError("out", f"{path.name!r} ends in none of {', '.join(FORMATS)}; .gz is for texts")
    if path.exists() and not force:
        raise InputError("out", f"{path} is there already; --force replaces it")

    async def written(state: State) -> tuple[int, dict[str, Any]]:
        with taking_notes() as notes:
            notes.renumbering = await renumbering_of(state)
            chosen = Selection.of(state, table, **which)
        if form == QLIB:
            chosen = _for_qlib(chosen)
        await off_loop(_refuse_unknown, state, chosen)
        marks = await off_loop(_marks, state, chosen)
        dates = state.calendar.dates
        count = await off_loop(_exported, state.reading.warehouse, chosen, path, form, dates, marks)
        changes = notes.changes.values()
        return count, marks | ({KEY: reported(changes)} | header_of(changes) if changes else {})

    rows, said = with_state(written)
    lines = [f"{rows} rows of {table} in {path}", *filter(None, [said.pop(HEADER, None)])]
    if "provisional_codes" in said:
        codes = ", ".join(said["provisional_codes"])
        lines.append(f"factor provisional: no source has an ex-right event yet of {codes}")
    output.result({"table": table, "rows": rows, "file": str(path), **said}, lines)


def _refuse_unknown(state: State, chosen: "Selection") -> None:
    """InputError for a code that nobody knows."""
    warehouse = state.reading.warehouse
    reader = LakeReader(warehouse, Lake.of(state.settings.lake_url, state.settings.data_path))
    asked = RowQuery(chosen.table, ("code",), chosen.rows.codes)
    refuse_unknown(
        builtin_registry(),
        asked,
        None,
        lambda query: reader.read(query.table.name, columns=query.columns, codes=query.codes),
    )


@dataclass(frozen=True)
class Selection:
    """Which rows and columns of a table. `as_of` None: as known now."""

    table: Table
    columns: tuple[str, ...]
    rows: Slice
    as_of: str | None
    adjust: str = "none"

    @classmethod
    def of(
        cls,
        state: State,
        name: str,
        since: str | None,
        until: str | None,
        codes: str | None,
        columns: str | None,
        as_of: str | None,
        adjust: str | None,
    ) -> "Selection":
        """Raises NotFound for the table, InputError for every other value."""
        table = market_table(state, name)
        first, last = (
            None if text is None else parse_day(option, text, state.calendar.horizon)
            for option, text in (("from", since), ("to", until))
        )
        if first and last and first > last:
            raise InputError("from", f"{first} lies after --to {last}")
        if (first or last) and table.date_column is None:
            raise InputError("from", f"{table.name} has no dates")
        chosen = _of_today(codes_of(table, codes))
        instant = None if as_of is None else parse_as_of(as_of, state.clock.now()).bound
        if instant is not None and not table.has_history:
            raise InputError("as_of", f"{table.name} keeps no versions")
        date_column = table.date_column if first or last else None
        part = Slice(date_column=date_column, since=first, until=last, codes=chosen)
        return cls(table, _columns(table, columns), part, instant, adjust_of(table, adjust))


def _names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _of_today(named: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The codes as they are today."""
    try:
        return None if named is None else tuple(dict.fromkeys(map(current_code, named)))
    except ValueError as problem:
        raise InputError("codes", str(problem)) from None


def _columns(table: Table, text: str | None) -> tuple[str, ...]:
    asked = _names(text)
    if asked is None:
        return tuple(table.names)
    known = {spec.name for spec in table.all_columns}
    wrong = next((name for name in asked if name not in known), None)
    if wrong is not None or not asked:
        raise InputError("columns", f"{(wrong or '')[:64]!r} is none of {', '.join(sorted(known))}")
    return asked


def _marks(state: State, chosen: Selection) -> dict[str, Any]:
    """`factor` and `provisional_codes` of an export with values whose factor is provisional."""
    columns = chosen.columns if chosen.adjust == "none" else (*chosen.columns, FACTOR)
    provisional = state.reading.ledger.provisional(chosen.as_of)
    if not provisional or not is_adjusted(builtin_registry(), chosen.table.name, columns):
        return {}
    until = None if chosen.adjust == "qfq" else chosen.rows.until
    ahead = days_ahead(builtin_registry(), chosen.table.name)
    codes = sorted(reached(provisional, chosen.rows.codes or provisional, until, ahead))
    if codes and "code" in chosen.table.names:
        there = replace(chosen.rows, codes=tuple(codes))
        with state.reading.warehouse.connect() as connection:
            warehouse = state.reading.warehouse
            rows = streamed(warehouse, connection, chosen.table, ("code",), there, as_of=chosen.as_of)
            codes = sorted({str(code) for (code,) in rows})
    return {"factor": PROVISIONAL, "provisional_codes": codes} if codes else {}


def _exported(
    warehouse: Warehouse, chosen: Selection, path: Path, form: str, dates: list[str], marks: dict[str, Any]
) -> int:
    """Write the rows; returns their number. The file, or the folder of qlib, appears when it is complete."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with warehouse.connect() as connection:
            newest = _newest_factors(warehouse, chosen) if chosen.adjust == "qfq" else {}
            names = chosen.columns
            if chosen.adjust != "none":  # a column that was asked for is not read a second time
                names = tuple(dict.fromkeys((*chosen.columns, "code", FACTOR)))
            found = streamed(warehouse, connection, chosen.table, names, chosen.rows, as_of=chosen.as_of)
            rows = found if chosen.adjust == "none" else _adjusted(chosen, names, found, newest)
            count = _written(part, chosen, rows, form, dates, marks, packed=path.suffix == ".gz")
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(part, path)
    except OSError as error:
        raise PlatformError(f"out: {path} cannot be written ({error.strerror})") from None
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        part.unlink(missing_ok=True)
    return count


def _written(
    part: Path,
    chosen: Selection,
    rows: Iterator[tuple[Any, ...]],
    form: str,
    dates: list[str],
    marks: dict[str, Any],
    *,
    packed: bool,
) -> int:
    if form == "parquet":
        return write_parquet(part, chosen.table, chosen.columns, rows, marks)
    if form == "excel":
        return write_excel(part, chosen.table, chosen.columns, rows)
    if form == QLIB:
        part.mkdir()
        return write_qlib(part, dates, rows)
    with _opened(part, packed=packed) as handle:
        return _WRITERS[form](handle, chosen, rows)


def _for_qlib(chosen: Selection) -> Selection:
    """Bars with what qlib needs of them; it adjusts by their factor itself."""
    if chosen.table.name != "fusion_kline_daily":
        raise InputError("format", f"qlib holds daily bars; {chosen.table.name} has none")
    return replace(chosen, columns=QLIB_COLUMNS, adjust="none")


def _newest_factors(warehouse: Warehouse, chosen: Selection) -> dict[str, float]:
    """Factor of the newest bar of each code that is known, whatever dates are chosen."""
    found: dict[str, float] = {}
    every = replace(chosen.rows, date_column=None, since=None, until=None)
    names = ("code", FACTOR)
    with warehouse.connect() as connection:
        for code, factor in streamed(warehouse, connection, chosen.table, names, every, as_of=chosen.as_of):
            if factor is not None:
                found[str(code)] = float(factor)
    return found


def _adjusted(
    chosen: Selection, names: tuple[str, ...], rows: Iterator[tuple[Any, ...]], newest: Mapping[str, float]
) -> Iterator[tuple[Any, ...]]:
    """The chosen columns with prices times their factor; of `qfq` over the newest of the code. `rows` have
    the columns `names`, which begin with the chosen ones."""
    width, code, factor = len(chosen.columns), names.index("code"), names.index(FACTOR)
    places = [at for at, name in enumerate(chosen.columns) if name in PRICES]
    for row in rows:
        ratio = float(row[factor] or 1.0) / newest.get(str(row[code]), 1.0)
        values = list(row[:width])
        for at in places:
            values[at] = None if values[at] is None else float(values[at]) * ratio
        yield tuple(values)


def _opened(path: Path, *, packed: bool) -> TextIO:
    if packed:
        return io.TextIOWrapper(gzip.GzipFile(path, "wb"), encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")


def _csv(handle: TextIO, chosen: Selection, rows: Iterator[tuple[Any, ...]]) -> int:
    writer, count = csv.writer(handle, lineterminator="\n"), 0
    writer.writerow(chosen.columns)
    for row in rows:
        writer.writerow([as_text(value) for value in row])
        count += 1
    return count


def _jsonl(handle: TextIO, chosen: Selection, rows: Iterator[tuple[Any, ...]]) -> int:
    flags = [name for name in chosen.columns if chosen.table.column(name).family == "bool"]
    count = 0
    for row in rows:
        record = dict(zip(chosen.columns, row, strict=True))
        record |= {name: bool(record[name]) for name in flags if record[name] is not None}
        handle.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")
        count += 1
    return count


_WRITERS: dict[str, Callable[[TextIO, Selection, Iterator[tuple[Any, ...]]], int]] = {
    "csv": _csv,
    "jsonl": _jsonl,
}
