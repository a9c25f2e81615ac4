"""What followed a pattern, from stored rows and bars; and the catalogue."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from platform_assets.compute.parameters.patterns import DIRECTIONS, METRICS
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from serving_api.quant import pattern_records
from tests.conftest import SQLITE_OFTEN, engine_url
from tests.serving_api import market
from tests.serving_api.at_once import Watched, answers_at_once
from tests.serving_api.client import Api, running
from tests.serving_api.conftest import FAST, Ticks, make_settings, without_upstreams

DAYS = shipped_calendar().last(30, market.TODAY)
INDEX = Table(
    "fusion_index_daily",
    Layer.DWD,
    columns_from("code:code date:date open:px close:px"),
    ("code", "date"),
    date_column="date",
)
PATTERNS = Table(
    "calc_pattern_daily",
    Layer.CALC,
    columns_from("code:code date:date " + " ".join(f"{name}:int" for name in DIRECTIONS)),
    ("code", "date"),
    date_column="date",
)
TABLES = (market.KLINE, INDEX, PATTERNS)
FIRST, SECOND, LATE = DAYS[4], DAYS[10], DAYS[-3]


def close(code: str, at: int) -> float:
    """600519 rises by 1 a day, 000001 falls by 1, 000100 stands, 000858 halves its price on day 6 by a split,
    and rests from day 12 on. Every open is half below its close."""
    return {"600519": 100.0 + at, "000001": 100.0 - at, "000100": 50.0, "000858": 60.0 + at}[code]


def fill(warehouse: market.Warehouse) -> None:
    bars = []
    for at, day in enumerate(DAYS):
        for code in ("600519", "000001", "000100", "000858"):
            rests = code == "000858" and at >= 12
            factor = 2.0 if code == "000858" and at >= 6 else 1.0
            other = {"is_suspended": True, "volume": 0} if rests else {}
            if code == "600519" and at == 15:
                other["limit_up"] = 114.5
            price = close(code, min(at, 11) if rests else at) / factor
            bars.append(market.bar(code, day, price, factor, sec_type="stock", **other))
        bars.append(market.bar("510300", day, 4.0 + at, sec_type="etf"))
    market.put(warehouse, market.KLINE, bars)
    index = [
        {"code": "sh000300", "date": day, "open": 3990.0 + 40 * at, "close": 4000.0 + 40 * at}
        for at, day in enumerate(DAYS)
    ]
    market.put(warehouse, INDEX, index)
    nothing = dict.fromkeys(DIRECTIONS, 0)
    signals = [
        ("600519", FIRST, {"double_bottom": 100}),
        ("000001", FIRST, {"double_bottom": 100, "island": -100}),
        ("000858", SECOND, {"double_bottom": 100}),
        ("600519", DAYS[14], {"rectangle": 100}),
        ("000001", DAYS[14], {"rectangle": 100}),
        ("600519", LATE, {"double_bottom": 100}),
        ("000100", LATE, {"wedge": 100}),
    ]
    market.put(
        warehouse,
        PATTERNS,
        [{"code": code, "date": day} | nothing | reported for code, day, reported in signals],
    )


@pytest.fixture(scope="module", params=SQLITE_OFTEN)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder: Path = tmp_path_factory.mktemp("patterns")
    ticks = Ticks()
    for url in engine_url(request.param, folder):
        warehouse = market.open_warehouse(url, folder, tables=TABLES)
        warehouse.migrate()
        fill(warehouse)
        app = create_app(
            make_settings(folder),
            clock=FrozenClock(market.NOW),
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            warehouse_reader=market.open_warehouse(url, folder, tables=TABLES, read_only=True),
            warehouse_writer=market.open_warehouse(url, folder, tables=TABLES),
            passwords=FAST,
        )
        with running(without_upstreams(app)) as served:
            yield served
        warehouse.close()


def record(api: Api, **params: object) -> dict[str, object]:
    answer = api.get("/quant/pattern-performance", params=params)
    assert answer.status_code == 200, answer.text
    reported: dict[str, object] = answer.json()
    return reported


def test_record_of_a_pattern(api: Api) -> None:
    """Three signals have an end: bought at 104.5, 94.5 and 70 (35 before the factor) at the open of the next
    date, sold at the close of the fifth, the last one at its only close. 3 of 4 rose on either date."""
    reported = record(api, pattern="double_bottom", forward_days=5, days=30)
    changes = [4.5 / 104.5 * 100, -3.5 / 94.5 * 100, 1 / 70 * 100]
    index = [(4360 / 4190 - 1) * 100] * 2 + [(4440 / 4430 - 1) * 100]
    figures = {
        "samples": 3,
        "win_rate_pct": pytest.approx(200 / 3, abs=1e-4),
        "avg_pct": pytest.approx(sum(changes) / 3, abs=1e-4),
        "excess_pct": pytest.approx((sum(changes) - sum(index)) / 3, abs=1e-4),
    }
    assert reported == {
        "pattern": "double_bottom",
        "direction": 100,
        "forward_days": 5,
        "first_date": FIRST,
        "note": reported["note"],
        **figures,
        "dates": 2,
        "median_pct": pytest.approx(changes[2], abs=1e-4),
        "base_rate_pct": 75.0,
        "unfillable": 0,
        "fillable": figures,
        "best_pct": pytest.approx(changes[0], abs=1e-4),
        "worst_pct": pytest.approx(changes[1], abs=1e-4),
        "by_year": [
            {
                "year": 2026,
                "samples": 3,
                "win_rate_pct": pytest.approx(200 / 3, abs=1e-4),
                "avg_pct": pytest.approx(sum(changes) / 3, abs=1e-4),
            }
        ],
    }


def test_a_record_says_how_far_back_its_signals_reach(api: Api) -> None:
    reach = len(DAYS) - DAYS.index(FIRST)
    assert reach >= 20
    assert record(api, pattern="double_bottom", days=20)["note"] is None
    cut = record(api, pattern="double_bottom", days=250)
    assert cut["first_date"] == FIRST
    assert cut["note"] == f"{reach} of 250 trade dates are stored; the first stored date is {FIRST}"


def test_a_signal_down_wins_by_a_fall(api: Api) -> None:
    reported = record(api, pattern="island", direction=-100, forward_days=3, days=30)
    assert (reported["samples"], reported["win_rate_pct"], reported["base_rate_pct"]) == (1, 100.0, 25.0)
    assert reported["avg_pct"] == pytest.approx((93 / 94.5 - 1) * 100, abs=1e-4)


def test_a_day_in_the_market_is_from_the_open_to_the_close(api: Api) -> None:
    """The jump from the signal's close to the next open belongs to nobody who acts on the signal."""
    reported = record(api, pattern="island", direction=-100, forward_days=1, days=30)
    assert (reported["win_rate_pct"], reported["base_rate_pct"]) == (0.0, 0.0)
    assert reported["avg_pct"] == pytest.approx((95 / 94.5 - 1) * 100, abs=1e-4)


