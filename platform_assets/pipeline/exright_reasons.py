"""Why an item of the ledger of ex-rights is closed without an event, as a person says it."""

from sqlalchemy.engine import Engine

from platform_assets.datasets.exright_item import ITEMS, REASONS
from resources.warehouse.engine import reading, transaction
from resources.warehouse.sql import Sql
from resources.warehouse.table_versions import count_change

_OF_ITEM = "code=? AND date=?"


def status_of(engine: Engine, code: str, date: str) -> str | None:
    """open or closed; None where the ledger has no item of the code and date."""
    sql = Sql(engine)
    with reading(engine) as connection:
        found = sql.run(connection, f"SELECT status FROM {ITEMS} WHERE {_OF_ITEM}", (code, date)).scalar()
    return None if found is None else str(found)


def keep(engine: Engine, code: str, date: str, reason: str, counts: bool, now: str) -> None:
    """Stores the reason of an item in the place of an earlier one. `counts`: the quoted ratio stays in the
    factor. `now`: by the market clock."""
    sql = Sql(engine)
    row = {"code": code, "date": date, "reason": reason, "counts": counts}
    with transaction(engine) as connection:
        sql.run(connection, f"DELETE FROM {REASONS} WHERE {_OF_ITEM}", (code, date))
        sql.put(connection, REASONS, {**row, "created_at": now, "updated_at": now})
        count_change(sql, connection, REASONS, now)


def withdraw(engine: Engine, code: str, date: str, now: str) -> bool:
    """Removes the reason of an item; False where there is none."""
    sql = Sql(engine)
    with transaction(engine) as connection:
        removed = sql.run(connection, f"DELETE FROM {REASONS} WHERE {_OF_ITEM}", (code, date)).rowcount
        count_change(sql, connection, REASONS, now)
    return removed > 0
