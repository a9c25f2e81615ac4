"""Valuations by date: the documented row, its units, and rejected answers."""

from typing import Any

import pytest

from core.errors import PayloadError
from resources.upstreams.eastmoney.reports.markets import BOARD_RATIOS
from resources.upstreams.eastmoney.reports.trading import VALUATIONS, valuations_report

ROW: dict[str, Any] = {
    "SECURITY_CODE": "300124", "SECUCODE": "300124.SZ", "TRADE_DATE": "2023-05-24 00:00:00",
    "CLOSE_PRICE": 60.2, "TOTAL_MARKET_CAP": 160201029895.2, "NOTLIMITED_MARKETCAP_A": 139241196858.4,
    "TOTAL_SHARES": 2661146676,
    "FREE_SHARES_A": 2312976692, "PE_TTM": 36.83189713, "PE_LAR": 37.08561177, "PB_MRQ": 7.68499526,
    "PCF_OCF_TTM": 45.06914658, "PS_TTM": 6.96167039, "PEG_CAR": 1.700801593611,
}  # fmt: skip


def test_the_documented_row() -> None:
    row = VALUATIONS.frame([ROW]).iloc[0]

    assert (row["code"], row["date"], row["price"]) == ("300124", "2023-05-24", 60.2)
    assert (row["total_market_cap"], row["float_market_cap"]) == (16_020_102.99, 13_924_119.69)
    assert row["total_shares"] == 2_661_146_676
    assert row[["pe_ttm", "pe_static", "pb", "ps_ttm", "pcf_ttm", "peg"]].tolist() == [
        36.8319, 37.0856, 7.685, 6.9617, 45.0691, 1.7008,
    ]  # fmt: skip
    loss = VALUATIONS.frame([{**ROW, "PE_TTM": -8.5, "PEG_CAR": None}]).iloc[0]
    assert loss["pe_ttm"] == -8.5  # as published
    report = valuations_report("2023-05-24", "2023-05-24", ("300124",))
    assert report.name == "RPT_VALUEANALYSIS_DET"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"TOTAL_MARKET_CAP": 16020102.99}, "another unit"),
        ({"TOTAL_SHARES": 26611466.76}, "another unit"),
        ({"TRADE_DATE": "soon"}, "TRADE_DATE"),
        ({"SECURITY_CODE": "3001"}, "valuations"),
        ({"CLOSE_PRICE": -1}, "below zero"),
    ],
)
def test_rejected_rows(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(PayloadError, match=reason):
        VALUATIONS.frame([{**ROW, **changed}])
    with pytest.raises(PayloadError, match="PS_TTM"):
        VALUATIONS.frame([{name: ROW[name] for name in ("SECURITY_CODE", "TRADE_DATE")}])


# As two public clients read a board: `016165` in BOARD_CODE, `1277` for BK1277, without its zeros.
BOARD = {"BOARD_CODE": "016165", "ORIGINALCODE": "1277", "BOARD_NAME": "白酒Ⅱ", "PE_TTM": 19.7,
         "PB_MRQ": 6.1, "NUM": 20, "TOTAL_MARKET_CAP": 2.6e12,
         "TRADE_DATE": "2026-09-11 00:00:00"}  # fmt: skip


def test_a_board_is_known_by_the_number_of_lists_and_lines() -> None:
    second = {**BOARD, "BOARD_CODE": "016022", "ORIGINALCODE": "459", "BOARD_NAME": "电子元件"}
    old = {**BOARD, "BOARD_CODE": "016001", "BOARD_NAME": "银行", "ORIGINALCODE": None}

    made = BOARD_RATIOS.frame([BOARD, second, old])

    assert list(made["industry_code"]) == ["BK1277", "BK0459", "016001"]
    assert made.loc[0, "total_market_cap_yi"] == 26_000
    with pytest.raises(PayloadError, match="ORIGINALCODE"):
        BOARD_RATIOS.frame([{**BOARD, "ORIGINALCODE": "白酒"}])
