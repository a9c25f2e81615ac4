"""Every call that a dataset makes, without a test written per call: its parser accepts the undamaged answer
and raises our own errors for two hundred damaged ones; transport failures raise their own errors.

The calls are found by running every source of every dataset, so a new dataset is covered without a line here.
"""

import inspect
import json
import os
import random
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.calendar import shipped_calendar
from core.clock import ManualClock, SystemClock
from core.errors import PayloadError, Permanent, PlatformError, Refused, Transient, UpstreamError
from platform_assets.every_source import EmptyTables, ask_every_source
from resources.fetch_record import FetchLog
from resources.settings import Settings
from resources.transport.gate import OpenGate
from resources.transport.gates import MemoryGate
from resources.transport.http import HttpTransport
from resources.transport.request import Request
from resources.transport.settings import TransportSettings, transport_settings
from resources.upstreams.chinamoney.client import TurnedAway
from resources.upstreams.eastmoney.reports import billboard
from resources.upstreams.factory import http_clients, make_clients
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.hosts import mock_sites
from resources.upstreams.tdx.session import Session
from resources.upstreams.wire_format_evidence import columns
from simulated_market.registry import responders
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world
from tests.pipeline.conftest import TODAY
from tests.transport.manual import ManualTime
from tests.upstreams.bad_host import bad_host, closed_port

MUTATIONS = int(os.environ.get("SOAK_EXAMPLES", "200"))
LARGE, FEWER = 20_000, 8
"""Bytes beyond which a body is damaged so many times less often: every kind of damage is in it still."""
MOST_GROWTH = 128 << 20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_ODD = (b"-1", b"nan", b"1e999", b"null", b'""', b"[]", b"{}", b"\xff", b"<html>", b"99999999999999999999")


PAGES = {"f10_statement", "f10_dates", "limit_pool"}
"""Calls whose page is in their path."""
VISITS = {"xueqiu visit", "chinamoney visit", "chinamoney register"}
"""Calls that only bring cookies: their page is not read, whatever it holds."""


@dataclass(frozen=True)
class Seen:
    """One call as it was made: its parser, and the bytes that it accepted."""

    parse: Callable[[bytes], Any]
    body: bytes
    request: Request | None = None


@dataclass(frozen=True)
class Bench:
    """The calls, and the market that still answers them."""

    seen: dict[str, Seen]
    market: SimulatedMarket


class Calls:
    """The first accepted answer of every call."""

    def __init__(self) -> None:
        self.seen: dict[str, Seen] = {}

    def watched(
        self, name: str, parse: Callable[[bytes], Any], request: Request | None = None
    ) -> Callable[[bytes], Any]:
        def accepted(body: bytes) -> Any:
            value = parse(body)
            if body and name not in VISITS:
                self.seen.setdefault(name, Seen(parse, body, request))
            return value

        return accepted


def asked_on_demand(clients: dict[str, Any], symbol: str) -> None:
    """Every method of every client that one code, a day or a range is enough for: what the API asks live."""
    known = {
        "symbol": symbol, "symbols": [symbol], "code": symbol[2:], "codes": (symbol[2:],), "day": TODAY,
        "since": TODAY, "until": TODAY, "most": 20, "keyword": symbol[2:], "kind": "concept",
        "statement": "income", "board_code": "BK0475", "secid": "1.000001",
    }  # fmt: skip
    for _, client in sorted(clients.items()):
        for name, method in inspect.getmembers(client, inspect.ismethod):
            requested = [
                one.name for one in inspect.signature(method).parameters.values() if one.default is one.empty
            ]
            if not name.startswith(("_", "close")) and known.keys() >= set(requested):
                with suppress(PlatformError, KeyError, ValueError, IndexError):
                    method(**{part: known[part] for part in requested})


def kind_of(request: Request, parse: Callable[[bytes], Any]) -> str:
    """The call, and what distinguishes the parsers of one call: the requested report or page, and the reader
    of its rows."""
    report = dict(request.params).get("reportName", "")
    page = request.path.rpartition("/")[2] if request.call in PAGES else ""
    reader = getattr(parse, "keywords", {}).get("read")
    return " ".join(filter(None, (request.call, report, page, getattr(reader, "__name__", ""))))


