"""The client: the same questions to a folder, a lake or an API."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ashare.client.backends import Backend, NotSupported
from ashare.client.beside import Beside
from core.declaration.registry import builtin_registry
from core.errors import InputError
from platform_assets.research.factors import PROVISIONAL, days_ahead, is_adjusted, reached
from platform_assets.research.facts import described, listed
from platform_assets.research.known_codes import with_code
from platform_assets.research.queries import (
    FACTOR,
    PRICES,
    Day,
    Instant,
    RowQuery,
    adjust_of,
    row_query,
    table_named,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from ashare.client.frames import Panel

_LAKE, _LIVE = "lake:", "live"
_NUMBERS = ("float", "int", "bool")
_PAGE = 200


def connected(address: str, *, token: str | None, frames: str) -> "Client":
    """The client of an address, see `ashare.open`."""
    backend: Backend
    if address.startswith(("http://", "https://")):
        from ashare.client.api import ApiBackend  # noqa: PLC0415  each kind imports what it needs

        backend = ApiBackend(address, token)
    elif address == _LIVE or address.startswith(f"{_LIVE}:"):
        from ashare.client.live import LiveBackend  # noqa: PLC0415

        backend = LiveBackend(address.removeprefix(_LIVE).removeprefix(":"))
    elif address.startswith((_LAKE, "s3://")):
        with _needs_extra("lake"):
            from ashare.client.lake import LakeBackend  # noqa: PLC0415

        backend = LakeBackend(address.removeprefix(_LAKE))
    elif "://" in address:
        raise InputError(
            "address", f"{address[:60]!r} is no http://, https:// or s3:// address, nor a folder"
        )
    else:
        with _needs_extra("folder"):
            from ashare.client.folder import FolderBackend  # noqa: PLC0415

        backend = FolderBackend(address)
    if token is not None and backend.kind != "API":
        raise InputError("token", f"a {backend.kind} takes none; it is for the address of an API")
    return Client(address, backend, frames)


@contextmanager
def _needs_extra(kind: str) -> Iterator[None]:
    """NotSupported where the packages of an address are not installed."""
    try:
        yield
    except ImportError as error:
        raise NotSupported(
            f"a {kind} needs the extra `lake` of the client (no {error.name}): pip install 'WHEEL[lake]'"
        ) from None


class Client:
    """Questions to one platform's data. Use it as a context, or `close` it; it may be used from threads.

    Every argument is checked before anything is asked: an `InputError` names the argument and the nearest
    valid value. What a kind of address cannot answer raises `NotSupported`, which says which can.
    """

    def __init__(self, address: str, backend: Backend, frames: str = "pandas") -> None:
        from ashare.client.frames import frame_kind  # noqa: PLC0415  it loads PyArrow

        self._address, self._backend, self._frames = address, backend, frame_kind(frames)
        self._registry = builtin_registry()
        self._beside = Beside(backend, self._registry)

    def __repr__(self) -> str:
        return f"Client({self._address!r}, backend={self._backend.kind!r})"

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close connections."""
        self._backend.close()

    # -- rows ---------------------------------------------------------------------------------------------

    def read(
        self,
        table: str,
        *,
        codes: Sequence[str] | str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        columns: Sequence[str] | None = None,
        adjust: str | None = None,
        as_of: Instant | None = None,
        frames: str | None = None,
    ) -> Any:
        """Rows of a table in the order of its key, as a frame.

        `table` is a dataset (`"kline_daily"`) or its table (`"fusion_kline_daily"`); `since` and `until` are
        days, both included; `columns` default to all declared ones. `adjust`: none (default), qfq (1 at the
        newest bar known) or hfq (1 at listing), of prices of daily bars. `as_of`: a day (its end) or a time
        of the exchange; the rows as they were known then. Units are those that `describe` says; Arrow frames
        carry them in the metadata of their fields. A former code is answered with the one of today:
        `frame.attrs["renumbered"]` says so (of Arrow the metadata of the schema). `frame.attrs["factor"]` is
        `provisional` where adjusted prices of the rows, or what is computed from them, rest on a quoted ratio
        because no source has the ex-right event yet.

        >>> columns = ["date", "close", "volume"]
        >>> market.read("kline_daily", codes=["600519"], since="2026-08-20", columns=columns)
                date  close  volume
        0 2026-08-20   11.0    1000
        1 2026-08-21   11.0    1000
        """
        from ashare.client.frames import as_frame, frame_kind  # noqa: PLC0415  it loads PyArrow

        kind = self._frames if frames is None else frame_kind(frames)
        query = row_query(
            self._registry, table, columns=columns, codes=codes, since=since, until=until, as_of=as_of
        )
        query, notes = self._of_today(query)
        rows, marks = self._adjusted(query, adjust_of(query.table, adjust))
        return as_frame(rows, kind, notes | marks | self._backend.about(query))

    def panel(
        self,
        table: str,
        columns: Sequence[str] | str,
        *,
        since: Day,
        until: Day | None = None,
        codes: Sequence[str] | None = None,
        adjust: str | None = None,
        as_of: Instant | None = None,
    ) -> "Panel":
        """Columns of numbers as matrices [dates, codes] of the whole market, or of `codes`.

        >>> two = ["000001", "600519"]
        >>> market.panel("kline_daily", "close", since="2026-08-20", codes=two)["close"]
        code        000001  600519
        date
        2026-08-20    10.0    11.0
        2026-08-21    10.0    11.0
        """
        from ashare.client.frames import panel_of  # noqa: PLC0415  it loads PyArrow

        names = [columns] if isinstance(columns, str) else list(columns)
        query = row_query(
            self._registry, table, columns=names, codes=codes, since=since, until=until, as_of=as_of
        )
        declared = query.table
        if declared.date_column is None or set(declared.key) != {"code", declared.date_column}:
            raise InputError("table", f"{declared.name} is no series by code and date; fusion_kline_daily is")
        wrong = next((name for name in names if declared.column(name).family not in _NUMBERS), None)
        if wrong is not None:
            raise InputError("columns", f"{wrong} of {declared.name} holds no numbers")
        query, notes = self._of_today(query)
        read = replace(query, columns=tuple(dict.fromkeys(["code", declared.date_column, *names])))
        rows, marks = self._adjusted(read, adjust_of(declared, adjust))
        return panel_of(rows, declared.date_column, names, notes | marks | self._backend.about(query))

    def _of_today(self, query: RowQuery) -> tuple[RowQuery, dict[str, Any]]:
        """The question with the codes of today, and what its answer says about itself."""
        if query.codes is None:
            return query, {}
        codes, changes = self._beside.of_today(query.codes)
        return replace(query, codes=codes), {"renumbered": changes} if changes else {}

    def _adjusted(self, query: RowQuery, adjust: str) -> tuple["pa.Table", dict[str, Any]]:
        """(rows, what they say of their factor)."""
        from ashare.client.frames import adjusted  # noqa: PLC0415  it loads PyArrow

        table, scope = query.table, (query.codes, query.since, query.until, query.as_of)
        if adjust != "none" and set(PRICES) & set(query.columns):
            read = RowQuery(table, tuple(dict.fromkeys([*query.columns, "code", "date", FACTOR])), *scope)
            rows = self._rows(read)
            later = None
            if adjust == "qfq" and query.until is not None:
                after = RowQuery(table, ("code", "date", FACTOR), query.codes, query.until, None, query.as_of)
                later = self._backend.rows(after)
            # Today's price is the base of qfq, however old the rows are.
            marked = replace(read, until=None) if adjust == "qfq" else read
            return adjusted(rows, later, adjust).select(list(query.columns)), self._marks(marked, rows)
        rows = self._rows(with_code(query))
        return rows.select(list(query.columns)), self._marks(query, rows)

    def _rows(self, query: RowQuery) -> "pa.Table":
        """The rows of a question with their codes. Raises InputError for a code that nobody knows."""
        from ashare.client.frames import canonical  # noqa: PLC0415  it loads PyArrow

        rows = canonical(query.table, self._backend.rows(query))
        self._beside.refuse_unknown(query, rows)
        return rows

    def _marks(self, query: RowQuery, rows: "pa.Table") -> dict[str, Any]:
        """`factor` of rows with a value whose factor is provisional."""
        if not len(rows) or not is_adjusted(self._registry, query.table.name, query.columns):
            return {}
        since = self._beside.provisional(query.as_of)
        codes = query.codes or tuple(since)
        if "code" in rows.column_names and since:
            codes = rows["code"].unique().to_pylist()
        ahead = days_ahead(self._registry, query.table.name)
        return {"factor": PROVISIONAL} if reached(since, codes, query.until, ahead) else {}

    # -- what there is ------------------------------------------------------------------------------------

    def datasets(self) -> "pd.DataFrame":
        """Datasets that can be read: name, title, subject, key, date column, whether they take `as_of`.

        >>> market.datasets().set_index("name").loc["fund_flow", "title"]
        'Money flow of stocks'
        """
        import pandas as pd  # noqa: PLC0415  the client is imported without it

        there = self._backend.tables()
        found = [one for one in listed(self._registry) if there is None or one["table"] in there]
        return pd.DataFrame(found, columns=list(listed(self._registry)[0]))

    def describe(self, table: str) -> dict[str, Any]:
        """What a dataset is: columns with type, unit and title, sources (best first), key, freshness.

        >>> about = market.describe("fund_flow")
        >>> about["sources"], about["columns"][4]["name"], about["columns"][4]["unit"]
        (['eastmoney', 'tencent', 'sina'], 'main_net', 'CNY')
        """
        found = table_named(self._registry, table)
        return {**described(self._registry, found), "freshness": self._backend.freshness(found.name)}

    # -- questions ----------------------------------------------------------------------------------------

    def lineage(self, table: str, column: str | None = None, **key: str) -> dict[str, Any]:
        """Where a row comes from: sources, batches, responses or files. `key` names the row. An API wants
        the token of an administrator.

        >>> found = market.lineage("kline_daily", code="600519", date="2026-08-21")
        >>> found["columns"]["close"]["value"], found["columns"]["close"]["source"]
        (11.0, 'tencent')
        """
        declared = table_named(self._registry, table)
        if column is not None:
            row_query(self._registry, table, columns=[column])
        missing = [name for name in declared.key if name not in key]
        if missing or len(key) > len(declared.key):
            raise InputError("key", f"a row of {declared.name} is named by {', '.join(declared.key)}")
        return self._backend.lineage(declared.name, {name: str(value) for name, value in key.items()}, column)

    def indicators(
        self,
        codes: Sequence[str] | str,
        *,
        since: Day | None = None,
        until: Day | None = None,
        columns: Sequence[str] | None = None,
        frames: str | None = None,
    ) -> Any:
        """Calculated indicators by code and date: `read("indicator_daily", …)`."""
        return self.read(
            "indicator_daily", codes=codes, since=since, until=until, columns=columns, frames=frames
        )

    def screen(self, dsl: str, *, date: Day | None = None, as_of: Instant | None = None) -> "pd.DataFrame":
        """Stocks that meet a query of the condition language, in its order.

        >>> market.screen("pe_ttm < 20 and change_pct > 2")  # doctest: +SKIP
             code  name  industry  ...
        """
        import pandas as pd  # noqa: PLC0415  the client is imported without it

        body: dict[str, Any] = {"dsl": dsl, "pageSize": _PAGE, "page": 1}
        body |= {} if date is None else {"date": str(date)[:10]}
        body |= {} if as_of is None else {"as_of": as_of if isinstance(as_of, str) else as_of.isoformat()}
        items: list[Mapping[str, Any]] = []
        marks: dict[str, Any] = {}
        while True:
            found = self._backend.ask("POST", "/screener/find", body, {})
            items += found["items"]
            marks |= {"factor": found["factor"]} if found.get("factor") else {}
            if len(items) >= found["total"] or not found["items"]:
                frame = pd.DataFrame(items)
                frame.attrs.update(marks)
                return frame
            body["page"] += 1

    def backtest(
        self,
        code: str,
        strategy: str = "ma_cross",
        *,
        days: int = 250,
        capital: float = 100_000.0,
        **periods: int,
    ) -> dict[str, Any]:
        """A strategy on one stock under price limits, lots, T+1 and fees; `periods` are `fast_period` and
        `slow_period`. Research, no advice.

        >>> market.backtest("600519", "ma_cross", days=120)["total_return_pct"]  # doctest: +SKIP
        3.1
        """
        query = {
            "code": code,
            "strategy": strategy,
            "lookback_days": days,
            "initial_capital": capital,
            **periods,
        }
        found: dict[str, Any] = self._backend.ask("GET", "/market/backtest/strategy", None, query)
        return found
