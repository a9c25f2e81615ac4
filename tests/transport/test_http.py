"""The HTTP transport against a scripted server: attempts, fail-over, limits, records, redaction."""

import random
import threading
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.clock import FrozenClock
from core.errors import PayloadError, Permanent, Refused, Transient, Unavailable
from resources.fetch_record import FetchLog
from resources.transport.budget import call_budget
from resources.transport.gate import OpenGate
from resources.transport.gates import MemoryGate
from resources.transport.http import HttpTransport, parse_retry_after
from resources.transport.request import Request, Site
from resources.transport.settings import TransportSettings
from tests.transport.manual import ManualTime

NOW = datetime(2026, 8, 21, 15, 30)


class Script:
    """Answers in order; the last one for ever. Remembers what was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes]] = [(200, {}, b"ok")]
        self.asked: list[tuple[str, str, dict[str, str]]] = []

    def next(self) -> tuple[int, dict[str, str], bytes]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ThreadingHTTPServer, Script]]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            script.asked.append((self.command, self.path, dict(self.headers.items())))
            status, headers, body = script.next()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format, *args) -> None:
            return None

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield running, script
    running.shutdown()
    running.server_close()


class Bench:
    def __init__(self, server, bases: int = 1, gate=None, **changes) -> None:
        running, self.script = server
        self.script.answers, self.script.asked = [(200, {}, b"ok")], []
        root = f"http://127.0.0.1:{running.server_address[1]}"
        real = tuple(f"https://host{number}.example" for number in range(bases))
        targets = tuple(f"{root}/{number}" for number in range(bases))
        site = Site("eastmoney", "eastmoney", real, "https://referer.example/", targets)
        settings = TransportSettings(pacing=False, **changes)
        self.time = ManualTime()
        self.gate = gate or MemoryGate(settings, now=self.time, sleeper=self.time.sleep)
        self.log = FetchLog()
        self.transport = HttpTransport(
            settings,
            self.gate,
            {"site": site},
            clock=FrozenClock(NOW),
            sleeper=self.time.sleep,
            rng=random.Random(1),
        )

    def call(self, parse=bytes, **changes):
        request = Request("site", "call", "/path", (("secid", "1.600519"), ("ut", "hidden")), **changes)
        return self.transport.logged(self.log).call(request, parse)


@pytest.fixture
def bench(server):
    made = []

    def build(**changes):
        made.append(Bench(server, **changes))
        return made[-1]

    yield build
    for one in made:
        one.transport.close()


def status(code: int, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return code, headers, b"answer"


def test_every_response_is_recorded_with_its_outcome(bench):
    one = bench()
    one.script.answers = [status(503), status(200)]

    one.call(label="1.600519")

    first, second = one.log.items
    assert (first.outcome, first.http_status, first.attempt) == ("transient", 503, 1)
    assert (second.outcome, second.http_status, second.attempt, second.body) == ("ok", 200, 2, b"answer")
    assert (second.upstream, second.call_name, second.codes_or_page) == ("eastmoney", "call", "1.600519")
    assert second.received_at == NOW
    assert first.request_key == second.request_key
    assert one.log.calls() == {"eastmoney": 2}


def test_a_request_is_recorded_without_secrets_and_without_our_addresses(bench):
    one = bench()

    one.call()

    assert one.log.items[0].request == "GET https://host0.example/path?secid=1.600519&ut=***"
    assert one.script.asked[0][1] == "/0/path?secid=1.600519&ut=hidden"


def test_the_browser_headers_and_the_referer_are_sent(bench):
    one = bench()

    one.call()

    headers = {name.lower(): value for name, value in one.script.asked[0][2].items()}
    assert headers["user-agent"].startswith("Mozilla/5.0")
    assert headers["referer"] == "https://referer.example/"


def test_a_retry_goes_to_the_next_host(bench):
    one = bench(bases=2)
    one.script.answers = [status(500), status(502), status(200)]

    one.call()

    assert [path[:2] for _, path, _ in one.script.asked] == ["/0", "/1", "/0"]


def test_a_host_that_cools_down_is_left_out(bench):
    one = bench(bases=2)
    for _ in range(2):
        one.gate.enter("eastmoney", "host0.example")
        one.gate.failed("eastmoney", "host0.example", Transient("503"))

    one.call()

    assert [path[:2] for _, path, _ in one.script.asked] == ["/1"]


def test_when_all_hosts_cool_down_the_error_says_so_and_nothing_is_sent(bench):
    one = bench()
    for _ in range(2):
        one.gate.enter("eastmoney", "host0.example")
        one.gate.failed("eastmoney", "host0.example", Transient("503"))

    with pytest.raises(Unavailable, match="cools down"):
        one.call()
    assert one.script.asked == []
    assert one.log.items == []


def test_waits_grow_and_are_jittered(bench):
    one = bench(gate=OpenGate(), retry_attempts=4)
    one.script.answers = [status(503)]

    with pytest.raises(Transient, match="HTTP 503"):
        one.call()

    assert len(one.script.asked) == 4
    first, second, third = one.time.slept
    assert 0.25 <= first <= 0.75
    assert 0.5 <= second <= 1.5
    assert 1.0 <= third <= 3.0


@pytest.mark.parametrize("code", [401, 403, 451, 456])
def test_a_refusal_is_never_retried(bench, code):
    one = bench()
    one.script.answers = [status(code), status(200)]

    with pytest.raises(Refused):
        one.call()
    assert len(one.script.asked) == 1
    assert one.gate.breakers()["em_breaker"]["state"] == "OPEN"


@pytest.mark.parametrize("code", [301, 302, 400, 404, 414])
def test_what_will_never_work_is_not_retried_either(bench, code):
    one = bench()
    one.script.answers = [status(code, Location="/elsewhere"), status(200)]

    with pytest.raises(Permanent, match=str(code)):
        one.call()
    assert len(one.script.asked) == 1
    assert one.gate.breakers()["em_breaker"]["state"] == "CLOSED"


def test_a_busy_message_inside_a_good_answer_is_retried(bench):
    one = bench()
    one.script.answers = [(200, {}, b"busy"), (200, {}, b"data")]

    def parse(body: bytes) -> bytes:
        if body == b"busy":
            raise Transient("busy")
        return body

    assert one.call(parse) == b"data"
    assert [str(fetch.outcome) for fetch in one.log.items] == ["transient", "ok"]
    assert one.gate.counters()["eastmoney"] == {
        "requests": 2,
        "failures": 1,
        "retries": 1,
        "cooldown": False,
    }


def test_an_empty_result_is_recorded_as_empty(bench):
    one = bench()

    assert one.call(lambda body: []) == []
    assert one.log.items[0].outcome == "empty"


def test_a_parser_that_breaks_does_not_leave_the_gate_waiting(bench):
    one = bench()
    for number in range(4):
        one.gate.enter("eastmoney", f"{number}.example")
        one.gate.failed("eastmoney", f"{number}.example", Transient("503"))
    one.time.at += 121

    with pytest.raises(KeyError):
        one.call(lambda body: {}["missing"])

    assert one.log.items[0].outcome == "payload"
    assert one.gate.breakers()["em_breaker"]["state"] == "CLOSED"


def test_a_body_that_is_too_large_is_not_stored(bench):
    one = bench(max_body_bytes=1000)
    one.script.answers = [(200, {}, b"x" * 2000)]

    with pytest.raises(PayloadError, match="larger than 1000"):
        one.call()
    assert one.log.items[0].body == b""


def test_a_damaged_compression_is_a_payload_error(bench):
    one = bench()
    one.script.answers = [(200, {"Content-Encoding": "gzip"}, b"no gzip at all")]

    with pytest.raises(PayloadError, match="compressed"):
        one.call()


def test_a_dead_port_is_transient(bench):
    one = bench()
    site = Site("eastmoney", "eastmoney", ("https://host0.example",), bases=("http://127.0.0.1:9",))
    one.transport._sites = {"site": site}

    with pytest.raises(Transient):
        one.call()
    assert one.log.items[0].http_status is None


def test_retries_count_against_the_budget_of_the_request(bench):
    one = bench(bases=6, retry_attempts=9, em_breaker_failure_threshold=99)
    one.script.answers = [status(503)]

    with call_budget(3), pytest.raises(Transient):
        one.call()
    assert len(one.script.asked) == 3


def test_a_request_that_has_waited_long_enough_is_not_retried(bench):
    one = bench(bases=6, retry_attempts=3, em_breaker_failure_threshold=99)
    one.script.answers = [status(503)]

    with call_budget(9, retry_within_s=-1.0), pytest.raises(Transient):
        one.call()
    assert len(one.script.asked) == 1

    with call_budget(9, retry_within_s=60.0), pytest.raises(Transient):
        one.call()
    assert len(one.script.asked) == 1 + 3


def test_a_post_is_part_of_the_request_key(bench):
    one = bench()

    one.call(method="POST", content=b"a=1&token=secret")
    one.call(method="POST", content=b"a=2&token=secret")

    first, second = one.log.items
    assert first.request_key != second.request_key
    assert "secret" not in first.request


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("Fri, 21 Aug 2026 07:30:20 GMT", 20.0),
        ("Fri, 21 Aug 2026 07:29:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
    ],
)
def test_retry_after_in_both_spellings(text, seconds):
    assert parse_retry_after(text, datetime(2026, 8, 21, 7, 30)) == seconds


def test_defaults_are_those_of_the_specification():
    settings = TransportSettings()

    assert (settings.em_min_interval, settings.em_jitter_min, settings.em_jitter_max) == (0.3, 0.1, 0.5)
    assert (settings.tencent_min_interval, settings.xq_min_interval) == (0.2, 1.0)
    assert (settings.pause_min, settings.pause_max) == (0.3, 1.0)
    assert (settings.em_breaker_failure_threshold, settings.em_breaker_cooldown_sec) == (4, 120)
    assert (settings.host_failure_threshold, settings.retry_budget_max) == (2, 6)
    assert (settings.http_max_connections, settings.http_max_keepalive) == (20, 10)
    assert settings.http_keepalive_expiry == 30
    assert (settings.http_timeout, settings.http_connect_timeout) == (10, 5)
