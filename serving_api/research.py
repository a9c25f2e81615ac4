"""/research: what the Python client asks for: datasets, their columns, and rows as Arrow."""

from typing import Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BaseModel, Field
from starlette.responses import Response

from core.declaration.registry import builtin_registry
from core.declaration.tables import Table
from core.errors import InputError, NotFound
from platform_assets.research.facts import described, listed
from platform_assets.research.known_codes import refuse_unknown, with_code
from platform_assets.research.queries import RowQuery, row_query, table_named
from resources.warehouse.stored import ANY
from serving_api.db.old_rows import rows_of_old_years
from serving_api.db.request_notes import current_code
from serving_api.framework.envelope import PREFIX
from serving_api.framework.openapi import example
from serving_api.framework.permissions import Login
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.middleware.compression import ARROW

router = area_router(f"{PREFIX}/research", "research")

MOST_ROWS = 5_000_000
"""Of one answer; the client asks for a year at a time."""
TableName = Annotated[str, Path(max_length=64, description="dataset, or its table: kline_daily")]


AnyCode = Annotated[str, Field(max_length=16), AfterValidator(current_code)]


class DatasetHead(BaseModel):
    """A dataset that can be read."""

    name: str
    table: str
    title: str
    subject: str
    layer: str
    key: list[str]
    date_column: str | None
    keeps_versions: bool = Field(description="takes as_of")


class ColumnFacts(BaseModel):
    name: str
    type: str
    unit: str
    title: str


class ExpectedAge(BaseModel):
    """How old the newest row may be: trade dates, days, or days after a report period."""

    kind: str
    max_lag: int


class TableFreshness(BaseModel):
    newest: str | None = Field(description="newest date of its rows")
    rows: int


class DatasetFacts(DatasetHead):
    """A dataset, its columns, its sources (best first) and how fresh it is."""

    adjustable: bool = Field(description="takes adjust")
    columns: list[ColumnFacts]
    sources: list[str]
    reads: list[str] = Field(description="tables that it is calculated from")
    expected: ExpectedAge | None
    freshness: TableFreshness


class Datasets(BaseModel):
    items: list[DatasetHead]
    total: int


class RowRequest(BaseModel):
    """Rows of a table; what is left out is not limited."""

    model_config = example(columns=["code", "date", "close"], codes=["600519"], since="2026-08-01")
    columns: list[Annotated[str, Field(max_length=64)]] | None = Field(default=None, max_length=400)
    codes: list[AnyCode] | None = Field(default=None, max_length=20_000)
    since: str | None = Field(default=None, max_length=10, description="first day")
    until: str | None = Field(default=None, max_length=10, description="last day")
    as_of: str | None = Field(default=None, max_length=32, description="as it was known then, exchange time")


@router.get("/datasets", response_model=Datasets)
async def datasets(call: Login) -> Answer:
    """Datasets that can be read; of one without a fused, calculated or reference table what was received."""
    items = listed(builtin_registry())
    return Answer({"items": items, "total": len(items)})


@router.get("/datasets/{name}", response_model=DatasetFacts)
@serves(raises=(404,))
async def dataset(call: Login, name: TableName) -> Answer:
    """Columns with units, sources and freshness of one dataset."""
    found = _known(name)
    freshness = await off_loop(_freshness, call.state, found.name)
    return Answer({**described(builtin_registry(), found), "freshness": freshness})


@router.post(
    "/rows/{name}", responses={200: {"content": {ARROW: {}}, "description": "rows as an Arrow stream"}}
)
@serves(raises=(404,))
async def rows(call: Login, name: TableName, body: RowRequest) -> Response:
    """Rows of a table in the order of its key, as an Arrow IPC stream."""
    _known(name)
    query = row_query(builtin_registry(), name, **body.model_dump())
    return Response(await off_loop(_stream, call.state, query), media_type=ARROW)


def _known(name: str) -> Table:
    try:
        return table_named(builtin_registry(), name)
    except InputError as error:
        raise NotFound(error.problem) from None


def _freshness(state: State, table: str) -> dict[str, Any]:
    (row,) = state.reading.warehouse.rows("table_version", ANY.table_name == table) or ({},)
    rows = int(row.get("row_count") or 0) + rows_of_old_years(state.reading.warehouse, table)
    return {"newest": row.get("latest_date"), "rows": rows}


def _stream(state: State, query: RowQuery) -> bytes:
    # PyArrow and the lake take as long to import as pandas; a process that answers no such question saves it.
    import pyarrow as pa  # noqa: PLC0415

    from resources.lake.location import Lake, lake_of  # noqa: PLC0415
    from resources.lake.reading import LakeReader  # noqa: PLC0415

    unlimited = query.since is None and query.codes is None
    if unlimited and _freshness(state, query.table.name)["rows"] > MOST_ROWS:
        raise InputError("since", f"the table has more than {MOST_ROWS} rows; say since or codes")
    warehouse = state.reading.warehouse
    lake = lake_of(warehouse) or Lake.of(state.settings.lake_url, state.settings.data_path)
    reader = LakeReader(warehouse, lake)

    def read(asked: RowQuery) -> Any:
        return reader.read(
            asked.table.name,
            columns=asked.columns,
            codes=asked.codes,
            since=asked.since,
            until=asked.until,
            as_of=asked.as_of,
        )

    found = read(with_code(query))
    refuse_unknown(builtin_registry(), query, found, read)
    found = found.select(list(query.columns))
    if len(found) > MOST_ROWS:
        raise InputError(
            "since", f"{len(found)} rows; at most {MOST_ROWS} are answered at once, ask for less"
        )
    _note(state, query, found)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _note(state: State, query: RowQuery, found: Any) -> None:
    """Note the rows of an answer; without a code in them each one may be behind a value."""
    ledger, as_of = state.reading.ledger, None if query.as_of is None else query.as_of.isoformat()
    codes = query.codes or tuple(ledger.provisional(as_of))
    if "code" in query.columns:
        codes = found["code"].unique().to_pylist()
    rows = codes if len(found) else ()
    ledger.note_codes(query.table.name, query.columns, rows, as_of, query.until)
