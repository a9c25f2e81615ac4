"""Codes as people write them."""

import pytest

from core.errors import InputError
from core.market.symbols import dataset_code, index_code, security_code


@pytest.mark.parametrize(
    "text",
    ["600519", "600519.SH", "600519.sh", "sh600519", "SH600519", "sh.600519", "SH:600519", "600519.SS",
     "600519.XSHG", "1.600519", " 600519 "],
)  # fmt: skip
def test_one_security_in_every_notation(text: str) -> None:
    assert (dataset_code(text), security_code(text)) == ("600519", "600519")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("000001", "000001"),
        ("000001.SZ", "000001"),
        ("sz000001", "000001"),
        ("0.000001", "000001"),
        ("000001.SH", "sh000001"),
        ("1.000001", "sh000001"),
        ("上证指数", "sh000001"),
        ("沪深300", "sh000300"),
        ("SZ399006", "sz399006"),
        ("0.920819", "920819"),
        ("510300.SH", "510300"),
        ("113050.XSHG", "113050"),
        ("00700", "00700"),
        ("BK0475", "BK0475"),
    ],
)
def test_the_market_decides_between_two_instruments_of_one_number(text: str, code: str) -> None:
    assert dataset_code(text) == code


@pytest.mark.parametrize(
    "text", ["000300", "000300.SH", "sh000300", "SH000300", "1.000300", "沪深300", "000300.XSHG"]
)
def test_one_index_in_every_notation(text: str) -> None:
    assert index_code(text) == "sh000300"


def test_numbers_of_indices_without_a_market() -> None:
    codes = ("000001", "399001", "899050", "801780")
    assert [index_code(code) for code in codes] == ["sh000001", "sz399001", "bj899050", "801780"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("600519.SZ", "nearest: 600519.SH"),
        ("sh000002x", "is no code"),
        ("sh600519.SZ", "names two markets"),
        ("000001.SH", "is the index sh000001"),
        ("沪深300", "is the index sh000300"),
        ("1600519", "is no code"),
        ("2.600519", "is no code"),
        ("６００５１９", "is no code"),
    ],
)
def test_what_is_no_security_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        security_code(text)


@pytest.mark.parametrize("text", ["沪深", "600519", "sz000001", ""])
def test_what_is_no_index_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no index"):
        index_code(text)
