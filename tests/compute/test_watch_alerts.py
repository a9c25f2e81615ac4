"""Alerts of the watch list: thresholds on both sides, missing values, the stop price."""

import pytest

from platform_assets.compute.watch_alerts import Thresholds, alerts

LIMITS = Thresholds(price=5.0, volume=2.0, stop=3.0)
BANK = {"code": "600040", "name": "瀚岳银行", "stop_loss_price": 9.0}


@pytest.mark.parametrize(
    ("quote", "directions"),
    [
        ({"price": 10.5, "last_close": 10.0, "volume_ratio": 1.99}, ["up"]),
        ({"price": 10.49, "last_close": 10.0, "volume_ratio": None}, []),
        ({"price": 9.5, "last_close": 10.0, "volume_ratio": 2.0}, ["down", "volume"]),
        ({"price": 9.27, "last_close": 9.3}, ["stop_loss"]),
        ({"price": 9.28, "last_close": 9.3}, []),
        ({"price": float("nan"), "last_close": 10.0}, []),
        ({"price": 0.0, "last_close": 10.0, "volume_ratio": 9.0}, []),
        ({}, []),
    ],
)
def test_alerts(quote: dict[str, float], directions: list[str]) -> None:
    assert [one.direction for one in alerts(BANK, quote, LIMITS)] == directions


def test_the_words_say_the_figures() -> None:
    (fall,) = alerts({**BANK, "stop_loss_price": None}, {"price": 9.4, "last_close": 10.0}, LIMITS)
    assert (fall.title, fall.content) == ("瀚岳银行 下跌 6.00%", "现价 9.40 元，昨收 10.00 元")
    (stop,) = alerts(BANK, {"price": 8.9, "last_close": 9.0}, LIMITS)
    assert stop.title == "瀚岳银行 已跌破止损价"
