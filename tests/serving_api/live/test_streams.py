"""The event streams: what is sent when, resuming, slow readers, and their end."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from serving_api.live.session_state import moment_of
from serving_api.realtime import routes
from serving_api.realtime.hub import LOG_EVENTS, Event, QuoteHub, Subscription
from tests.serving_api.live.admin_reads.conftest import TRADING, FetchContext
from tests.serving_api.live.conftest import second_process

CODES = ("300114", "600040")


def state_of(bench: FetchContext) -> Any:
    return bench.app.state.platform


async def _never(_seconds: float) -> None:
    await asyncio.Event().wait()


def hub(bench: FetchContext) -> QuoteHub:
    """A hub that polls once when somebody begins to listen, and then when the test says so."""
    state = state_of(bench)
    made = QuoteHub(state, sleep=_never)
    state.parts[QuoteHub] = made
    return made


def frames(text: str) -> list[dict[str, str]]:
    """Frames of a stream by the standard's rules: fields of each block; comments are left out."""
    found = []
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, colon, value = line.partition(":")
            if name and colon:
                fields[name] = value.removeprefix(" ")
        if fields:
            found.append(fields)
    return found


def events_of(bench: FetchContext, stream: Subscription) -> list[Event]:
    return bench.api.call(stream.take, 20.0) or []


def listen(bench: FetchContext, made: QuoteHub, *codes: str, last: int | None = None) -> Subscription:
    async def begin() -> Subscription:
        return made.listen(codes, last)

    stream: Subscription = bench.api.call(begin)
    return stream


def poll_at(bench: FetchContext, made: QuoteHub, moment: datetime) -> None:
    bench.clock.at = moment
    bench.ticks.advance(3)
    bench.api.call(made.poll)


def test_a_listener_gets_the_quote_of_each_symbol_and_then_what_changes(bench: FetchContext) -> None:
    made = hub(bench)
    stream = listen(bench, made, *CODES)
    first: list[Event] = []
    while len(first) < len(CODES):
        first += events_of(bench, stream)
    assert {event.data["code"] for event in first} == set(CODES)
    one = bench.world.find("sz300114")
    assert one is not None
    quote = bench.world.quote(one, TRADING)
    assert quote is not None
    reported = next(event.data for event in first if event.data["code"] == "300114")
    assert (reported["price"], reported["last_close"]) == (quote.price / 1e4, quote.preclose / 1e4)
    assert reported["volume"] == pytest.approx(quote.volume, abs=100)

    bench.api.call(made.poll)  # the same moment: nothing has changed
    assert bench.api.call(stream.take, 0.05) == []
    poll_at(bench, made, TRADING.replace(hour=11))
    later = events_of(bench, stream)
    assert {event.data["code"] for event in later} <= set(CODES)
    assert later
    assert min(event.id for event in later) > max(event.id for event in first)


def test_a_resumed_stream_gets_missed_events_or_one_full_state(bench: FetchContext) -> None:
    made = hub(bench)
    keeper = listen(bench, made, "300114")
    first = events_of(bench, keeper)[0]
    moments = [TRADING.replace(minute=minute) for minute in range(31, 36)]
    for moment in moments:
        poll_at(bench, made, moment)
    log = list(made._logs["300114"])
    assert len(log) > 2
    back = listen(bench, made, "300114", last=first.id)
    assert [event.id for event in events_of(bench, back)] == [event.id for event in log[1:]]
    late = listen(bench, made, "300114", last=1)
    assert [event.id for event in events_of(bench, late)] == [log[-1].id]
    new = listen(bench, made, "300114")
    assert [event.id for event in events_of(bench, new)] == [log[-1].id]


def test_a_slow_reader_holds_the_newest_state_alone() -> None:
    async def read_late() -> list[Event] | None:
        stream = Subscription(["a"])
        for number in range(10_000):
            stream.put("a", Event(number, {"n": number}))
        assert len(stream._pending) == 1
        return await stream.take(0.1)

    assert asyncio.run(read_late()) == [Event(9_999, {"n": 9_999})]


def test_without_streams_nothing_is_polled_and_the_log_is_bounded(bench: FetchContext) -> None:
    made = hub(bench)
    stream = listen(bench, made, "300114")
    events_of(bench, stream)
    assert made.polls == 1
    assert made._logs["300114"].maxlen == LOG_EVENTS

    async def leave() -> None:
        made.leave(stream)

    bench.api.call(leave)
    assert made.requested == frozenset()
    assert made._logs == {}


def read_frames(
    api: Any, path: str, enough: int, counted: Callable[[str], int] = lambda text: len(frames(text))
) -> tuple[dict[str, str], str]:
    """Headers and text of a stream over ASGI until `enough` frames were sent; then the client goes."""

    async def run() -> tuple[dict[str, str], str]:
        text, headers = "", {}
        gone = asyncio.Event()
        path_, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "path": f"/api/v1{path_}",
            "raw_path": f"/api/v1{path_}".encode(),
            "query_string": query.encode(),
            "headers": [(b"accept-encoding", b"gzip, zstd")],
            "client": ("10.0.0.1", 5000),
            "server": ("test", 80),
            "scheme": "http",
            "root_path": "",
        }

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal text, headers
            if message["type"] == "http.response.start":
                headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                text += message.get("body", b"").decode()
                if counted(text) >= enough:
                    gone.set()

        await asyncio.wait_for(api.app(scope, receive, send), 30)
        return headers, text

    found: tuple[dict[str, str], str] = api.call(run)
    return found


