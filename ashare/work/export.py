"""What `ashare export` does."""

from pathlib import Path

from ashare.exporting import Selection, export
from ashare.output import Output
from ashare.session import with_state
from core.errors import InputError
from serving_api.admin.shared import off_loop
from serving_api.framework.state import State

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".xlsx": "excel"}
QLIB = "qlib"


def run(
    out: Output,
    table: str,
    target: str,
    since: str | None,
    until: str | None,
    codes: str | None,
    columns: str | None,
    as_of: str | None,
    adjust: str | None,
    qlib: bool,
    force: bool,
) -> None:
    """Write the chosen rows and say how many they are. Raises InputError for a target that does not fit."""
    path = Path(target)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    form = QLIB if qlib else FORMATS.get(suffix)
    if form is None or (path.suffix == ".gz" and form not in ("csv", "jsonl")):
        raise InputError("to", f"{path.name!r} ends in none of {', '.join(FORMATS)}; .gz is for texts")
    if path.exists() and not force:
        raise InputError("to", f"{path} is there already; --force replaces it")

    async def written(state: State) -> int:
        chosen = Selection.of(state, table, since, until, codes, columns, as_of, adjust)
        return await off_loop(export, state.reading.warehouse, chosen, path, form)

    rows = with_state(written)
    out.result({"table": table, "rows": rows, "file": str(path)}, [f"{rows} rows of {table} in {path}"])
