"""Bars of the topic portal's line host: the recorded rows, and rejected answers."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, PayloadError, Refused
from resources.upstreams.ths import limits
from tests.upstreams.mutations import ACCEPTED, damaged_bytes, damaged_text, quick

# Recorded with adjusted bars (01); the rows of unadjusted ones (00) are written alike.
ADJUSTED = (Path(__file__).parent / "payloads" / "ths_last_600519_20260702.js").read_bytes()
BODY = ADJUSTED.replace(b"_600519_01_last", b"_600519_00_last")


def test_the_recorded_rows() -> None:
    rows = limits.parse_bars(BODY, "sh600519")

    assert rows["date"].tolist() == ["2026-07-02", "2026-07-03"]
    first = rows.iloc[0]
    assert (first["open"], first["high"], first["low"], first["close"]) == (1193.01, 1215.52, 1190.51, 1203.0)
    assert (first["volume"], first["amount"], first["turnover_pct"]) == (5_087_015, 6_122_360_900, 0.407)


def test_what_is_asked() -> None:
    assert limits.bars_request("sh600519", 140).path == "/v6/line/hs_600519/00/last.js"
    assert limits.bars_request("sz000001", 2 * 140).path == "/v6/line/hs_000001/00/last1800.js"
    for symbol, count in (("bj920047", 10), ("sh000001", 10), ("sh600519", 1801)):
        with pytest.raises(InputError):
            limits.bars_request(symbol, count)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ADJUSTED, "not its bars"),
        (BODY.replace(b"600519", b"000858"), "not its bars"),
        (BODY.replace(b"1215.52", b"1100.00"), "do not enclose"),
        (BODY.replace(b",5087015,", b",50870,").replace(b",3426755,", b",34267,"), "contradicts the prices"),
        (BODY.replace(b"20260703", b"20260701"), "follows"),
        (BODY.replace(b",6122360900.00,0.407,,,0", b""), "a bar of 6 fields"),
    ],
)
def test_rejected_bars(body: bytes, reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        limits.parse_bars(body, "sh600519")


def test_a_blocked_client_is_refused() -> None:
    with pytest.raises(Refused):
        limits.parse_bars(b"<h1>Nginx forbidden.</h1>", "sh600519")


@quick
@given(st.one_of(damaged_bytes(BODY), damaged_text(BODY.decode(), ",").map(str.encode)))
def test_damaged_bars(body: bytes) -> None:
    try:
        rows = limits.parse_bars(body, "sh600519")
    except ACCEPTED:
        return
    assert set(rows["code"]) <= {"600519"}
    assert not (rows[["open", "close", "volume", "amount"]] < 0).any().any()
