"""The shared watch list: read with its quotes, filled from an uploaded table."""

from typing import Any

import anyio
import anyio.to_thread

from core.clock import stamp
from serving_api.datasets.portfolio import queries
from serving_api.datasets.portfolio.entries import holdings
from serving_api.datasets.portfolio.sheets import table_rows
from serving_api.db.sessions import write
from serving_api.framework.envelope import instant
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop

EXTENSIONS = (".xlsx", ".xls", ".csv")
GROUP = "默认"
MOST_ERRORS = 200


class Turn:
    """One upload per app is read at a time, so that several large ones do not fill the memory."""

    def __init__(self, _state: State) -> None:
        self.limiter = anyio.CapacityLimiter(1)


async def portfolio(state: State) -> dict[str, Any]:
    """{stocks, total, updatedAt}."""
    rows, quotes = await state.reading.scan(queries.stocks_of, (queries.SHARED,))
    newest = max((row["updated_at"] for row in rows if row["updated_at"]), default=None)
    return {
        "stocks": [shown_stock(row, quotes.get(row["code"], {})) for row in rows],
        "total": len(rows),
        "updatedAt": instant(newest),
    }


def shown_stock(row: dict[str, Any], quote: dict[str, Any]) -> dict[str, Any]:
    """A row of the list as responses show it, with its newest quote ({} without one)."""
    price, cost = quote.get("price"), row["cost_price"]
    profit = None if price is None or cost is None or cost <= 0 else round((price / cost - 1) * 100, 4)
    return {
        "code": row["code"], "shares": row["shares"], "costPrice": row["cost_price"],
        "buyDate": row["buy_date"], "stopLossPrice": row["stop_loss_price"],
        "targetPrice": row["target_price"], "note": row["note"], "name": row["name"] or quote.get("name"),
        "group": row["group_name"] or GROUP, "price": price, "changePct": quote.get("change_pct"),
        "profitPct": profit,
    }  # fmt: skip


async def import_table(state: State, body: bytes) -> dict[str, Any]:
    """{status, saved, skipped, total, message, errors}. A row that is not a holding is skipped with its
    reason. Raises BadRequest for a file that cannot be read or has no codes; StorageError."""
    turn = state.part(Turn)
    found = await anyio.to_thread.run_sync(lambda: holdings(table_rows(body)), limiter=turn.limiter)
    now = stamp(state.system.local())
    await off_loop(write, state.writer, queries.save, found.columns, found.rows, now)
    saved, skipped = len(found.rows), len(found.problems)
    return {
        "status": "success" if saved else "failed",
        "saved": saved,
        "skipped": skipped,
        "total": saved + skipped,
        "message": f"已导入 {saved} 条，跳过 {skipped} 条",
        "errors": [
            {"row": problem.row, "reason": problem.reason} for problem in found.problems[:MOST_ERRORS]
        ],
    }
