"""One paced call of every kind to the real upstreams, held against the answers of the simulated market.

The forms of the simulated market follow recordings and public clients (`docs/upstreams.md`), so a difference
is a change of the site, or a form that was never recorded. The answers are kept as a recording with a test
that reads them by the platform's parsers, offline.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ashare.answer_shapes import differences, shape_of, shape_of_rows
from ashare.diagnosis import Finding
from core.calendar import TradeCalendar, shipped_calendar
from core.clock import Clock, FrozenClock
from core.errors import PlatformError, Unavailable
from platform_assets.every_source import EmptyTables, ask_every_source
from resources.composition import market_clock
from resources.fetch_record import FetchLog
from resources.recordings import RecordedResponses, keep
from resources.settings import Settings
from resources.simulated_market_process import ChildMarket
from resources.transport.gates import MemoryGate, deployment_gate
from resources.transport.settings import transport_settings
from resources.upstreams.factory import Makers, make_clients, terminal_client
from resources.upstreams.fetch_context import FetchContext
from resources.upstreams.first_answers import Answer, FirstAnswers
from resources.upstreams.replay import replay_clients
from resources.upstreams.tdx.frames import Kind
from resources.upstreams.tdx.survey import ranking, survey
from serving_api.admin.probes import USUAL_CODE

ABOUT, TEST = "about.json", "test_answers.py"
_TEST = '''"""Answers of {taken}: each is read by its parser. Copy this folder into the tests to keep them."""

from pathlib import Path

import pytest

from ashare.real_calls import replayed

FOLDER = Path(__file__).parent
ANSWERS = replayed(FOLDER)
READ = {names}


@pytest.mark.parametrize("name", READ)
def test_the_answer_is_read(name: str) -> None:
    assert ANSWERS[name].error is None, ANSWERS[name].error
'''


def real_now(settings: Settings) -> datetime:
    """The present time, whatever SAMPLE_NOW says; past the calendar its last day."""
    return market_clock(replace(settings, sample_now="")).now()


def expected(settings: Settings) -> dict[str, Answer]:
    """The answers of a simulated market of its own, which ends with the call."""
    now = real_now(settings).replace(second=0, microsecond=0)
    market = ChildMarket(
        replace(
            settings,
            data_source="mock",
            sample_world="synthetic",
            sample_profile="S",
            sample_state="calm",
            sample_faults="",
            sample_now=now.isoformat(),
        )
    )
    market.start()
    try:
        return answers_of(market.settings, FrozenClock(now)).answers
    finally:
        market.stop()


def answers_of(settings: Settings, clock: Clock) -> FirstAnswers:
    """Every kind of call once, at the addresses that the settings name: at the simulated market without
    pauses, elsewhere with the machine's own pacing and breakers."""
    calendar, first = shipped_calendar(), FirstAnswers()
    paces = transport_settings(settings)
    gate = MemoryGate(paces, sleeper=lambda _seconds: None) if settings.data_source == "mock" else None
    makers, closers = make_clients(settings, clock, calendar, gate=gate, first=first)
    try:
        _sweep(makers, clock, calendar, first)
    finally:
        for close in closers:
            close()
    return first


def terminal_servers(settings: Settings, clock: Clock) -> Iterator[Finding]:
    """A finding for each kind of call of the terminal: its servers in the order in which they are asked.
    Every server is asked for one call of each kind, and what was seen is kept for the loads."""
    gate = deployment_gate(settings)
    client = terminal_client(settings, clock, shipped_calendar(), gate=gate)
    try:
        away = survey(client.session)
        for kind in Kind:
            ranked = ranking(client.session, kind)
            serving = [
                f"{place}. {host} {record.connect_ms:.0f} ms"
                for place, (host, record) in enumerate(ranked, 1)
                if record.serves(kind) and host not in away and record.connect_ms is not None
            ]
            others = len(ranked) - len(serving) - len(away)
            detail = "; ".join(
                [*serving, f"{others} do not serve them, {len(away)} cannot be asked" + _example(away)]
            )
            yield Finding(f"terminal {kind}", "ok" if serving else "failed", detail)
    finally:
        client.close()
        gate.close()


def _example(away: dict[str, str]) -> str:
    return f" ({next(iter(away.values()))[:100]})" if away else ""


def replayed(folder: Path) -> dict[str, Answer]:
    """The answers of a kept folder, parsed again without a network."""
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    clock, calendar = FrozenClock(datetime.fromisoformat(about["now"])), shipped_calendar()
    first = FirstAnswers()
    _sweep(replay_clients(RecordedResponses(folder), clock, calendar, first=first), clock, calendar, first)
    return first.answers


def _sweep(makers: Makers, clock: Clock, calendar: TradeCalendar, first: FirstAnswers) -> None:
    ctx = FetchContext(clock=clock, calendar=calendar, makers=makers, workers=1)
    view = ctx.view(FetchLog(), read=EmptyTables())
    codes: list[str] = []
    # The list of securities is read whole: its pages are calls of one kind.
    with first.every_call(), suppress(PlatformError):
        codes = [str(code) for code in view.securities()["code"]]
    code = USUAL_CODE if USUAL_CODE in codes or not codes else codes[0]
    ask_every_source(view, calendar.newest_complete(clock.now()), code)


def compared(known: dict[str, Answer], found: dict[str, Answer]) -> Iterator[Finding]:
    """A finding for each kind of call, by name. What our own guard held back after a failure has not failed
    itself."""
    for name, before in sorted(known.items()):
        now = found.get(name)
        if now is None:
            yield Finding(name, "skipped", "not asked: a call before it failed, or it is not its time of day")
        elif isinstance(now.error, Unavailable):
            yield Finding(name, "skipped", f"not asked: {now.error.message[:180]}")
        elif now.error is not None:
            yield Finding(name, "failed", now.error.message[:200])
        else:
            other = [*_lost_columns(before, now), *differences(shape_of(before.body), shape_of(now.body))]
            yield Finding(name, "warning" if other else "ok", "; ".join(other) or f"{len(now.body)} bytes")


def _lost_columns(before: Answer, now: Answer) -> list[str]:
    """Columns of the parser's frame that had values and have none."""
    known, found = shape_of_rows(before.value).fields, shape_of_rows(now.value).fields
    if known and not found:
        return ["no rows"]
    lost = sorted(known.keys() - found.keys())
    return [f"columns without a value: {', '.join(lost[:8])}"] if lost else []


def keep_answers(first: FirstAnswers, clock: Clock, folder: Path) -> None:
    """Write the answers as a recording with a test of their parsers."""
    now = clock.now()
    keep(first.log.items, folder)
    (folder / ABOUT).write_text(json.dumps({"now": now.isoformat()}), encoding="utf-8")
    good = sorted(name for name, answer in replayed(folder).items() if answer.error is None)
    text = _TEST.format(taken=f"{now:%Y-%m-%d %H:%M}", names=json.dumps(good, indent=4))
    (folder / TEST).write_text(text, encoding="utf-8")
