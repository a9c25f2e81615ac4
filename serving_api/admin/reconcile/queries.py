"""SQL over calc_reconcile."""

from typing import Any

from serving_api.db.sessions import Session

TABLE = "calc_reconcile"
_COLUMNS = (
    "dataset, field_name, source_a, source_b, tolerance, tolerance_kind, compared, within_count, within_pct, "
    "median_diff, max_diff, only_a, only_b, drift_20d, status, worst_json"
)
_NAMES = tuple(_COLUMNS.split(", "))


def newest(session: Session, until: str) -> str | None:
    """The newest trade date that is not after `until`."""
    found = session.run(f"SELECT MAX(trade_date) FROM {TABLE} WHERE trade_date<=?", (until,))[0][0]
    return None if found is None else str(found)


def agreements(session: Session, day: str, dataset: str | None, field: str | None) -> list[dict[str, Any]]:
    """Rows of one trade date, by dataset, field and sources."""
    where, values = ["trade_date=?"], [day]
    for column, requested in (("dataset", dataset), ("field_name", field)):
        if requested is not None:
            where.append(f"{column}=?")
            values.append(requested)
    rows = session.run(
        f"SELECT {_COLUMNS} FROM {TABLE} WHERE {' AND '.join(where)} "
        "ORDER BY dataset, field_name, source_a, source_b",
        tuple(values),
    )
    return [dict(zip(_NAMES, row, strict=True)) for row in rows]
