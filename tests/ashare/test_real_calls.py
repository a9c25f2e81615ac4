"""`doctor --real`, with a second simulated market in the place of the real sites."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ashare.answer_shapes import differences, shape_of
from ashare.diagnosis import Finding
from ashare.real_calls import answers_of, compared, keep_answers, replayed, terminal_servers
from core.clock import FrozenClock
from resources.settings import Settings
from resources.upstreams.first_answers import Answer, FirstAnswers
from simulated_market.service import SimulatedMarket
from simulated_market.world.loader import load_world

CLOCK = FrozenClock(datetime(2026, 8, 21, 22, 30))


@pytest.fixture(scope="module")
def market() -> Iterator[SimulatedMarket]:
    with SimulatedMarket(load_world("synthetic", "S"), CLOCK) as one:
        yield one


@pytest.fixture(scope="module")
def settings(market: SimulatedMarket, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    host, port = market.tcp_address or ("", 0)
    return Settings(
        data_source="mock",
        sample_state="calm",
        data_dir=str(tmp_path_factory.mktemp("data")),
        simulator_url=market.http_url,
        simulator_tdx=f"{host}:{port}",
    )


@pytest.fixture(scope="module")
def known(settings: Settings) -> FirstAnswers:
    return answers_of(settings, CLOCK)


def found(known: FirstAnswers, other: dict[str, Answer]) -> dict[str, Finding]:
    return {one.check: one for one in compared(known.answers, other)}


def test_every_kind_of_call_is_made_and_hardly_any_twice(
    market: SimulatedMarket, settings: Settings, known: FirstAnswers
) -> None:
    before = sum(sum(calls.values()) for calls in market.calls().values())
    answers_of(settings, CLOCK)
    made = sum(sum(calls.values()) for calls in market.calls().values()) - before

    assert len(known.answers) > 120
    assert [name for name, one in known.answers.items() if one.error is not None] == []
    assert made < len(known.answers) + 20


def test_the_same_market_shows_no_difference(settings: Settings, known: FirstAnswers) -> None:
    again = found(known, answers_of(settings, CLOCK).answers)

    assert {one.status for one in again.values()} == {"ok"}


def test_a_site_that_changed_is_named(
    market: SimulatedMarket, settings: Settings, known: FirstAnswers
) -> None:
    rules: list[dict[str, Any]] = [
        {"upstream": "tencent", "call": "quote", "kind": "html"},
        {"upstream": "sina", "call": "*", "kind": "status", "args": {"code": 403}},
    ]
    market.faults.replace(rules)
    try:
        changed = found(known, answers_of(settings, CLOCK).answers)
    finally:
        market.faults.replace([])

    bad = {name for name, one in changed.items() if one.status == "failed"}
    assert "tencent quote" in bad
    sina = {name: one for name, one in changed.items() if name.startswith("sina ")}
    assert {one.status for one in sina.values()} == {"failed", "skipped"}
    assert all("HTTP 403" in one.detail for one in sina.values() if one.status == "failed")
    assert any("cools down" in one.detail for one in sina.values())
    assert not any(name.startswith(("eastmoney ", "cninfo ", "tdx ")) for name in bad)


def test_the_terminal_servers_are_ranked_by_kind(settings: Settings, tmp_path: Path) -> None:
    with SimulatedMarket(load_world("synthetic", "S"), CLOCK, more_tcp_ports=(0, 0)) as three:
        three.faults.replace([{"upstream": "tdx", "call": "*bars*", "kind": "dead", "servers": [1, 2]}])
        hosts = [f"{host}:{port}" for host, port in three.tcp_addresses]
        asked = replace(settings, data_dir=str(tmp_path), simulator_tdx=",".join(hosts))
        findings = {one.check: one for one in terminal_servers(asked, CLOCK)}
        three.faults.replace([{"upstream": "tdx", "call": "quotes", "kind": "dead"}])
        later = {one.check: one for one in terminal_servers(asked, CLOCK)}

    assert {name: one.status for name, one in findings.items()} == {
        f"terminal {kind}": "ok" for kind in ("lists", "bars", "quotes", "transactions", "files")
    }
    bars = findings["terminal bars"].detail
    assert bars.startswith(f"1. {hosts[2]} ")
    assert bars.endswith("2 do not serve them, 0 cannot be asked")
    assert all(host in findings["terminal lists"].detail for host in hosts)
    assert later["terminal quotes"].status == "failed"


@pytest.mark.soak
def test_the_answers_are_kept_with_a_test_that_reads_them(known: FirstAnswers, tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    keep_answers(known, CLOCK, folder)

    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout

    bodies = list((folder / "bodies").iterdir())
    for body in bodies[: len(bodies) // 2]:
        body.unlink()
    assert [name for name, one in replayed(folder).items() if one.error is not None]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (b'{"data":{"a":1,"b":"x"}}', b'{"data":{"a":1}}', "gone: data.b"),
        (b'{"data":{"a":1}}', b'{"data":{"a":1,"c":2}}', "new: data.c"),
        (b'cb({"rows":[{"a":1}]});', b'cb({"rows":[{"a":"1"}]});', "other type: rows[].a"),
        (b'{"amount":12000000}', b'{"amount":1200}', "other scale: amount"),
        (b'v_sh600519="1~a~2.5";', b'v_sh600519="1~a~2.5~9";', "new: field 3"),
        (b'{"a":1}', b"<html><body><div>busy</div></body></html>", "json expected"),
    ],
)
def test_what_changed_in_a_form_is_said(before: bytes, after: bytes, words: str) -> None:
    assert words in "; ".join(differences(shape_of(before), shape_of(after)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"rows":[{"a":1}]}', b'{"rows":[]}'),
        (b'{"600519":{"a":1}}', b'{"000001":{"a":2}}'),
        (b'{"a":null,"b":1}', b'{"b":2}'),
        (b'{"a":1}', b""),
        ('{"名称":"贵州"}'.encode("gb18030"), '{"名称":"平安"}'.encode()),
    ],
)
def test_other_values_are_no_change(before: bytes, after: bytes) -> None:
    assert differences(shape_of(before), shape_of(after)) == []
