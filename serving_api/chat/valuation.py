"""Quick valuation: four methods by rules over stored figures, without a model."""

from typing import Any

from platform_assets.compute.evidence.facts import Fact, Pack
from platform_assets.compute.quick_valuation import Figures, methods, verdict
from resources.warehouse.stored import stored
from serving_api.chat import rules
from serving_api.chat.checked import evidence_items
from serving_api.chat.subjects import pack_of
from serving_api.evidence import parts
from serving_api.evidence.market import read_bond_yield
from serving_api.evidence.packs import fact_of, facts_of
from serving_api.framework.state import State
from serving_api.macro.queries import VALUES

BAND = stored("calc_valuation_band")
_ANNUAL = "12-31"


async def value(state: State, code: str) -> dict[str, Any]:
    """The body of the answer. Raises NotFound."""
    began = state.system.monotonic()
    pack, names = await pack_of(state, (code,))
    await state.reading.scan(read_bond_yield, state.clock.now(), pack)
    taken = _Taken(pack, names[code])
    figures = taken.figures()
    found = methods(figures)
    return {
        "code": code,
        "name": names[code],
        "methods": [
            {
                "key": one.key,
                **dict(zip(("low", "mid", "high"), map(_cents, one.values or (None,) * 3), strict=True)),
                "inputs": {name: round(number, 4) for name, number in one.inputs.items()},
                "note": one.note,
            }
            for one in found
        ],
        "price": figures.price,
        "verdict": verdict(figures.price, found),
        "provenance": rules.PREFILL,
        "label": rules.LABEL,
        "elapsed_s": round(state.system.monotonic() - began, 3),
        "evidence": evidence_items(pack, taken.ids),
    }


def _cents(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 2)


class _Taken:
    """Figures of a company, and the ids of their facts."""

    def __init__(self, pack: Pack, name: str) -> None:
        self._pack = pack
        self._name = name
        self.ids: list[str] = []

    def figures(self) -> Figures:
        this_year, next_year = (self._number(parts.VALUATION, name) for name in ("eps_fy1", "eps_fy2"))
        price = self._number(parts.QUOTE, "price")
        return Figures(
            price=self._number(parts.VALUATION, "price") if price is None else price,
            eps=self._number(parts.VALUATION, "eps_ttm"),
            bvps=self._number(parts.VALUATION, "bvps"),
            pe_band=self._pair(BAND, "pe_low", "pe_high"),
            pb_band=self._pair(BAND, "pb_low", "pb_high"),
            industry=self._text(parts.INDUSTRY, "sw_l1_name"),
            industry_pe=self._number("raw_industry_valuation", "pe_weighted"),
            industry_pb=self._number("raw_industry_valuation", "pb"),
            eps_next=None if this_year is None or next_year is None else (this_year, next_year),
            profit_growth=self._number(parts.FINANCE, "net_profit_yoy"),
            cash_flow=self._annual("free_cash_flow"),
            shares=self._number(parts.MASTER, "total_shares"),
            bond=self._number(VALUES, "value", of_company=False),
        )

    def _take(self, fact: Fact | None) -> Fact | None:
        if fact is not None:
            self.ids.append(fact.id)
        return fact

    def _number(self, table: str, column: str, *, of_company: bool = True) -> float | None:
        fact = self._take(fact_of(self._pack, table, column, self._name if of_company else ""))
        return None if fact is None else fact.number

    def _text(self, table: str, column: str) -> str | None:
        fact = self._take(fact_of(self._pack, table, column, self._name))
        return None if fact is None else str(fact.value)

    def _pair(self, table: str, low: str, high: str) -> tuple[float, float] | None:
        first, second = self._number(table, low), self._number(table, high)
        return None if first is None or second is None else (first, second)

    def _annual(self, column: str) -> float | None:
        found = (one for one in facts_of(self._pack, parts.FINANCE, column, self._name)
                 if one.as_of.endswith(_ANNUAL))  # fmt: skip
        fact = self._take(next(found, None))
        return None if fact is None else fact.number
