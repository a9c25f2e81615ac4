"""SQL of the leader score. Every function takes a Session first."""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from platform_assets.compute.parameters.dragon import BOARD_SIZE, REVIEW_STEPS
from platform_assets.compute.parameters.market_phase import MAIN_INDEX
from platform_assets.compute.scorecards.forward import REVIEWED
from platform_assets.datasets.dragon_score import DragonScore
from platform_assets.datasets.index_daily import IndexDaily
from platform_assets.datasets.kline_daily import KlineDaily
from platform_assets.datasets.limitup_reason import RawLimitupReason
from resources.warehouse.stored import ANY, select, stored
from serving_api.db.rows import Row, newest_date, on_date, public_rows
from serving_api.db.sessions import Session
from serving_api.table_lists import count_of

SCORES = stored("calc_dragon_score", DragonScore)
REASONS = stored("raw_limitup_reason", RawLimitupReason)
BARS = stored("fusion_kline_daily", KlineDaily)
INDEX = stored("fusion_index_daily", IndexDaily)
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
    where = [SCORES.c.total_score >= min_score] if min_score > 0 else []
    rows = on_date(session, table, day, *where, sort="rank_no", limit=limit)
    codes, columns = [row["code"] for row in rows], ("code", "close", "change_pct")
    found = session.of_codes(REASONS, codes, REASONS.c.trade_date == day, columns=("code", "reason"))
    reasons = dict(found)
    bars = session.of_codes(BARS, codes, BARS.c.date == day, columns=columns)
    prices = {code: (close, change) for code, close, change in bars}
    for row in rows:
        row["reason"] = reasons.get(row["code"])
        row["price"], row["change_pct"] = prices.get(row["code"], (None, None))
    return day, rows, count_of(session, table, day, *where)


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
    c, count, total = SCORES.c, sa.func.count, sa.func.sum
    where = [c.trade_date >= day, *([c.total_score >= min_score] if min_score else [])]
    reviewed_row = c.review_status == REVIEWED
    steps = [figure(ANY[column]) for column in REVIEW_STEPS for figure in (total, count)]
    reported = session.run(
        select(
            SCORES, c.grade, count(), total(sa.case((reviewed_row, 1), else_=0)),
            total(sa.case((reviewed_row & (ANY[LAST_STEP] > 0), 1), else_=0)), *steps,
        ).where(*where).group_by(c.grade)
    )  # fmt: skip
    session.note(SCORES, tuple(REVIEW_STEPS))
    groups = []
    for grade, picks, reviewed, won, *figures in reported:
        pairs = zip(REVIEW_STEPS, figures[::2], figures[1::2], strict=True)
        changes = {column: (float(total or 0), int(count)) for column, total, count in pairs}
        groups.append(Fared(grade, int(picks), int(reviewed), int(won), changes))
    rows = public_rows(
        session, SCORES, *where, columns=OUTCOME, order=[c.trade_date.desc(), c.rank_no], limit=page_size,
        offset=(page - 1) * page_size,
    )  # fmt: skip
    return groups, rows


def boards_since(session: Session, day: str) -> list[tuple[str, int, float | None]]:
    """(date, number of leaders of its board, their mean change on the next trade date) from a date on."""
    c = SCORES.c
    boards = select(SCORES, c.trade_date, sa.func.count(), sa.func.avg(c.next_change_pct))
    leaders = boards.where(c.trade_date >= day, c.rank_no <= BOARD_SIZE)
    rows = session.run(leaders.group_by(c.trade_date).order_by(c.trade_date))
    session.note(SCORES, ("next_change_pct",))
    return [(str(date), int(picks), None if mean is None else float(mean)) for date, picks, mean in rows]


def curve(session: Session, day: str) -> tuple[list[tuple[str, int, float | None]], dict[str, float]]:
    """(`boards_since`, date -> change of the main index in percent) from a date on."""
    rows = session.rows(
        INDEX, INDEX.c.code == MAIN_INDEX, INDEX.c.date >= day, columns=("date", "change_pct")
    )
    changes = {str(date): float(change) for date, change in rows if change is not None}
    return boards_since(session, day), changes