def test_the_quote_stream_on_the_wire(bench: FetchContext) -> None:
    made = hub(bench)
    headers, text = read_frames(bench.api, f"/realtime/quote-stream?symbols={','.join(CODES)}", len(CODES))
    assert headers["content-type"].startswith("text/event-stream")
    assert headers["cache-control"] == "no-store"
    assert "content-encoding" not in headers
    assert text.startswith(": ")
    sent = frames(text)
    assert [frame["event"] for frame in sent] == ["quote"] * len(CODES)
    assert {orjson.loads(frame["data"])["code"] for frame in sent} == set(CODES)
    assert all(frame["id"].isdigit() for frame in sent)
    assert made.requested == frozenset()  # who goes is forgotten


def test_the_market_stream_lists_the_changes(bench: FetchContext) -> None:
    hub(bench)
    _, text = read_frames(bench.api, "/realtime/stream", 1)
    (frame,) = frames(text)
    reported = orjson.loads(frame["data"])
    assert frame["event"] == "quotes_updated"
    assert set(reported) == {"ts", "count", "codes", "trade_state", "indices"}
    assert reported["trade_state"] == "trading"
    assert [row["code"] for row in reported["indices"]] == ["sh000001", "sz399001", "sz399006"]


STREAMS = ("/realtime/stream", "/realtime/quote-stream?symbols=300114")


def comments(text: str) -> int:
    return text.count(": keep-alive\n")


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_without_events_says_so_every_fifteen_seconds(
    bench: FetchContext, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    assert routes.COMMENT_S == 15.0
    monkeypatch.setattr(routes, "COMMENT_S", 0.01)
    hub(bench)
    _, text = read_frames(bench.api, path, 3, comments)
    assert [block for block in text.split("\n\n") if block.startswith(":")][1:] == [": keep-alive"] * 3


def test_a_stream_counts_once_in_the_rate_limit(
    bench: FetchContext, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(routes, "COMMENT_S", 0.01)
    with second_process(bench, tmp_path, rate_limit_per_min=3) as api:
        for path in STREAMS:
            read_frames(api, path, 20, comments)
        codes = [api.get("/realtime/trading-time").status_code for _ in range(2)]
        assert codes == [200, 429]
        refused, _ = read_frames(api, STREAMS[0], 0, len)
        assert int(refused["retry-after"]) > 0


@pytest.mark.parametrize("symbols", ["", "abc", "600519,abc", ",".join(f"{code:06d}" for code in range(101))])
def test_bad_symbols_are_refused_by_name(bench: FetchContext, symbols: str) -> None:
    answer = bench.api.get("/realtime/quote-stream", params={"symbols": symbols})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("symbols:")
    assert bench.api.get("/realtime/quote-stream").status_code == 422


def test_a_bad_id_is_refused_by_name(bench: FetchContext) -> None:
    answer = bench.api.get("/realtime/quote-stream", params={"symbols": "600519", "last_event_id": "x"})
    assert (answer.status_code, answer.json()["detail"].split(":")[0]) == (422, "last_event_id")


def test_the_end_of_the_service_ends_every_stream(bench: FetchContext) -> None:
    made = hub(bench)
    streams = [listen(bench, made, "300114") for _ in range(3)]

    async def close() -> None:
        made.close()

    bench.api.call(close)
    assert [bench.api.call(stream.take, 5.0) for stream in streams] == [None, None, None]
    assert bench.api.call(listen(bench, made, "300114").take, 5.0) is None


def test_prices_move_in_a_session_and_until_the_closing_prices_are_settled(bench: FetchContext) -> None:
    calendar = state_of(bench).calendar
    moving = {
        time: moment_of(datetime.fromisoformat(f"2026-08-21T{time}"), calendar).moving
        for time in ("09:14:59", "09:15:00", "12:00:00", "15:04:59", "15:05:00")
    }
    assert list(moving.values()) == [False, True, True, True, False]


def test_an_error_of_one_poll_is_logged_and_ends_no_stream(
    bench: FetchContext, caplog: pytest.LogCaptureFixture
) -> None:
    """A fault that nobody foresaw, in the first poll of a hub that goes on by itself."""

    async def at_once(_seconds: float) -> None:
        await asyncio.sleep(0)

    made = QuoteHub(state_of(bench), sleep=at_once)
    state_of(bench).parts[QuoteHub] = made
    polled = made.poll
    faults = [ZeroDivisionError("a fault of ours")]

    async def faulty() -> None:
        if faults:
            raise faults.pop()
        await polled()

    made.poll = faulty  # type: ignore[method-assign]
    stream = listen(bench, made, CODES[0])

    assert [event.data["code"] for event in events_of(bench, stream)] == [CODES[0]]
    assert any(record.exc_info and "quotes of a stream" in record.message for record in caplog.records)
