"""What `ashare doctor` does."""

from dataclasses import asdict, replace

import click

from ashare.diagnosis import CHECKS, Finding
from ashare.output import Output, table
from ashare.real_calls import answers_of, compared, expected, keep_answers, real_now, terminal_servers
from ashare.session import command_settings, with_state
from core.clock import FrozenClock, SystemClock
from core.errors import PlatformError
from resources.settings import Settings
from resources.simulated_market_process import needs_market
from serving_api.admin.probes import probed

MARKS = {"ok": "ok", "warning": "WARN", "failed": "FAIL", "skipped": "-"}


def run(out: Output, offline: bool, real: bool) -> int:
    """Show what the checks found; 1 when one failed."""
    if offline and real:
        raise click.UsageError("--real asks upstreams, --offline asks none")
    settings = command_settings()
    found = [finding for check in CHECKS for finding in check(settings)]
    found += _real_calls(out, settings) if real else _upstreams(settings, offline)
    bad = sum(one.status == "failed" for one in found)
    rows = [{"mark": MARKS[one.status], **asdict(one)} for one in found]
    summary = f"{bad} of {len(found)} checks failed" if bad else f"{len(found)} checks, none failed"
    out.result(
        {"ok": not bad, "checks": [asdict(one) for one in found]},
        [*table(rows, ("mark", "check", "detail")), "", summary],
    )
    return 1 if bad else 0


def _real_calls(out: Output, settings: Settings) -> list[Finding]:
    known = expected(settings)
    out.note(f"asking the real upstreams, {len(known)} kinds of calls ...")
    folder = settings.data_path / "answers" / f"{SystemClock().now():%Y-%m-%d-%H%M%S}"
    # The parsers see one time, so that a replay asks the same.
    frozen = FrozenClock(real_now(settings))
    first = answers_of(replace(settings, data_source="real"), frozen)
    keep_answers(first, frozen, folder)
    ranking = terminal_servers(replace(settings, data_source="real"), frozen)
    return [*compared(known, first.answers), *ranking, Finding("answers", "ok", f"kept in {folder}")]


def _upstreams(settings: Settings, offline: bool) -> list[Finding]:
    if offline:
        return [Finding("upstreams", "skipped", "--offline")]
    if needs_market(settings):
        return [Finding("upstreams", "skipped", "the sample market runs with the platform: `ashare run`")]
    try:
        _code, results = with_state(lambda state: probed(state, None))
    except PlatformError as error:
        return [Finding("upstreams", "failed", error.message)]
    return [
        Finding(f"upstream {one['name']}", "ok", f"{one['sample_count']} rows in {one['latency_ms']} ms")
        if one["ok"]
        else Finding(f"upstream {one['name']}", "failed", str(one["error"]))
        for one in results
    ]
