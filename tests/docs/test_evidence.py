"""Every call of an upstream client says what speaks for its format."""

import inspect
import re
from importlib import import_module

from core.clock import SystemClock
from platform_assets.documentation.blocks import evidence_risks
from platform_assets.documentation.vocabulary import _CLIENTS
from platform_assets.source_calls import calls_of, downloads, of_sources, risks
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN
from resources.upstreams.factory import http_clients
from resources.upstreams.wire_format_evidence import CLASSES, columns, evidence, weakest
from tests.upstreams.eastmoney.test_columns import declared

_FILTERED = re.compile(r"\((\w+)(?=\s*(?:=|<|>|!|in\b))")
SHARED = {f"eastmoney.{name}" for name in ("asked", "clist", "dated", "on_day", "only_of", "report")}
"""What the calls of a client are made of, and what ends it."""
ENDS = {"close", "new_run", "view", "with_fetches"}


def calls() -> set[str]:
    found = set()
    for upstream, package, name, module in _CLIENTS:
        client = getattr(import_module(f"{package}.{module}"), name)
        found |= {
            f"{upstream}.{call}"
            for call, _ in inspect.getmembers(client, inspect.isfunction)
            if not call.startswith("_") and call not in ENDS
        }
    return found - SHARED


def test_every_client_of_the_platform_is_looked_at() -> None:
    futures = {"cffex", "czce", "dce", "gfex", "ine", "shfe"}  # one client for all of them
    made = set(http_clients(lambda _log: None, SystemClock())) - futures

    assert {upstream for upstream, *_ in _CLIENTS} == made | {"tdx", "futures"}


def test_every_call_has_a_record_and_every_record_a_call() -> None:
    assert set(evidence()) == calls()


def test_a_record_names_its_proof() -> None:
    assert {one.kind for one in evidence().values()} <= set(CLASSES)
    for one in evidence().values():
        assert one.kind == "assumed" or one.reads, one.call
        version = re.search(r" (\d+\.\d|@[0-9a-f]{7,})", one.witness)
        assert one.kind != "witnessed" or version, one.call


def test_nine_tenths_of_what_the_tables_ask_are_recorded_or_witnessed() -> None:
    asked = {call for sources in downloads().values() for one in sources for call in calls_of(one.fetch)}

    assert len(asked) > 100
    assert sum(evidence()[call].is_proved for call in asked) >= 0.9 * len(asked)


def test_the_calls_of_a_source_are_found_in_all_ways_of_asking() -> None:
    found = {
        (name, one.source): one.calls for name, sources in downloads().items() for one in of_sources(sources)
    }

    assert found["raw_kline", "tencent"] == ("tencent.daily_bars",)  # in a function within
    assert "tdx.bars" in found["raw_kline", "tdx"]  # through a method of the desk
    assert found["raw_dragon_tiger", "szse"] == ("szse.billboard",)  # behind a lambda
    assert (
        "eastmoney.block_trades" in found["raw_block_trade", "eastmoney"]
    )  # handed to a helper as a function
    assert found["exchange_block_trade", "sse"] == ("sse.block_trades",)  # the client
    assert found["raw_news_flash", "cls"] == ("cls.flashes",)  # by the name of the client
    assert found["raw_futures", "shfe"] == ("futures.daily",)
    assert weakest(frozenset({"tdx.quotes", "tencent.rank"})) == "witnessed"
    assert weakest(frozenset()) == "assumed"


def test_a_table_that_rests_on_assumptions_alone_is_named_as_a_risk() -> None:
    named = {table for table, _, _ in risks()}

    for name, sources in downloads().items():
        kinds = [one.kind for one in of_sources(sources)]
        assert (name in named) == (bool(kinds) and set(kinds) == {"assumed"}), name
    shown = evidence_risks()
    assert all(f"`{table}`" in shown for table in named)


def named_columns() -> set[tuple[str, str]]:
    """(report, column) of every question to the data centre, whatever its report's name is made of: columns
    asked for by name, and those that it filters and sorts by."""
    found = set()
    for _, report in declared():
        asked = () if report.columns == EVERY_COLUMN else report.columns
        filtered = [one for clause in report.where for one in _FILTERED.findall(clause)]
        sorted_by = (one.removeprefix("-") for one in report.sort)
        found |= {(report.name, column) for column in (*asked, *filtered, *sorted_by)}
    return found


def test_filters_and_orders_are_seen() -> None:
    seen = named_columns()

    assert ("RPT_MAIN_ORGHOLD", "ORG_TYPE") in seen  # a filter
    assert ("RPT_OPERATEDEPT_TRADE", "RANK") in seen  # an order
    assert ("RPT_HKF10_FN_BALANCE_PC", "AMOUNT") in seen  # a name that is made of a variable
    assert len({report for report, _ in seen}) > 40


def test_every_column_that_is_asked_for_by_name_has_a_record() -> None:
    """One name that the data centre does not know costs the whole answer."""
    reported = {(one.report, one.column): one for one in columns()}

    assert named_columns() <= set(reported)
    assert len(reported) == len(columns()) > 100
    for one in reported.values():
        assert one.kind in CLASSES
        assert (one.kind == "assumed") == (not one.proof), one
    proved = [one for one in reported.values() if one.kind != "assumed"]
    assert len(proved) >= 0.95 * len(reported)
