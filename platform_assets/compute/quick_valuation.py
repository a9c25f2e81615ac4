"""Fair values of one share by four short methods; `docs/calculations/quick-valuation.md` has the rules.

Pure. Amounts in CNY, rates in percent; a figure that is not there is None, and a method that lacks one says
so instead of guessing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from platform_assets.compute.parameters import quick_valuation as own

Key = Literal["pe", "pb", "peg", "dcf_lite"]
LOW, FAIR, HIGH, UNKNOWN = "低估", "合理", "高估", "无法判断"


@dataclass(frozen=True)
class Figures:
    """Known figures of a company. `pe_band`, `pb_band`: (low, high) of its own last years; `eps_next`: the
    consensus of this year and the next; `cash_flow`: free cash flow of its newest annual report; `bond`:
    yield of the ten-year government bond."""

    price: float | None = None
    eps: float | None = None
    bvps: float | None = None
    pe_band: tuple[float, float] | None = None
    pb_band: tuple[float, float] | None = None
    industry: str | None = None
    industry_pe: float | None = None
    industry_pb: float | None = None
    eps_next: tuple[float, float] | None = None
    profit_growth: float | None = None
    cash_flow: float | None = None
    shares: float | None = None
    bond: float | None = None


@dataclass(frozen=True)
class Method:
    """Values of a share, all or none; `inputs` are what they were made of."""

    key: Key
    values: tuple[float, float, float] | None = None
    inputs: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None


def methods(figures: Figures) -> list[Method]:
    """All four, in their order."""
    return [
        _by_multiple("pe", figures.eps, figures.pe_band, figures.industry_pe, "每股收益"),
        _by_multiple("pb", figures.bvps, figures.pb_band, figures.industry_pb, "每股净资产"),
        _by_growth(figures),
        _by_cash_flow(figures),
    ]


def verdict(price: float | None, found: Sequence[Method]) -> str:
    """The verdict of most methods; a tie is 合理."""
    if price is None:
        return UNKNOWN
    said = [
        LOW if price < one.values[0] else HIGH if price > one.values[2] else FAIR
        for one in found if one.values is not None
    ]  # fmt: skip
    if not said:
        return UNKNOWN
    low, high, fair = said.count(LOW), said.count(HIGH), said.count(FAIR)
    if low > max(high, fair):
        return LOW
    return HIGH if high > max(low, fair) else FAIR


def _by_multiple(
    key: Literal["pe", "pb"], base: float | None, band: tuple[float, float] | None,
    of_industry: float | None, what: str,
) -> Method:  # fmt: skip
    if base is None:
        return Method(key, note=f"没有{what}")
    if base <= 0:
        return Method(key, note=f"{what}不为正，此法不适用")
    if band is not None and 0 < band[0] <= band[1]:
        low, high = band
        middle = (low + high) / 2
    elif of_industry is not None and of_industry > 0:
        middle = of_industry
        low, high = middle * (1 - own.INDUSTRY_SPREAD), middle * (1 + own.INDUSTRY_SPREAD)
    else:
        return Method(key, note="没有可参照的倍数")
    inputs = {"base": base, "multiple_low": low, "multiple_mid": middle, "multiple_high": high}
    return Method(key, (base * low, base * middle, base * high), inputs)


def growth_of(figures: Figures) -> float | None:
    """Percent a year: from the consensus of this year to the next, else that of the newest report."""
    if figures.eps_next is not None and figures.eps_next[0] > 0 and figures.eps_next[1] > 0:
        return (figures.eps_next[1] / figures.eps_next[0] - 1) * 100
    return figures.profit_growth


def _by_growth(figures: Figures) -> Method:
    if figures.industry in own.FINANCIAL:
        return Method("peg", note="金融企业不适用市盈率相对增长")
    growth = growth_of(figures)
    if figures.eps is None or figures.eps <= 0:
        return Method("peg", note="每股收益不为正，此法不适用" if figures.eps is not None else "没有每股收益")
    if growth is None:
        return Method("peg", note="没有增长率")
    if growth < own.GROWTH_FROM:
        return Method("peg", note="增长过慢，此法不适用")
    accepted = min(growth, own.GROWTH_TO)
    low, mid, high = (figures.eps * accepted * one for one in own.PEG_MULTIPLES)
    return Method("peg", (low, mid, high), {"base": figures.eps, "growth_pct": accepted})


def _by_cash_flow(figures: Figures) -> Method:
    if figures.industry in own.FINANCIAL:
        return Method("dcf_lite", note="金融企业不适用现金流折现")
    if figures.cash_flow is None or not figures.shares:
        return Method("dcf_lite", note="没有年报自由现金流或总股本")
    if figures.cash_flow <= 0:
        return Method("dcf_lite", note="自由现金流不为正，此法不适用")
    growth = growth_of(figures)
    if growth is None or figures.bond is None:
        return Method("dcf_lite", note="没有增长率或国债收益率")
    base = figures.cash_flow / figures.shares
    accepted = min(max(growth, own.DCF_GROWTH_FROM), own.DCF_GROWTH_TO)
    low, mid, high = (_present(base, accepted, figures.bond + premium) for premium in own.PREMIUMS)
    inputs = {"base": base, "growth_pct": accepted, "bond_pct": figures.bond,
              "terminal_growth_pct": own.TERMINAL_GROWTH}  # fmt: skip
    return Method("dcf_lite", (low, mid, high), inputs)


def _present(base: float, growth: float, discount: float) -> float:
    """Cash of the explicit years, falling evenly to the terminal growth, and what follows them."""
    flow, factor, total = base, 1.0, 0.0
    step = (growth - own.TERMINAL_GROWTH) / own.DCF_YEARS
    for year in range(own.DCF_YEARS):
        flow *= 1 + (growth - step * year) / 100
        factor /= 1 + discount / 100
        total += flow * factor
    return total + flow * (1 + own.TERMINAL_GROWTH / 100) / ((discount - own.TERMINAL_GROWTH) / 100) * factor
