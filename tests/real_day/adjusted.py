"""What the API answers for qfq and hfq, against products of last close / preclose from the files."""

from tests.real_day.findings import Section
from tests.real_day.services import RealDay
from tests.real_day.truth import PRICES, Row, Truth
from tests.serving_api.client import Api, running

_CODES, _DAYS = 100, 500
_ROUNDING = 0.5e-4 + 1e-6
"""Adjusted prices are served with four decimals."""


def compare_adjusted(day: RealDay, truth: Truth, section: Section) -> None:
    """Every code of the window, every price, both ways; multiplicative, so never below zero."""
    from serving_api.app import create_app

    traded: dict[str, list[Row]] = {}
    for row in truth.rows.values():
        if row.traded:
            traded.setdefault(row.symbol, []).append(row)
    with running(create_app(day.settings, clock=day.platform.clock)) as api:
        for adjust in ("qfq", "hfq"):
            wrong: list[str] = []
            compared = moved = 0
            served = _served(api, sorted({symbol[2:] for symbol in traded}), adjust)
            for symbol, rows in traded.items():
                rows.sort(key=lambda row: row.date)
                base = rows[-1].factor if adjust == "qfq" else 1.0
                bars = {bar["date"]: bar for bar in served.get(symbol[2:], [])}
                moved += any(row.factor != base for row in rows)
                for row in rows:
                    bar = bars.get(row.date, {})
                    for name in PRICES:
                        expected = float(row.prices[name]) * row.factor / base
                        compared += 1
                        if abs(bar.get(name, -1) - expected) > _ROUNDING:
                            wrong.append(
                                f"{symbol} {row.date} {name}: served {bar.get(name)}, own {expected:.4f}"
                            )
            section.equal(
                f"{adjust} of every code as the API serves it", compared, wrong, f"{moved} codes adjusted"
            )


def _served(api: Api, codes: list[str], adjust: str) -> dict[str, list[dict[str, float]]]:
    bars: dict[str, list[dict[str, float]]] = {}
    for at in range(0, len(codes), _CODES):
        some = ",".join(codes[at : at + _CODES])
        answer = api.get(f"/stocks/batch-kline?codes={some}&days={_DAYS}&adjust={adjust}")
        assert answer.status_code == 200, answer.text
        bars |= answer.json()["results"]
    return bars
