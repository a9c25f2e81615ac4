"""Well-formed corruptions of every call that a day makes: no wrong value is stored as `ok`.

No test is written per client: calls are found by recording a correct day, and the simulated market corrupts
the finished answer in whatever format it has.
"""

from collections import Counter
from typing import Any

import pytest

from core.clock import SystemClock
from resources.upstreams.factory import http_clients
from simulated_market.corrupted_responses import CORRUPTIONS
from tests.pipeline.corrupted_market import (
    SUSPENDED,
    Call,
    CorrectDay,
    accepted,
    corruption_accepted,
    day_without,
    has_something,
    reported,
)

FEW = ("block_trade", "fund_flow", "kline_daily", "margin")
"""Datasets of the quick matrix: deals, flows, bars and balances of six upstreams."""

KINDS = (*(kind for kind in CORRUPTIONS if kind not in ("set_fields", "spoil_rows")), "stale_day")
FALLBACKS_ONLY = {"cls"}
"""Asked only while another one is away."""
UNDETECTABLE = {
    ("*", "*", "fusion_market_cloud_map ('2026-08-26', 'BK0473') market_cap_yi"):
        "the portal's cap of this board is not the sum of its stocks, which is its fallback",
    ("eastmoney clist", "*",
     "fusion_market_cloud_map ('2026-08-26', 'BK0460') main_net: -1100.0 for -1015.0"):
        "no corruption: the fallback has flows in hundreds of CNY, and those of this board's two stocks "
        "(373,137 and -374,152) nearly cancel out",
    ("cls roll", "stale_day", "fusion_news"): "flashes of yesterday: true, and with their own time",
    ("eastmoney report", "stale_day", "fusion_finance_indicator"):
        "reports as they were yesterday: true then, and the next load brings the rest",
    ("tdx finance", "stale_day", "fusion_finance_indicator"):
        "the same where the terminal stands for the portal: the express of July is true until the report",
    ("eastmoney report", "stale_day", "fusion_valuation"): "yesterday's consensus, which carries no date",
    ("eastmoney research", "swap_rows", "fusion_news"):
        "the target of one stock for another at a like price: a single source has targets",
    ("eastmoney report", "shift_columns", "fusion_macro_release"):
        "actual and previous of a release in each other's place: a single source has releases",
    ("eastmoney report", "shift_columns", "fusion_macro_indicator ('us_unemployment'"):
        "values of neighbouring months, a tenth apart: fewer than half of the series moved",
}  # fmt: skip
"""(call, corruption, what is accepted) -> why it cannot be found; described in docs/upstreams.md."""
TERMINAL: dict[str, tuple[str, dict[str, Any]]] = {
    "cut_rows": ("cut_list", {"rows": 10}),
    "volumes_x100": ("lots_for_shares", {"board": "main"}),
    "swap_rows": ("wrong_instrument", {"serve": "sh600040", "under": "600042"}),
}
"""Corruptions of the terminal protocol, whose answers are not text, with the same effect."""


def fault(call: Call, corruption: str) -> dict[str, Any]:
    kind, args = TERMINAL.get(corruption, (corruption, {})) if call.upstream == "tdx" else (corruption, {})
    return {"kind": kind, "args": {"code": SUSPENDED} if corruption == "zero_row" else args}


def undetectable(call: Call, corruption: str, line: str) -> bool:
    return any(
        one in {"*", str(call)} and kind in {"*", corruption} and line.startswith(what)
        for one, kind, what in UNDETECTABLE
    )


def test_a_corruption_of_every_call_of_four_datasets(few: CorrectDay) -> None:
    """Each call has another one."""
    wrong, heard = [], 0
    for at, call in enumerate(few.calls):
        corruptions = [
            corruption for corruption in KINDS if has_something(few, call, fault(call, corruption))
        ]
        corruption = corruptions[at % len(corruptions)]
        found, changed_any = corruption_accepted(few, call, fault(call, corruption))
        wrong += [f"{call} {corruption}: {line}" for line in found]
        heard += changed_any

    assert not wrong, "\n".join(wrong)
    assert heard > len(few.calls) / 2


def test_an_accepted_corruption_is_found(few: CorrectDay) -> None:
    """The checker itself: a figure that slipped through is named."""
    call = next(one for one in few.calls if str(one) == "eastmoney report")
    with reported(few, call, {"kind": "status", "args": {"code": 403}}) as now:
        with now.services.warehouse.engine.begin() as connection:
            connection.exec_driver_sql(
                "UPDATE fusion_margin SET rzye=rzye*100 WHERE code=(SELECT MIN(code) FROM fusion_margin)"
            )
        lines = accepted(few, call, now)

    assert lines
    assert all(" rzye: " in line for line in lines)


def every_corruption(day: CorrectDay) -> tuple[list[str], Counter[str]]:
    """(what is accepted, how often each kind of corruption changed an answer)."""
    wrong, heard = [], Counter[str]()
    for call in day.calls:
        for corruption in (
            corruption for corruption in KINDS if has_something(day, call, fault(call, corruption))
        ):
            found, changed_any = corruption_accepted(day, call, fault(call, corruption))
            wrong += [
                f"{call} {corruption}: {line}" for line in found if not undetectable(call, corruption, line)
            ][:9]
            heard[corruption] += changed_any
    return wrong, heard


@pytest.mark.soak
def test_every_corruption_of_every_call(whole: CorrectDay) -> None:
    wrong, heard = every_corruption(whole)

    assert not wrong, "\n".join(wrong)
    assert set(heard) == set(KINDS)
    asked = {call.upstream for call in whole.calls}
    assert {"tdx", *http_clients(lambda _log: None, SystemClock())} - asked == FALLBACKS_ONLY


@pytest.mark.soak
def test_every_corruption_of_fallbacks(whole: CorrectDay) -> None:
    """Each upstream refuses for a day; the sources asked in its place are corrupted."""
    wrong, asked = [], set()
    for upstream in sorted({call.upstream for call in whole.calls}):
        with day_without(whole, upstream) as day:
            wrong += [f"without {upstream}: {line}" for line in every_corruption(day)[0]]
            asked |= {call.upstream for call in day.calls}

    assert not wrong, "\n".join(wrong)
    assert asked >= FALLBACKS_ONLY