def no_fetcher(_log: FetchLog) -> Any:
    """For asking the factory which clients there are."""
    return None


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Bench"]:
    found, clock = Calls(), ManualClock(pd.Timestamp(f"{TODAY} 22:30").to_pydatetime())
    attempt, run, symbols = HttpTransport._attempt, Session.run, FetchContext.symbols

    def watched_attempt(self: Any, request: Any, parse: Any, **how: Any) -> Any:
        name = f"{how['site'].upstream} {kind_of(request, parse)}"
        return attempt(self, request, found.watched(name, parse, request), **how)

    def watched_run(self: Any, call: Any, parse: Any) -> Any:
        return run(self, call, found.watched(f"tdx {call.name}", parse))

    with (
        pytest.MonkeyPatch.context() as patch,
        SimulatedMarket(load_world("synthetic", "S"), clock) as market,
    ):
        patch.setattr(HttpTransport, "_attempt", watched_attempt)
        patch.setattr(Session, "run", watched_run)
        # A per-code fetch makes the same request for each code: two of them are enough.
        patch.setattr(FetchContext, "symbols", lambda self, *how: symbols(self, *how)[:2])
        host, port = market.tcp_address or ("", 0)
        settings = Settings(
            data_source="mock",
            sample_state="calm",
            data_dir=str(tmp_path_factory.mktemp("calls")),
            simulator_url=market.http_url,
            simulator_tdx=f"{host}:{port}",
        )
        gate = MemoryGate(transport_settings(settings), sleeper=lambda _seconds: None)
        calendar = shipped_calendar()
        makers, closers = make_clients(settings, clock, calendar, gate=gate, sleeper=lambda _seconds: None)
        ctx = FetchContext(clock=clock, calendar=calendar, makers=makers, closers=closers)
        view = ctx.view(FetchLog(), read=EmptyTables())
        clients = {name: make(FetchLog()) for name, make in makers.items()}
        clients["eastmoney"].buybacks(None, TODAY)  # of the day alone there are none
        for side in billboard.SIDE_REPORTS:  # asked when the report of all seats is gone
            clients["eastmoney"].dated(billboard.side_report(side), TODAY, TODAY)
        ask_every_source(view, TODAY, str(view.securities()["code"].iloc[0]))
        view.eastmoney.stock_changes()  # asked by live reads alone
        asked_on_demand(clients, view.symbols()[0])
        hong_kong = str(clients["eastmoney"].ah_pairs()["h_code"].iloc[0])
        for call in ("hk_indicators", "hk_dividends", "hk_profile"):
            getattr(clients["eastmoney"], call)(hong_kong)
        clients["eastmoney"].economy_older("RPTA_WEB_TREASURYYIELD", TODAY)
        ctx.close()
        patch.undo()
        yield Bench(found.seen, market)


def damaged(body: bytes, draw: random.Random) -> bytes:
    """The body as networks and block pages leave it: cut, flipped, doubled, spliced, or with an odd value."""
    at, length = draw.randrange(len(body) + 1), draw.randint(1, 40)
    kind = draw.randrange(7)
    if kind == 0:
        return body[:at]
    if kind == 1:
        changed = bytearray(body)
        for _ in range(draw.randint(1, 8)):
            changed[draw.randrange(len(body))] = draw.randrange(256)
        return bytes(changed)
    if kind == 2:
        return body[:at] + body[at + length :]
    if kind == 3:
        return body[:at] + body[max(0, at - length) :]
    if kind == 4:
        return body[:at] + draw.randbytes(length) + body[at:]
    if kind == 5:
        return draw.randbytes(draw.randint(0, 300))
    # A value in the place of another one, where the format has separators.
    start = max((body.rfind(mark, 0, at) for mark in (b":", b",", b"~", b"|")), default=-1) + 1
    ends = [end for mark in (b",", b"}", b"~", b"|", b"]") if (end := body.find(mark, at)) >= 0]
    return body[:start] + draw.choice(_ODD) + body[min(ends, default=len(body)) :]


@pytest.fixture
def calls(bench: "Bench") -> dict[str, Seen]:
    return bench.seen


def test_every_upstream_is_asked(calls: dict[str, Seen]) -> None:
    """Every client of the factory: what is not asked is in none of the matrices here."""
    upstreams = {name.partition(" ")[0] for name in calls}

    assert upstreams == {"tdx", *http_clients(no_fetcher, SystemClock())}
    assert len(calls) >= 40


