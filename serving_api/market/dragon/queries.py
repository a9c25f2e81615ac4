"""SQL of the leader score. Every function takes a Session first."""

from collections.abc import Mapping
from dataclasses import dataclass

from platform_assets.compute.parameters.dragon import BOARD_SIZE, REVIEW_STEPS
from platform_assets.compute.parameters.market_phase import MAIN_INDEX
from platform_assets.compute.scorecards.forward import REVIEWED
from platform_assets.datasets.dragon_score import DragonScore
from serving_api.db.rows import Row, newest_date, on_date, public_rows
from serving_api.db.sessions import Session, condition
from serving_api.table_lists import count_of

SCORES = "calc_dragon_score"
REASONS = "raw_limitup_reason"
BARS = "fusion_kline_daily"
INDEX = "fusion_index_daily"
LAST_STEP = max(REVIEW_STEPS, key=lambda column: REVIEW_STEPS[column])
"""The column of the change that decides whether a leader won."""
OUTCOME = (
    DragonScore.trade_date.label("date"), DragonScore.code, DragonScore.name,
    DragonScore.rank_no.label("rank").not_null(), DragonScore.grade, DragonScore.total_score,
    DragonScore.next_change_pct, DragonScore.d3_change_pct, DragonScore.d5_change_pct,
    DragonScore.review_status.label("status").not_null(),
)  # fmt: skip


def of_day(
    session: Session, day: str | None, limit: int, min_score: float
) -> tuple[str | None, list[Row], int]:
    """(date, its leaders by rank with reason, price and change, their number without the limit)."""
    table = session.table(SCORES)
    day = day or newest_date(session, table, None)
    if day is None:
        return None, [], 0
    where = [("total_score", ">=", min_score)] if min_score > 0 else []
    rows = on_date(session, table, day, sort="rank_no", limit=limit, offset=0, as_of=None, also=where)
    codes, columns = [row["code"] for row in rows], ("code", "close", "change_pct")
    found = session.of_codes(REASONS, codes, columns=("code", "reason"), where="trade_date=?", values=(day,))
    reasons = dict(found)
    bars = session.of_codes(BARS, codes, columns=columns, where="date=?", values=(day,))
    prices = {code: (close, change) for code, close, change in bars}
    for row in rows:
        row["reason"] = reasons.get(row["code"])
        row["price"], row["change_pct"] = prices.get(row["code"], (None, None))
    return day, rows, count_of(session, table, day, where)


@dataclass(frozen=True)
class Fared:
    """Leaders of one grade: their number, how many were reviewed, how many of these were higher then; per
    column of the review the sum of the known changes (percent) and their count."""

    grade: str | None
    picks: int
    reviewed: int
    won: int
    changes: Mapping[str, tuple[float, int]]


def review(
    session: Session, day: str, min_score: float, page: int, page_size: int
) -> tuple[list[Fared], list[Row]]:
    """(sums of the leaders from a date on, by grade; one page of them, newest first, by rank)."""
    where, values = condition({"trade_date>=": day, "total_score>=?": min_score or None})
    sums = ", ".join(f"SUM({column}), COUNT({column})" for column in REVIEW_STEPS)
    reported = session.run(
        f"SELECT grade, COUNT(*), SUM(CASE WHEN review_status=? THEN 1 ELSE 0 END), "
        f"SUM(CASE WHEN review_status=? AND {LAST_STEP}>0 THEN 1 ELSE 0 END), {sums} "
        f"FROM {SCORES} WHERE {where} GROUP BY grade",
        (REVIEWED, REVIEWED, *values),
    )
    session.note(SCORES, tuple(REVIEW_STEPS))
    groups = []
    for grade, picks, reviewed, won, *figures in reported:
        pairs = zip(REVIEW_STEPS, figures[::2], figures[1::2], strict=True)
        changes = {column: (float(total or 0), int(count)) for column, total, count in pairs}
        groups.append(Fared(grade, int(picks), int(reviewed), int(won), changes))
    rows = public_rows(
        session, SCORES, OUTCOME, where=where, values=values,
        order="trade_date DESC, rank_no", limit=page_size, offset=(page - 1) * page_size,
    )  # fmt: skip
    return groups, rows


def boards_since(session: Session, day: str) -> list[tuple[str, int, float | None]]:
    """(date, number of leaders of its board, their mean change on the next trade date) from a date on."""
    rows = session.run(
        f"SELECT trade_date, COUNT(*), AVG(next_change_pct) FROM {SCORES} "
        "WHERE trade_date>=? AND rank_no<=? GROUP BY trade_date ORDER BY trade_date",
        (day, BOARD_SIZE),
    )
    session.note(SCORES, ("next_change_pct",))
    return [(str(date), int(picks), None if mean is None else float(mean)) for date, picks, mean in rows]


def curve(session: Session, day: str) -> tuple[list[tuple[str, int, float | None]], dict[str, float]]:
    """(`boards_since`, date -> change of the main index in percent) from a date on."""
    rows = session.rows(INDEX, {"code": MAIN_INDEX, "date>=": day}, columns=("date", "change_pct"))
    changes = {str(date): float(change) for date, change in rows if change is not None}
    return boards_since(session, day), changes