def test_suspended_stocks_are_no_base_and_opening_at_the_limit_is_separate(api: Api) -> None:
    """Of the four stocks one rests, and its flat rows are no sample; 600519 opens at its limit on day 15."""
    reported = record(api, pattern="rectangle", days=30)
    assert reported["base_rate_pct"] == pytest.approx(200 / 3, abs=1e-4)
    assert (reported["samples"], reported["unfillable"], reported["win_rate_pct"]) == (2, 1, 50.0)
    fillable = reported["fillable"]
    assert isinstance(fillable, dict)
    assert (fillable["samples"], fillable["win_rate_pct"]) == (1, 0.0)
    assert fillable["avg_pct"] == pytest.approx((81 / 84.5 - 1) * 100, abs=1e-4)


def test_the_other_sign_and_an_open_end_count_nothing(api: Api) -> None:
    for params in ({"pattern": "island"}, {"pattern": "wedge", "forward_days": 3}, {"pattern": "flag"}):
        reported = record(api, days=30, **params)
        assert (reported["samples"], reported["dates"], reported["avg_pct"], reported["by_year"]) == (
            0,
            0,
            None,
            [],
        )


def test_only_the_newest_days(api: Api) -> None:
    """Day 10 of 30 is the first of 20."""
    assert record(api, pattern="double_bottom", days=20)["samples"] == 1
    assert record(api, pattern="double_bottom", days=2500)["samples"] == 3


def test_a_pattern_that_points_down_is_asked_so(api: Api) -> None:
    assert record(api, pattern="double_top")["direction"] == -100
    assert record(api, pattern="double_top", direction=100)["samples"] == 0


def test_the_declared_table_has_every_column() -> None:
    table = next(one for one in builtin_registry().tables if one.name == PATTERNS.name)
    assert set(table.names) >= {"code", "date", *DIRECTIONS, *METRICS}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_every_direction_is_accepted(api: Api, name: str) -> None:
    assert record(api, pattern=name)["pattern"] == name


@pytest.mark.parametrize(
    ("params", "parameter"),
    [
        *(({"pattern": name}, "pattern") for name in (*METRICS, "close", "island;", "")),
        ({}, "pattern"),
        ({"pattern": "island", "forward_days": 2}, "forward_days"),
        ({"pattern": "island", "direction": 1}, "direction"),
        ({"pattern": "island", "days": 19}, "days"),
    ],
)
def test_a_wrong_parameter_is_named(api: Api, params: dict[str, object], parameter: str) -> None:
    answer = api.get("/quant/pattern-performance", params=params)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{parameter}: ")


def test_the_catalogue(api: Api) -> None:
    reported = api.get("/quant/pattern-catalog").json()
    assert [one["key"] for one in reported["directions"]] == list(DIRECTIONS)
    assert [one["key"] for one in reported["metrics"]] == list(METRICS)
    assert {one["kind"] for one in reported["directions"]} == {"direction"}
    for one in reported["directions"]:
        assert set(one["signs"]) <= {100, -100}
        assert one["parameters"]
        assert one["formula"]
    kinds = {one["key"]: one["values"] for one in reported["metrics"]}
    assert set(kinds["wedge_kind"]) == {"rising", "falling"}
    cup = next(one for one in reported["directions"] if one["key"] == "cup_handle")
    assert "12 % to 35 %" in cup["formula"]
    assert cup["parameters"]["depth_to"] == 0.35


def test_records_are_made_one_after_the_other_and_equal_ones_once(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Watched(pattern_records._outcomes)
    monkeypatch.setattr(pattern_records, "_outcomes", made)
    path = "/quant/pattern-performance?pattern=double_bottom&forward_days={}&days=29"

    reported = answers_at_once(api, [path.format(held) for held in (5, 5, 5, 3, 10)])

    assert (made.calls, made.most) == (3, 1)
    assert reported[0] == reported[1] == reported[2] != reported[3]
    assert reported[0]["samples"] > 0