def test_every_answer_of_the_simulated_market_is_read(bench: Bench) -> None:
    answered = {f"{one.upstream} {route.call}" for one in responders() for route in one.routes}
    asked = {f"{upstream} {call}" for upstream, calls in bench.market.calls().items() for call in calls}

    # For clients of others; searches of the chat and downloads in parts have tests of their own.
    downloads = {f"tdx_packages {name}" for name in ("all_bars", "events", "reports")}
    assert answered - asked == {"tencent bars_short", "tavily search", "duckduckgo search"} | downloads


def test_every_report_that_is_asked_for_has_evidence(calls: dict[str, Seen]) -> None:
    """Seen at the wire, so that no way of making its name hides one."""
    asked = {
        name
        for seen in calls.values()
        if seen.request is not None and (name := dict(seen.request.params).get("reportName"))
    }

    assert len(asked) > 40
    assert asked <= {one.report for one in columns()}


def strangeness(value: Any, true: Any) -> str:
    """What a frame or columns hold that no true answer has; '' where they could be loaded."""
    if isinstance(true, pd.DataFrame):
        if list(value.columns) != list(true.columns):
            return f"columns {list(value.columns)}"
        figures = value.select_dtypes("number").to_numpy(dtype=float)
        return "an infinite figure" if np.isinf(figures).any() else ""
    return "" if value is None or type(value) is type(true) else f"a {type(value).__name__}"


def test_a_damaged_answer_raises_our_own_errors(calls: dict[str, Seen]) -> None:
    """Our error, or rows like those of a true answer; claimed lengths allocate no memory."""
    strange = []
    most_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, seen in sorted(calls.items()):
        undamaged = seen.parse(seen.body)  # a parser that refuses everything fails here
        draw = random.Random(name)
        times = MUTATIONS if len(seen.body) <= LARGE else max(1, MUTATIONS // FEWER)
        refused = 0
        for _ in range(times):
            body = damaged(seen.body, draw)
            try:
                if odd := strangeness(seen.parse(body), undamaged):
                    strange.append(f"{name}: {odd} at {body[:60]!r}")
                    break
            except PlatformError:
                refused += 1
            except Exception as error:
                strange.append(f"{name}: {type(error).__name__}: {error} at {body[:60]!r}")
                break
        assert refused, f"{name} accepts any bytes"
    assert strange == []
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most_before) * _RSS_UNIT
    assert grown < MOST_GROWTH


ANSWERS = {("tencent ticks", "empty")}
"""What is an answer of that call: the page after the last one has no body."""
REGISTERS = {("chinamoney curve", "403"): (TurnedAway,)}
"""A refused client registers there and repeats its request, which may be refused."""
ACCIDENTS: tuple[tuple[str, dict[str, Any], tuple[type[Exception], ...], int], ...] = (
    ("status", {"code": 403}, (Refused,), 1),
    ("status", {"code": 456}, (Refused,), 1),
    ("status", {"code": 429}, (Transient,), 3),
    ("status", {"code": 500}, (Transient,), 3),
    ("reset", {}, (Transient,), 3),
    ("truncate", {"keep": 0.5, "honest": True}, (UpstreamError, PayloadError), 0),
    ("empty", {}, (UpstreamError, PayloadError), 0),
    ("html", {}, (UpstreamError, PayloadError), 0),
    ("garbage", {}, (UpstreamError, PayloadError), 0),
)
"""Kind, args, its error, and how often it is requested (0: as it may be; a connection that the accident
before has closed costs one more). Waiting ones (silence, a trickle) are in the matrix of the transport."""


