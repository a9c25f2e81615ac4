"""SQL of the inspection."""

from serving_api.inspection.examples import Column


def any_row(table: str) -> str:
    return f"SELECT 1 FROM {table} LIMIT 1"


def any_price_beside(table: str, source: str) -> str:
    """A row with a price from another source than the given one."""
    return f"SELECT 1 FROM {table} WHERE src<>'{source}' AND price IS NOT NULL LIMIT 1"


def newest(table: str, column: str) -> str:
    """The newest value of a column; null where there is none."""
    return f"SELECT MAX({column}) FROM {table}"


def distinct(column: Column) -> str:
    """The values of a column, in their order."""
    where = f" WHERE {column.where}" if column.where else ""
    return f"SELECT DISTINCT {column.column} FROM {column.table}{where} ORDER BY {column.column}"
