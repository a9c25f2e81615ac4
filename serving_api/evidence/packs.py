"""Evidence packs of companies: `stock_pack`, `stocks_pack`.

A pack holds what is stored and known at the market clock's current time. Raises StorageError when the
database is unavailable.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.declaration.tables import Table
from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.datasets.industry_valuation import IndustryValuation
from resources.warehouse.stored import stored
from serving_api.db.sessions import Session
from serving_api.evidence.parts import BASE, INDUSTRY, MASTER, OF_ONE, Look, Part
from serving_api.evidence.queries import Row, of_newest_day, rows_of
from serving_api.framework.state import State

YES, NO = "是", "否"
MOST_TEXT = 300
"""Longest text that becomes a fact: a longer one cannot be quoted in a sentence."""
_UNITS_OF_MACRO = {"pct": "pct", "yi": "yi"}


def take_row(
    pack: Pack, table: Table, row: Mapping[str, Any], columns: Sequence[Look], *, subject: str,
    before: str = "", set_only: bool = False, unit: str | None = None, today: str = "",
) -> int:  # fmt: skip
    """Adds every value of the row as a fact; returns how many. `before` precedes the labels; `unit` is
    that of every number, when the row states it and the declaration cannot."""
    units = {spec.name: spec.unit for spec in table.columns}
    day = table.date_column
    as_of = str(row[day])[:19] if day and row.get(day) else today
    key = {name: str(row[name]) for name in table.key}
    taken = 0
    for name, label, *own in columns:
        value = _plain(row.get(name))
        if value is None or (set_only and value == 0) or name not in units:
            continue
        reported = own[0] if own else units[name] if unit is None else unit
        pack.add(
            subject, f"{before}{label}", value, "" if isinstance(value, str) else reported, table=table.name,
            column=name, as_of=as_of, key=key, row=row,
        )  # fmt: skip
        taken += 1
    return taken


def take_part(pack: Pack, table: Table, part: Part, rows: Sequence[Row], name_of: Mapping[str, str]) -> None:
    """Adds the rows of some companies; for a company without rows the pack records that nothing was found."""
    reported: set[str] = set()
    for row in rows:
        code = str(row["code"])
        before = str(row[part.named_by]) if part.named_by else ""
        if take_row(
            pack, table, row, part.columns, subject=name_of[code], before=before, set_only=part.set_only,
            today=pack.as_of[:10],
        ):  # fmt: skip
            reported.add(code)
    for code, name in name_of.items():
        if code not in reported:
            pack.missing.append(f"{name}的{part.looked_for}")


def _plain(value: Any) -> float | str | None:
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, int | float):
        return value
    text = "" if value is None else str(value).strip()
    return text if 0 < len(text) <= MOST_TEXT else None


def unit_of_series(unit: Any) -> str:
    """Unit of a macro series as the declarations write it; '' for index points and exchange rates."""
    return _UNITS_OF_MACRO.get(str(unit), "")


def fact_of(pack: Pack, table: str, column: str, subject: str | None = None) -> Fact | None:
    """The newest value of a column: packs take rows newest first."""
    return next(iter(facts_of(pack, table, column, subject)), None)


def facts_of(pack: Pack, table: str, column: str, subject: str | None = None) -> list[Fact]:
    """All values of a column, of one company where it is named, newest first."""
    return [
        fact for fact in pack.facts
        if fact.table == table and fact.column == column and subject in (None, fact.subject)
    ]  # fmt: skip


INDUSTRY_RATIOS = stored("raw_industry_valuation", IndustryValuation)
_RATIOS = {"pe_weighted": "行业市盈率", "pb": "行业市净率", "dividend_yield": "行业股息率"}
_INDUSTRIES = 1000


async def stock_pack(state: State, code: str) -> Pack:
    """Everything that is stored about one company; for a code outside the list of securities there are no
    facts, and `missing` says so."""
    return await state.reading.scan(read_companies, (code,), OF_ONE, state.clock.now())


async def stocks_pack(state: State, codes: Sequence[str]) -> Pack:
    """The main figures of several companies, each table read once."""
    return await state.reading.scan(read_companies, tuple(codes), BASE, state.clock.now())


def new_pack(now: datetime) -> Pack:
    return Pack(now.strftime("%Y-%m-%d %H:%M:%S"))


def read_companies(
    session: Session, codes: Sequence[str], parts: Sequence[Part], now: datetime, pack: Pack | None = None
) -> Pack:
    """`pack`: an existing pack that the facts are added to."""
    pack = new_pack(now) if pack is None else pack
    listed = next(part for part in parts if part.table == MASTER)
    names = {
        str(row["code"]): str(row["name"]) for row in rows_of(session, listed, codes, now) if row["name"]
    }
    name_of = {code: names[code] for code in codes if code in names}
    pack.missing += [f"证券列表中的{code}" for code in codes if code not in names]
    if not name_of:
        return pack
    for part in parts:
        rows = rows_of(session, part, list(name_of), now)
        take_part(pack, session.table(part.table), part, rows, name_of)
        if part.table == INDUSTRY:
            _ratios_of_industries(session, pack, rows, name_of, now)
    return pack


def _ratios_of_industries(
    session: Session, pack: Pack, rows: Sequence[Row], name_of: Mapping[str, str], now: datetime
) -> None:
    """Price ratios of each company's SW industry, first level, as facts of the company."""
    ratios = {
        str(row["industry_code"]): row
        for row in of_newest_day(
            session,
            INDUSTRY_RATIOS,
            _RATIOS.keys(),
            now,
            INDUSTRY_RATIOS.c.standard == "sw",
            limit=_INDUSTRIES,
        )
    }
    industries = {str(row["code"]): str(row.get("sw_l1")) for row in rows}
    for code, name in name_of.items():
        row = ratios.get(industries.get(code, ""))
        looks = tuple(_RATIOS.items())
        if row is None or not take_row(pack, session.table(INDUSTRY_RATIOS), row, looks, subject=name):
            pack.missing.append(f"{name}的行业估值")
