"""SQL of the risk reads. Every function takes a Session first; RAW tables keep no versions."""

from collections.abc import Iterable

from platform_assets.datasets.risk_pledge import RiskPledge
from resources.warehouse.stored import stored
from serving_api.db.rows import Row
from serving_api.db.sessions import Session
from serving_api.table_lists import rows_of_day

PLEDGE = stored("raw_risk_pledge", RiskPledge)
GOODWILL = stored("raw_risk_goodwill")
COMMENT = stored("raw_risk_comment")
INDUSTRY = stored("fusion_stock_industry")
UNSORTED = "未分类"
WEEKS = 104


def pledges_by_industry(session: Session, day: str | None) -> tuple[list[Row], str | None]:
    """Sums of the newest list that is not after `day` by industry, the highest mean ratio first."""
    rows, day = rows_of_day(session, PLEDGE, day, until=True)
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


def _grouped(rows: list[Row], industries: dict[str, str | None]) -> Iterable[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(industries.get(row["code"]) or UNSORTED, []).append(row)
    return groups.items()
