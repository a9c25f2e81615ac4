"""The inputs of an analysis: the company's evidence pack with its industry, its themes and the money
supply."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.clock import stamp
from platform_assets.compute.analysis.experience import Lesson
from platform_assets.compute.analysis.rules import MACRO, MONEY, NAMES, RANKS, THEMES
from platform_assets.compute.evidence.facts import COUNT, Pack
from platform_assets.compute.parameters.analysis import CANDIDATES, POLICY_THEMES
from resources.warehouse.stored import ANY
from serving_api.analysis import queries
from serving_api.db.sessions import Session
from serving_api.evidence.packs import read_companies, take_row, unit_of_series
from serving_api.evidence.parts import INDUSTRY, MASTER, OF_ONE, Look
from serving_api.evidence.queries import of_newest_day
from serving_api.macro.queries import newest_of_series
from serving_api.quant.decision_cards.queries import reviewed_cards

_SHOWN_THEMES = 5
_RANK_LOOKS: tuple[Look, ...] = (
    ("change_pct", "行业涨跌幅"), ("chg_20d", "行业近月涨跌幅"), ("quadrant", "行业轮动象限"),
    ("rotation_score", "行业轮动分"), ("main_net", "行业主力净额"),
)  # fmt: skip


@dataclass(frozen=True)
class Company:
    """What is stored about a company now. `name` is None for a code outside the list of securities."""

    code: str
    name: str | None
    industry: str | None
    pack: Pack
    price: float | None
    price_date: str | None


def read_company(session: Session, code: str, now: datetime) -> Company:
    """All inputs of the rules and of a model, as known at `now`."""
    pack = read_companies(session, (code,), OF_ONE, now)
    name = next(
        (str(fact.value) for fact in pack.facts if fact.table == MASTER and fact.column == "name"), None
    )
    if name is None:
        return Company(code, None, None, pack, None, None)
    row = queries.industry_of(session, code, now)
    if row is not None:
        _themes(session, pack, row, name)
        _rank(session, pack, str(row["sw_l1"]), name, now)
    _money(session, pack, now)
    close, day = queries.last_close(session, code, now)
    industry = None if row is None or not row["sw_l1_name"] else str(row["sw_l1_name"])
    return Company(code, name, industry, pack, close, day)


def _themes(session: Session, pack: Pack, row: dict[str, Any], name: str) -> None:
    """Concept boards that relate to a policy: their number, and the first of them."""
    listed = row["concepts"]
    concepts = json.loads(listed) if isinstance(listed, str) and listed else listed
    if not isinstance(concepts, list):
        return
    hits = [str(one) for one in concepts if any(theme in str(one) for theme in POLICY_THEMES)]
    reported: list[tuple[str, float | str, str]] = [(THEMES, len(hits), COUNT)]
    if hits:
        reported.append((NAMES, "、".join(hits[:_SHOWN_THEMES]), ""))
    for label, value, unit in reported:
        pack.add(
            name, label, value, unit, table=INDUSTRY, column="concepts", as_of=pack.as_of[:10],
            key={"code": row["code"]}, row=row,
        )  # fmt: skip


def _rank(session: Session, pack: Pack, industry: str, name: str, now: datetime) -> None:
    of, columns = (ANY.level == "sw_l1", ANY.industry_code == industry), [look[0] for look in _RANK_LOOKS]
    rows = of_newest_day(session, RANKS, columns, now, *of, limit=1)
    if not rows or not take_row(pack, session.table(RANKS), rows[0], _RANK_LOOKS, subject=name):
        pack.missing.append(f"{name}所属行业的轮动排名")


def _money(session: Session, pack: Pack, now: datetime) -> None:
    rows = newest_of_series(session, (MONEY,), None, stamp(now)) if session.has(MACRO) else []
    row = next((one for one in rows if one["value"] is not None), None)
    if row is None:
        pack.missing.append("狭义货币同比")
        return
    unit = unit_of_series(row["unit"])
    take_row(
        pack, session.table(MACRO), row, (("value", ""),), subject="", before=str(row["name"]), unit=unit
    )


def read_lessons(session: Session, now: datetime) -> list[Lesson]:
    """The newest reviewed decision cards that were a hit or a miss, as known at `now`."""
    return [
        Lesson(
            trace_id=str(row["trace_id"]), code=str(row["code"]), name=str(row["name"] or row["code"]),
            industry=str(row["industry"] or ""), decision_date=str(row["decision_date"]),
            direction=str(row["direction"]), outcome=str(row["review_outcome"]),
            profit_pct=float(row["review_profit_pct"] or 0.0), conclusion=str(row["conclusion"] or ""),
        )
        for row in reviewed_cards(session, now, CANDIDATES)
    ]  # fmt: skip
