"""SQL of the risk reads. Every function takes a Session first; RAW tables keep no versions."""

from collections.abc import Iterable
from typing import Any

from serving_api.db.sessions import Session
from serving_api.interfaces.queries import Row, public_rows
from serving_api.table_lists import Condition, listing, newest_until, rows_of_day

PLEDGE = "raw_risk_pledge"
GOODWILL = "raw_risk_goodwill"
COMMENT = "raw_risk_comment"
INDUSTRY = "fusion_stock_industry"
UNSORTED = "未分类"
WEEKS = 104


def pledges(
    session: Session, day: str | None, min_ratio: float, sort: str, page: int, page_size: int
) -> dict[str, Any]:
    """A page of the newest list that is not after `day`."""
    where = _at_least("pledge_ratio", min_ratio)
    return listing(
        session, PLEDGE, _list_of(session, day), where=where, sort=sort, page=page, page_size=page_size
    )


def _list_of(session: Session, day: str | None) -> str | None:
    """The date of the newest weekly list that is not after `day`."""
    return None if day is None else newest_until(session, PLEDGE, day) or day


def pledge_history(session: Session, code: str) -> list[Row]:
    """{date, pledge_ratio} of the newest two years, oldest first."""
    rows = session.rows(
        PLEDGE,
        columns=("trade_date", "pledge_ratio"),
        where="code=?",
        values=(code,),
        order="trade_date DESC",
        limit=WEEKS,
    )
    return [{"date": day, "pledge_ratio": ratio} for day, ratio in reversed(rows)]


def pledges_by_industry(session: Session, day: str | None) -> tuple[list[Row], str | None]:
    """Sums of the newest list that is not after `day` by industry, the highest mean ratio first."""
    rows, day = rows_of_day(session, PLEDGE, _list_of(session, day))
    made = [
        {
            "industry": name,
            "avg_ratio_pct": round(sum(row["pledge_ratio"] for row in group) / len(group), 4),
            "company_count": len(group),
            "pledge_market_value": round(sum(row["pledge_market_value"] or 0.0 for row in group), 2),
        }
        for name, group in _grouped(rows, {row["code"]: row["industry"] for row in rows})
    ]
    return sorted(made, key=lambda one: (-one["avg_ratio_pct"], one["industry"])), day


def goodwill(
    session: Session, period: str | None, min_ratio: float, page: int, page_size: int
) -> dict[str, Any]:
    """A page of one report period, the highest share of equity first."""
    where = _at_least("goodwill_equity_ratio_pct", min_ratio)
    order = "-goodwill_equity_ratio_pct"
    return listing(session, GOODWILL, period, where=where, sort=order, page=page, page_size=page_size)


def goodwill_by_industry(session: Session, period: str | None) -> tuple[list[Row], str | None]:
    """Sums of one report period by industry, the highest share of equity first. Equity is derived from the
    stored ratios."""
    rows, period = rows_of_day(session, GOODWILL, period)
    industries = dict(session.rows(INDUSTRY, columns=("code", "industry")))
    made = []
    for name, group in _grouped(rows, industries):
        known = [row for row in group if row["goodwill_equity_ratio_pct"]]
        equity = sum(row["goodwill"] / row["goodwill_equity_ratio_pct"] * 100 for row in known)
        share = sum(row["goodwill"] for row in known) / equity * 100 if equity > 0 else None
        lost = [row["impairment"] for row in group if row["impairment"] is not None]
        made.append(
            {
                "industry": name,
                "goodwill": round(sum(row["goodwill"] for row in group), 2),
                "equity_ratio_pct": None if share is None else round(share, 4),
                "impairment": round(sum(lost), 2) if lost else None,
                "company_count": len(group),
            }
        )
    made.sort(key=lambda one: (-(one["equity_ratio_pct"] or 0.0), one["industry"]))
    return made, period


def goodwill_of(session: Session, code: str, limit: int) -> list[Row]:
    """Report periods of a company, newest first."""
    return public_rows(
        session, GOODWILL, where="code=?", values=(code,), order="report_period DESC", limit=limit
    )


def comments(session: Session, day: str | None, sort: str, page: int, page_size: int) -> dict[str, Any]:
    return listing(session, COMMENT, day, sort=sort, page=page, page_size=page_size)


def comments_of(session: Session, code: str, days: int) -> list[Row]:
    """The newest trade dates of a stock, oldest first."""
    rows = public_rows(session, COMMENT, where="code=?", values=(code,), order="trade_date DESC", limit=days)
    return rows[::-1]


def _at_least(column: str, value: float) -> list[Condition]:
    """Whether a row passes a lower bound; without a bound rows without a value pass."""
    return [(column, ">=", value)] if value > 0 else []


def _grouped(rows: list[Row], industries: dict[str, str | None]) -> Iterable[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(industries.get(row["code"]) or UNSORTED, []).append(row)
    return groups.items()
