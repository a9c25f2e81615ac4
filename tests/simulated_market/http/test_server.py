"""Routing, keep-alive, control endpoints, and the market as a process."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing

import httpx
import pytest

from core.clock import FrozenClock
from resources.upstreams.hosts import SITES, mock_sites
from resources.upstreams.tdx.bars import PERIODS, bars_call
from resources.upstreams.tdx.connection import Connection
from resources.upstreams.tdx.instruments import instrument
from simulated_market.hosts import upstream_of_host
from simulated_market.registry import responders
from simulated_market.service import SimulatedMarket
from tests.simulated_market.http.tiny_world import NOW, TinyWorld


@pytest.fixture
def client(market):
    market.faults.clear()
    market.reset_calls()
    with httpx.Client(base_url=market.http_url, trust_env=False) as client:
        yield client
    market.faults.clear()


def test_the_host_header_routes_as_well_as_the_path(client):
    by_path = client.get("/tencent/q=sh600519")
    by_host = client.get("/q=sh600519", headers={"Host": "qt.gtimg.cn"})
    by_shard = client.get("/api/qt/ulist.np/get?secids=1.600519", headers={"Host": "17.push2.eastmoney.com"})

    assert by_path.content == by_host.content
    assert by_shard.json()["rc"] == 0


def test_every_host_of_the_table_is_known_by_its_name():
    for site in SITES.values():
        for base in site.real:
            assert upstream_of_host(base.partition("://")[2]) == site.upstream
    assert upstream_of_host("127.0.0.1:8900") is None
    assert upstream_of_host("eastmoney.com.example.org") is None


def test_shanghai_refuses_a_stranger(client):
    path = "/sse/marketdata/tradedata/queryMargin.do?tabType=mxtype&detailsDate=20260820"

    assert client.get(path).status_code == 403
    answer = client.get(path, headers={"Referer": "https://www.sse.com.cn/"})
    assert answer.json()["pageHelp"]["total"] == len(answer.json()["result"])


def test_mock_sites_lead_to_one_port():
    sites = mock_sites("http://127.0.0.1:8900/")

    assert {base for site in sites.values() for base, _ in site.targets()} == {
        f"http://127.0.0.1:8900/{site.upstream}" for site in SITES.values()
    }


@pytest.mark.parametrize(
    "path", ["/", "/nowhere/q=sh600519", "/tencent/unknown", "/eastmoney", "/_control/x"]
)
def test_what_is_not_there_is_404(client, path):
    assert client.get(path).status_code == 404


def test_one_connection_serves_many_requests(market):
    host, port = market.http_address
    with socket.create_connection((host, port), timeout=5) as connection:
        stream = connection.makefile("rb")
        for _ in range(3):
            connection.sendall(b"GET /tencent/q=sh600519 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert stream.readline().startswith(b"HTTP/1.1 200")
            length = 0
            while (line := stream.readline().strip()) != b"":
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
            assert len(stream.read(length)) == length > 0


def test_control_health_and_calls(client):
    client.get("/tencent/q=sh600519")
    client.get("/tencent/q=sz000001")

    health = client.get("/_control/health").json()
    calls = client.get("/_control/calls").json()

    assert health["status"] == "ok"
    assert (health["world"], health["now"]) == ("sample", "2026-08-21 16:30:00.000000")
    assert health["upstreams"] == sorted(responder.upstream for responder in responders())
    assert calls == {"tencent": {"quote": 2}}
    assert client.delete("/_control/calls").json() == {}


def test_control_faults(client):
    rule = {
        "upstream": "tencent",
        "call": "quote",
        "kind": "status",
        "args": {"code": 503},
        "first": 2,
        "count": 1,
    }

    posted = client.post("/_control/faults", json=[rule])
    statuses = [client.get("/tencent/q=sh600519").status_code for _ in range(3)]

    assert posted.json()["rules"][0]["kind"] == "status"
    assert statuses == [200, 503, 200]
    assert client.get("/_control/faults").json()["rules"][0]["seen"] == 3
    assert client.delete("/_control/faults").json() == {"rules": []}


@pytest.mark.parametrize(
    "body", [b"{", b'{"rules": 1}', b'[{"kind": "nonsense"}]', b"[1]", b'[{"upstream": "x"}]']
)
def test_wrong_rules_are_refused_and_change_nothing(client, body):
    client.post("/_control/faults", json=[{"kind": "html"}])

    assert client.post("/_control/faults", content=body).status_code == 422
    assert [rule["kind"] for rule in client.get("/_control/faults").json()["rules"]] == ["html"]


def test_concurrent_requests(market):
    market.faults.clear()
    market.reset_calls()
    failures = []

    def ask(symbol: str) -> None:
        with httpx.Client(base_url=market.http_url, trust_env=False) as client:
            for _ in range(5):
                text = client.get(f"/tencent/q={symbol}").content.decode("gbk")
                if not text.startswith(f"v_{symbol}="):
                    failures.append(text)

    threads = [
        threading.Thread(target=ask, args=(s,)) for s in ("sh600519", "sz000001", "sh688981", "bj920047")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert failures == []
    assert market.calls() == {"tencent": {"quote": 20}}


def test_a_stopped_market_leaves_no_thread_and_no_port():
    before = set(threading.enumerate())
    market = SimulatedMarket(TinyWorld(), FrozenClock(NOW))
    with market, httpx.Client(base_url=market.http_url, trust_env=False) as client:
        client.get("/tencent/q=sh600519")
        address = market.http_address
        assert market.tcp_address is not None
    deadline = time.monotonic() + 3
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.01)

    assert set(threading.enumerate()) - before == set()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(address, timeout=1)


def test_a_rule_may_concern_some_terminal_servers_alone():
    with SimulatedMarket(TinyWorld(), FrozenClock(NOW), more_tcp_ports=(0, 0)) as market:
        market.faults.replace([{"upstream": "tdx", "call": "bars*", "kind": "dead", "servers": [1, 3]}])
        call = bars_call(instrument("sh600519"), PERIODS["day"], 0, 2)
        bodies = []
        for address in market.tcp_addresses:
            with closing(Connection(address, timeout=5, connect_timeout=5)) as connection:
                bodies.append(connection.exchange(call))

    assert [len(body) > 2 for body in bodies] == [False, True, False]
    assert market.terminal_calls()["bars_day"] == 3


def start(*extra: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "simulated_market", "--http-port", "0", "--tcp-port", "0", *extra],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_the_process_says_its_ports_and_ends_on_sigterm(tmp_path):
    rules = tmp_path / "faults.json"
    rules.write_text(json.dumps([{"upstream": "eastmoney", "kind": "status", "args": {"code": 403}}]))
    ports = tmp_path / "ports.json"
    process = start("--now", "2026-08-21T15:30", "--ports-file", str(ports), "--faults", str(rules))
    try:
        line = process.stdout.readline()
        written = json.loads(ports.read_text())
        assert f"http=127.0.0.1:{written['http_port']} tcp=127.0.0.1:{written['tcp_port']}" in line
        assert written["pid"] == process.pid
        url = f"http://127.0.0.1:{written['http_port']}"
        assert httpx.get(f"{url}/_control/health", trust_env=False).json()["frozen"] is True
        assert httpx.get(f"{url}/eastmoney/api/qt/clist/get", trust_env=False).status_code == 403
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()


def test_the_process_has_as_many_terminal_servers_as_ports(tmp_path):
    ports = tmp_path / "ports.json"
    process = start("0", "--ports-file", str(ports))
    try:
        process.stdout.readline()
        found = json.loads(ports.read_text())["tcp_ports"]
        assert len(set(found)) == 2
        for port in found:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
    finally:
        process.kill()
        process.communicate()


def test_the_process_dies_with_its_parent():
    parent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = start("--parent-pid", str(parent.pid))
    try:
        assert process.stdout.readline().startswith("simulated market http=")
        assert process.poll() is None
        parent.communicate(b"\n")
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()
        parent.kill()


def test_a_port_that_is_taken_is_an_error_at_once(market):
    with pytest.raises(OSError, match="in use"):
        SimulatedMarket(TinyWorld(), FrozenClock(NOW), http_port=market.http_address[1], tcp_port=None)


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        (("--faults", "/none.json"), "--faults: /none.json cannot be read"),
        (("--world", "replay", "--real-data-dir", "/none"), "the replay set in /none has no file"),
        (("--http-port", "1"), ""),
    ],
)
def test_options_that_cannot_be_served_are_one_line(tmp_path, extra, problem):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        if not problem:
            port = taken.getsockname()[1]
            extra, problem = ("--http-port", str(port)), f"--http-port, --tcp-port: {port} and 0 on"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "simulated_market",
                "--http-port",
                "0",
                "--tcp-port",
                "0",
                *extra,
            ],
            env={**os.environ, "DATA_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
