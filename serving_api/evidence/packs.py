"""Evidence packs of companies: `stock_pack`, `stocks_pack`.

A pack holds what is stored and known at the market clock's current time. Raises StorageError when the
database is unavailable.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from platform_assets.compute.evidence.facts import Pack
from serving_api.db.sessions import Session
from serving_api.evidence.parts import BASE, INDUSTRY, MASTER, OF_ONE, Part
from serving_api.evidence.queries import Row, of_newest_day, rows_of
from serving_api.evidence.taking import take_part, take_row
from serving_api.framework.state import State

INDUSTRY_RATIOS = "raw_industry_valuation"
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
            session, INDUSTRY_RATIOS, _RATIOS.keys(), now, limit=_INDUSTRIES, also=(("standard", "=", "sw"),)
        )
    }
    industries = {str(row["code"]): str(row.get("sw_l1")) for row in rows}
    for code, name in name_of.items():
        row = ratios.get(industries.get(code, ""))
        looks = tuple(_RATIOS.items())
        if row is None or not take_row(pack, session.table(INDUSTRY_RATIOS), row, looks, subject=name):
            pack.missing.append(f"{name}的行业估值")
