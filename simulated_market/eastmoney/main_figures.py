"""The whole page of a company's main figures: 82 numbers as public clients name them, of which each kind of
company (general, bank, broker, insurer) has its own."""

from collections.abc import Callable, Mapping, Sequence

from simulated_market.eastmoney.finance import main_row
from simulated_market.finance import Result, change, percent
from simulated_market.wire import Row

CHANGES = {
    "EPSJBTZ": "EPSJB", "BPSTZ": "BPS", "MGZBGJTZ": "MGZBGJ", "MGWFPLRTZ": "MGWFPLR",
    "MGJYXJJETZ": "MGJYXJJE", "ROEJQTZ": "ROEJQ", "ZZCJLLTZ": "ZZCJLL", "ZCFZLTZ": "ZCFZL", "ROICTZ": "ROIC",
}  # fmt: skip
"""Change on the year in percent -> the figure that changed."""


SINGLE = {"TOI": "TOTALOPERATEREVE", "DPNP": "PARENTNETPROFIT", "DEDUCTDPNP": "KCFJCXSYJLR"}
"""DJD_..._YOY and DJD_..._QOQ: changes of a single quarter -> the amount of the year so far."""

_FIRST_QUARTER = 331


def _at(one: Result, purpose: str, least: float, most: float) -> float:
    """A figure of the company between two."""
    return round(least + (most - least) * one.share(purpose), 6)


def _bank(one: Result) -> Row:
    deposits = round(one.report.total_assets * _at(one, "deposits", 0.60, 0.72), 2)
    loans = round(deposits * _at(one, "loans", 0.70, 0.85), 2)
    core = _at(one, "core", 9.0, 11.5)
    return {
        "TOTALDEPOSITS": deposits,
        "GROSSLOANS": loans,
        "LTDRR": percent(loans, deposits),
        "NEWCAPITALADER": round(core + _at(one, "tier2", 2.0, 4.5), 6),
        "HXYJBCZL": core,
        "NONPERLOAN": _at(one, "bad", 0.8, 1.7),
        "BLDKBBL": _at(one, "cover", 160.0, 380.0),
        "NZBJE": round(one.report.net_assets * _at(one, "capital", 1.05, 1.25), 2),
    }


def _broker(one: Result) -> Row:
    owned = one.report.net_assets
    capital = round(owned * _at(one, "net capital", 0.65, 0.85), 2)
    reserves = {
        name: round(capital * _at(one, name, 0.005, 0.06), 2)
        for name in ("YYFXZB", "JJYWFXZB", "ZQZYYWFXZB", "ZQCXYWFXZB", "RZRQYWFXZB")
    }
    return {
        "JZB": capital,
        "JZC": owned,
        "JZBJZC": percent(capital, owned),
        "ZYGPGMJZC": _at(one, "own shares", 8.0, 35.0),
        "ZYGDSYLZQJZB": _at(one, "own bonds", 120.0, 320.0),
        **reserves,
    }


def _insurer(one: Result) -> Row:
    premium = round(one.report.revenue * _at(one, "premium", 0.70, 0.85), 2)
    return {
        "TOTAL_ROI": _at(one, "roi", 3.0, 5.5),
        "NET_ROI": _at(one, "net roi", 2.8, 4.5),
        "EARNED_PREMIUM": premium,
        "COMPENSATE_EXPENSE": round(premium * _at(one, "claims", 0.25, 0.45), 2),
        "SURRENDER_RATE_LIFE": _at(one, "surrender", 0.8, 2.5),
        "SOLVENCY_AR": _at(one, "solvency", 180.0, 260.0),
        "NBV_LIFE": round(premium * _at(one, "new business", 0.05, 0.12), 2),
        "NBV_RATE": _at(one, "margin", 15.0, 30.0),
        "NHJZ_CURRENT_AMT": round(one.report.net_assets * _at(one, "embedded", 1.2, 1.8), 2),
    }


_KINDS: Mapping[str, Callable[[Result], Row]] = {"银行": _bank, "证券": _broker, "保险": _insurer}


def main_rows(results: Sequence[Result]) -> list[Row]:
    """A row per result in the order given: every name in each, null where a kind does not have it."""
    rows = {one.period: _figures(one) for one in results}
    nothing = dict.fromkeys(name for one in results[:1] for kind in _KINDS.values() for name in kind(one))
    made = []
    for one in results:
        row, before = rows[one.period], rows.get(one.period - 10_000, {})
        changed = {name: _changed(row[of], before.get(of)) for name, of in CHANGES.items()}
        changed["XSMLL_TB"] = _changed(row["XSMLL"], before.get("XSMLL"))
        for name, of in SINGLE.items():
            now = _quarter(rows, one.period, of)
            changed[f"DJD_{name}_YOY"] = _changed(now, _quarter(rows, one.period - 10_000, of))
            changed[f"DJD_{name}_QOQ"] = _changed(now, _quarter(rows, _before(one.period), of))
        made.append({**row, **nothing, **_KINDS.get(row["ORG_TYPE"], _general)(one), **changed})
    return made


def _general(_one: Result) -> Row:
    return {}


def _before(period: int) -> int:
    """The end of the quarter before."""
    year, day = divmod(period, 10_000)
    return {331: (year - 1) * 10_000 + 1231, 630: year * 10_000 + 331, 930: year * 10_000 + 630}.get(
        day, year * 10_000 + 930
    )


def _quarter(rows: Mapping[int, Row], period: int, name: str) -> float | None:
    """The amount of the last three months of a period."""
    so_far: float | None = rows.get(period, {}).get(name)
    if so_far is None or period % 10_000 == _FIRST_QUARTER:
        return so_far
    earlier = rows.get(_before(period), {}).get(name)
    return None if earlier is None else so_far - earlier


def _figures(one: Result) -> Row:
    """Without what follows from other periods."""
    row = main_row(one)
    if one.short_loans is None or one.long_loans is None:
        return {**row, "ROIC": None}
    invested = one.report.net_assets + one.short_loans + one.long_loans
    return {**row, "ROIC": percent(one.report.net_profit, invested)}


def _changed(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else change(now, before)