def test_transport_failures_raise_their_errors_and_a_refusal_is_never_repeated(bench: Bench) -> None:
    settings = TransportSettings(pacing=False, http_timeout=2.0)
    transport = HttpTransport(
        settings, OpenGate(), mock_sites(bench.market.http_url), sleeper=lambda _seconds: None
    )
    wrong = []
    for name, seen in sorted(of_each_call(bench.seen).items()):
        assert seen.request is not None
        for kind, args, usual, times in ACCIDENTS:
            if (name, kind) in ANSWERS:
                continue
            bench.market.faults.replace([{"upstream": "*", "call": "*", "kind": kind, "args": args}])
            log = FetchLog()
            errors = REGISTERS.get((name, str(args.get("code"))), usual)
            try:
                transport.call(seen.request, seen.parse, log)
                wrong.append(f"{name} accepts {kind} {args}")
            except errors:
                if times and len(log.items) != times:
                    wrong.append(f"{name} was asked {len(log.items)} times at {kind} {args}")
            except Exception as error:
                wrong.append(f"{name} reports {kind} {args} as {type(error).__name__}")
    transport.close()
    bench.market.faults.clear()
    assert "\n".join(wrong) == ""


def of_each_call(seen: dict[str, Seen]) -> dict[str, Seen]:
    """One of the requests that a call makes in the same way."""
    found: dict[str, Seen] = {}
    for name, one in sorted(seen.items()):
        if one.request is not None:
            found.setdefault(f"{name.partition(' ')[0]} {one.request.call}", one)
    return found


def of_each_site(seen: dict[str, Seen]) -> dict[str, Seen]:
    """One call of every site: for accidents that come before any parser."""
    found: dict[str, Seen] = {}
    for one in (one for _, one in sorted(seen.items()) if one.request is not None):
        found.setdefault(one.request.site, one)  # type: ignore[union-attr]  # filtered in the line before
    return found


def reported(
    name: str, one: Seen, transport: HttpTransport, errors: tuple[type[Exception], ...], times: int
) -> str:
    """What is wrong with the error of a call after a failure; '' where it is one of `errors`."""
    log = FetchLog()
    assert one.request is not None
    try:
        transport.call(one.request, one.parse, log)
    except errors:
        asked = len(log.items)
        return f"{name} was asked {asked} times" if times and asked != times else ""
    except Exception as error:
        return f"{name} raises {type(error).__name__}: {error}"
    return f"{name} accepts it"


@pytest.mark.parametrize(
    ("fault", "errors", "times"),
    [
        ("gzip_cut", (UpstreamError, PayloadError), 0),
        ("other_encoding", (UpstreamError, PayloadError), 0),
        ("reset_in_body", (Transient,), 3),
        ("redirect_loop", (Permanent,), 1),
    ],
)
def test_broken_bodies_are_rejected(
    bench: Bench, fault: str, errors: tuple[type[Exception], ...], times: int
) -> None:
    seen = of_each_site(bench.seen) if fault == "redirect_loop" else of_each_call(bench.seen)
    waits = ManualTime()
    settings = TransportSettings(pacing=False, http_timeout=2.0)
    with (
        bad_host() as host,
        HttpTransport(settings, OpenGate(), mock_sites(host.url), sleeper=waits.sleep) as transport,
    ):
        host.fault = fault
        wrong = []
        for name, one in sorted(seen.items()):
            if one.request is not None:
                host.body = one.body
                wrong.append(reported(name, one, transport, errors, times))

    assert [line for line in wrong if line] == []


