"""What the three kinds of address have in common."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from core.errors import PlatformError

if TYPE_CHECKING:
    import pyarrow as pa

    from platform_assets.research.queries import RowQuery

CAN: Mapping[str, tuple[str, ...]] = {
    "lineage": ("folder", "API"),
    "screen": ("folder", "API"),
    "backtest": ("folder", "API"),
    "as_of": ("folder", "lake", "API"),
    "calculated and market-wide tables": ("folder", "lake", "API"),
}
"""Question -> kinds of address that answer it; every kind answers all others."""


class NotSupported(PlatformError):
    """This kind of address cannot answer; the message says which can."""


class Backend(Protocol):
    """One kind of address. Each method raises a PlatformError with a reason for a person."""

    kind: str
    judges_codes: bool
    """Whether `rows` itself refuses a code that nobody knows."""

    def rows(self, query: "RowQuery") -> "pa.Table":
        """Rows in the order of the key, in the columns of the question."""
        ...

    def tables(self) -> set[str] | None:
        """Names of the tables that are there; None: all that are declared."""
        ...

    def freshness(self, table: str) -> dict[str, Any]:
        """{newest: date of the newest row, rows: how many} of a table."""
        ...

    def lineage(self, table: str, key: Mapping[str, str], column: str | None) -> dict[str, Any]: ...

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]) -> Any:
        """The answer of a route below /api/v1."""
        ...

    def about(self, query: "RowQuery") -> dict[str, Any]:
        """What an answer says of where its rows come from; {} where `lineage` says it."""
        ...

    def close(self) -> None: ...


def refuse(kind: str, question: str, about: str = "") -> NoReturn:
    """NotSupported that says who answers a question."""
    can = " or ".join(CAN[question])
    raise NotSupported(f"{about}{question}: a {kind} has only rows; open a {can} for it")
