"""Lots and shares: factors by call and kind, and the guard that the amount puts on them."""

import struct

import pytest

from core.errors import InputError, PayloadError
from resources.upstreams.tdx import bars, corporate, units
from resources.upstreams.tdx.instruments import instrument
from simulated_market.tdx.encoding import float32, u16, varints


def body(volume: float, amount: float, price: int = 10_000, rows: int = 1, tail: bytes = b"") -> bytes:
    out = u16(rows)
    for at in range(rows):
        out += struct.pack("<I", 20260302 + at) + varints(price if at == 0 else 0, 0, 0, 0)
        out += float32(volume, amount) + tail
    return out


@pytest.mark.parametrize(
    ("symbol", "period", "absolute", "wire", "shares"),
    [
        ("sh600000", "day", False, 1234, 123_400),
        ("sh600000", "week", False, 1234, 123_400),
        ("sh600000", "year", False, 1234, 123_400),
        ("sh688001", "day", False, 1234, 123_400),
        ("sh600000", "day", True, 1234, 1234),
        ("sh510300", "day", False, 1234, 123_400),
        ("sh113001", "day", False, 1234, 12_340),
    ],
)
def test_volume_becomes_shares(symbol: str, period: str, absolute: bool, wire: int, shares: int) -> None:
    raw = body(wire, shares * 10.0)

    columns = bars.parse_bars(raw, instrument(symbol), bars.PERIODS[period], absolute=absolute)

    assert columns["volume"] == [shares]


@pytest.mark.parametrize(("symbol", "lots"), [("sh113001", 10), ("sz000001", 1)])
def test_minute_volumes_are_shares_but_lots_for_convertible_bonds(symbol: str, lots: int) -> None:
    what, of = instrument(symbol), bars.PERIODS["5m"]

    assert bars.volume_factor(what, of, absolute=False, index=False) == lots


def test_index_units_differ_by_a_hundred_between_days_and_minutes() -> None:
    what = instrument("sh000001")

    assert bars.volume_factor(what, bars.PERIODS["day"], absolute=False, index=True) == 10_000
    assert bars.volume_factor(what, bars.PERIODS["1m"], absolute=False, index=True) == 100


@pytest.mark.parametrize("volume", [123_400.0, 12.34])
def test_day_bars_in_the_other_unit_name_the_code(volume: float) -> None:
    raw = body(volume, 123_400 * 10.0)

    with pytest.raises(PayloadError, match=r"sh600000.*lots or shares"):
        bars.parse_bars(raw, instrument("sh600000"), bars.PERIODS["day"])


def test_index_bars_in_the_other_unit_are_refused() -> None:
    raw = body(765_169_500.0, 1.113e12, price=4_000_000, tail=u16(1, 2))

    with pytest.raises(PayloadError, match="sh000001"):
        bars.parse_bars(raw, instrument("sh000001"), bars.PERIODS["day"])


def test_one_odd_bar_in_a_long_history_is_left_to_the_quality_checks() -> None:
    def one(day: int, step: int, amount: float) -> bytes:
        return struct.pack("<I", day) + varints(step, 0, 0, 0) + float32(1000, amount)

    rows = [one(20260201 + at, 0, 1_000_000.0) for at in range(20)]
    raw = u16(21) + one(20260101, 10_000, 77.0) + b"".join(rows)

    assert len(bars.parse_bars(raw, instrument("sh600000"), bars.PERIODS["day"])["date"]) == 21


@pytest.mark.parametrize(
    ("volume", "amount", "wrong"),
    [
        (100_000, 1_000_000.0, False),
        (100_000, 100_000_000.0, True),
        (100_000, 10_000.0, True),
        (0, 0.0, False),
        # An odd lot rounds to a whole one; no unit can be derived from it.
        (100, 1_500.0, False),
        (100, 100_000.0, True),
    ],
)
def test_guard(volume: int, amount: float, wrong: bool) -> None:
    assert units.contradicts(volume, amount, 9.5, 10.5, 100) is wrong


@pytest.mark.parametrize(("wire", "factor"), [(765_169_500, 100), (7_651_695, 10_000), (0, 100)])
def test_index_quotes_take_the_unit_that_the_amount_allows(wire: int, factor: int) -> None:
    assert units.index_factor(wire, 1.113e12) == factor


@pytest.mark.parametrize(("scale", "factor"), [(1000, 1000), (10_000, 10_000)])
def test_finance_money_takes_the_unit_that_meets_the_book_value(scale: int, factor: int) -> None:
    assert corporate.money_factor(2.7e11 / scale, 1.25e9, 216.0) == factor


def test_finance_money_that_meets_no_book_value_is_refused() -> None:
    with pytest.raises(ValueError, match="net assets"):
        corporate.money_factor(2.7e11, 1.25e9, 216.0)


@pytest.mark.parametrize(
    ("updated", "months", "period"),
    [
        (20170428, 3, "2017-03-31"),
        (20260420, 12, "2025-12-31"),
        (20251031, 9, "2025-09-30"),
        (20251031, 7, None),
    ],
)
def test_report_period_follows_from_months_and_the_date_of_the_update(updated, months, period) -> None:
    assert corporate.report_period(updated, months) == period


@pytest.mark.parametrize(
    ("symbol", "kind", "decimals"),
    [
        ("sh000300", "index", 2),
        ("sh880001", "index", 2),
        ("sz399001", "index", 2),
        ("bj899050", "index", 2),
        ("sz000001", "stock", 2),
        ("sz301000", "stock", 2),
        ("sh688981", "stock", 2),
        ("bj920001", "stock", 2),
        ("sh510300", "etf", 3),
        ("sz159915", "etf", 3),
        ("sh113050", "cb", 3),
        ("sz128100", "cb", 3),
        ("sh900901", "b", 3),
        ("sz200002", "b", 2),
        ("sz395001", "category", 2),
    ],
)
def test_instruments(symbol: str, kind: str, decimals: int) -> None:
    what = instrument(symbol)

    assert (what.kind, what.decimals, what.symbol) == (kind, decimals, symbol)


@pytest.mark.parametrize("symbol", ["600519", "SH600519", "hk00700", "sh60051", "sh6005190", ""])
def test_other_forms_of_a_symbol_are_refused(symbol: str) -> None:
    with pytest.raises(InputError, match="symbol"):
        instrument(symbol)