@pytest.mark.parametrize("where", ["refused", "unknown"])
def test_a_host_that_is_not_there_is_tried_again_within_the_budget(
    bench: Bench, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server at the address, or no address of the name; the waits are on a clock of their own."""
    address = closed_port() if where == "refused" else "http://127.0.0.1:1"
    if where == "unknown":

        def unknown(*_: Any, **__: Any) -> Any:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
    settings = TransportSettings(pacing=False, http_timeout=2.0, http_connect_timeout=2.0)
    for site, one in of_each_site(bench.seen).items():
        waits = ManualTime()
        with HttpTransport(settings, OpenGate(), mock_sites(address), sleeper=waits.sleep) as transport:
            assert reported(site, one, transport, (Transient,), settings.retry_attempts) == ""
        assert sum(waits.slept) <= settings.retry_cap_sec * (settings.retry_attempts - 1)


@pytest.mark.parametrize(("asked_for", "times"), [(7, 3), (3600, 1)])
def test_a_requested_wait_is_observed_or_not_waited_at_all(bench: Bench, asked_for: int, times: int) -> None:
    settings = TransportSettings(pacing=False, http_timeout=2.0)
    bench.market.faults.replace(
        [{"upstream": "*", "call": "*", "kind": "status", "args": {"code": 429, "retry_after": asked_for}}]
    )
    for site, one in of_each_site(bench.seen).items():
        waits = ManualTime()
        sites = mock_sites(bench.market.http_url)
        with HttpTransport(settings, OpenGate(), sites, sleeper=waits.sleep) as transport:
            assert reported(site, one, transport, (Transient,), times) == ""
        assert waits.slept == [float(asked_for)] * (times - 1)
    bench.market.faults.clear()


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "args"), [("timeout", {}), ("slow", {"bytes_per_second": 20})])
def test_silence_and_a_trickle_end_in_time(bench: Bench, kind: str, args: dict[str, Any]) -> None:
    settings = TransportSettings(pacing=False, http_timeout=0.2, http_connect_timeout=0.2)
    bench.market.faults.replace([{"upstream": "*", "call": "*", "kind": kind, "args": args}])
    sites = mock_sites(bench.market.http_url)
    with HttpTransport(settings, OpenGate(), sites, sleeper=lambda _seconds: None) as transport:
        wrong = [
            reported(site, one, transport, (Transient,), settings.retry_attempts)
            for site, one in of_each_site(bench.seen).items()
        ]
    bench.market.faults.clear()
    assert [line for line in wrong if line] == []


# -- reports with one column less -----------------------------------------------------------------------

ESSENTIAL: dict[str, str] = {
    # Code, date and number: without them a row cannot be assigned.
    "*": "SECURITY_CODE SCODE DIM_SCODE TRADE_DATE REPORT_DATE REPORTDATE END_DATE DATE FREE_DATE "
    "NOTICE_DATE CHANGE_DATE SOLAR_DATE HOLD_NOTICE_DATE UPDATEDATE INDICATOR_ID PUBLISH_DATE",
    "RPTA_APP_ACCUMDETAILS": "HOLDER_NAME PF_NUM PF_START_DATE",
    "RPT_BILLBOARD_DAILYDETAILSBUY": "EXPLANATION OPERATEDEPT_NAME BUY SELL",
    "RPT_BILLBOARD_DAILYDETAILSSELL": "EXPLANATION OPERATEDEPT_NAME BUY SELL",
    "RPT_CSDC_LIST": "PLEDGE_RATIO",
    "RPT_DAILYBILLBOARD_DETAILSNEW": "EXPLANATION",
    "RPT_DATA_BLOCKTRADE": "DEAL_PRICE DEAL_VOLUME DEAL_AMT BUYER_NAME SELLER_NAME",
    "RPT_DMSK_HOLDERS": "RANK HOLDER_NAME HOLD_NUM",
    "RPT_DMSK_TS_STOCKNEW": "TOTALSCORE",
    "RPT_ECONOMICVALUE_USA": "VALUE",
    "RPT_ECONOMY_GDP": "TIME",
    "RPT_EXECUTIVE_HOLD_DETAILS": "PERSON_NAME CHANGE_SHARES",
    "RPT_F10_EH_EQUITY": "TOTAL_SHARES",
    "RPT_F10_EH_FREEHOLDERS": "HOLDER_RANK HOLDER_NAME HOLD_NUM",
    "RPT_GOODWILL_STOCKDETAILS": "GOODWILL",
    "RPT_HKF10_FN_MAININDICATOR": "CURRENCY",
    "RPT_HKF10_MAIN_DIVBASIC": "PLAN_EXPLAIN",
    "RPT_HOLDERNUM_DET": "HOLDER_NUM",
    "RPT_IMP_INTRESTRATEN": "IR_RATE",
    "RPT_LIFT_STAGE": "FREE_SHARES_TYPE CURRENT_FREE_SHARES",
    "RPT_MAINDATA_MAIN_POSITIONDETAILS": "ORG_TYPE HOLDER_CODE TOTAL_SHARES",
    "RPT_MAIN_ORGHOLD": "ORG_TYPE TOTAL_SHARES",
    "RPT_MUTUAL_DEAL_HISTORY": "MUTUAL_TYPE DEAL_AMT",
    "RPT_OPERATEDEPT_TRADE": "EXPLANATION TRADE_DIRECTION RANK OPERATEDEPT_NAME BUY_AMT_REAL SELL_AMT_REAL",
    "RPT_ORG_SURVEYNEW": "RECEIVE_START_DATE RECEIVE_OBJECT",
    "RPT_PUBLIC_OP_NEWPREDICT": "PREDICT_FINANCE_CODE",
    "RPT_VALUEINDUSTRY_DET": "BOARD_CODE ORIGINALCODE",
    "RPT_VALUEMARKET": "TRADE_MARKET_CODE",
    "RPT_WEB_RESPREDICT": "RATING_ORG_NUM",
    "RPTA_WEB_GETHGLIST_NEW": "REPURPROGRESS",
    "RPTA_WEB_RZRQ_GGMX": "RZYE",
    # Null says something there: no cash, not listed yet, not published, not put off.
    "RPT_SHAREBONUS_DET": "PLAN_NOTICE_DATE PRETAX_BONUS_RMB BONUS_RATIO IT_RATIO EX_DIVIDEND_DATE "
    "ASSIGN_PROGRESS",
    "RPTA_APP_IPOAPPLY": "APPLY_DATE ISSUE_PRICE LISTING_DATE",
    "RPT_PUBLIC_BS_APPOIN": "FIRST_APPOINT_DATE FIRST_CHANGE_DATE SECOND_CHANGE_DATE THIRD_CHANGE_DATE "
    "ACTUAL_PUBLISH_DATE",
}  # fmt: skip
"""Report -> columns without which its answer is refused; of all others each may be missing alone."""
AS_RECEIVED = {"payload", "indicators"}
"""Columns that keep the row as it came."""


def reports_seen(bench: Bench) -> Iterator[tuple[str, str, Seen]]:
    """(call, report, what it was answered)."""
    for name, seen in sorted(bench.seen.items()):
        asked = dict(seen.request.params) if seen.request is not None else {}
        if seen.request is not None and seen.request.call in {"report", "f10_report", "older_report"}:
            yield name, asked.get("reportName") or asked["type"], seen


def rows_in(document: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (document.get("result") or {}).get("data") or []
    return rows


def without(document: dict[str, Any], key: str) -> bytes:
    rows = [{name: value for name, value in row.items() if name != key} for row in rows_in(document)]
    return json.dumps({**document, "result": {**document["result"], "data": rows}}).encode()


def lost_more(found: pd.DataFrame, undamaged: pd.DataFrame) -> str:
    """What differs other than figures that are null now; '' where only those do."""
    if len(found) != len(undamaged):
        return f"{len(found)} of {len(undamaged)} rows"
    for name in (one for one in undamaged.columns if one not in AS_RECEIVED):
        kept = found[name].notna() | undamaged[name].isna()
        same = (found[name] == undamaged[name]) | (found[name].isna() & undamaged[name].isna())
        if not same[kept].all():
            return f"another {name}"
    gone = [name for name in undamaged.columns if found[name].isna().sum() > undamaged[name].isna().sum()]
    return f"{gone} are gone" if len(gone) > 2 else ""


def test_a_column_that_is_missing_costs_that_column(bench: Bench) -> None:
    """Each column of every report missing in turn: the same rows without it, or a refusal that names it where
    it is essential."""
    wrong, optional, reports = [], 0, set()
    for name, report, seen in reports_seen(bench):
        document = json.loads(seen.body)
        rows = rows_in(document)
        if not rows:
            continue
        reports.add(report)
        accepted = seen.parse(seen.body)
        undamaged = accepted if isinstance(accepted, pd.DataFrame) else accepted.rows
        essential = {*ESSENTIAL["*"].split(), *ESSENTIAL.get(report, "").split()}
        for key in dict.fromkeys(key for row in rows for key in row):
            try:
                reported = seen.parse(without(document, key))
            except PayloadError as error:
                if key not in essential or key not in str(error):
                    wrong.append(f"{name} without {key}: {error}")
                continue
            optional += 1
            found = reported if isinstance(reported, pd.DataFrame) else reported.rows
            if more := lost_more(found, undamaged):
                wrong.append(f"{name} without {key}: {more}")
    assert "\n".join(wrong) == ""
    assert len(reports) > 50
    assert {"RPTA_WEB_GETHGLIST_NEW", "RPT_BILLBOARD_DAILYDETAILSBUY"} <= reports
    assert optional > 300
