"""Which processes a role has, how each is started, and how it shows that it is ready."""

import http.client
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from platform_assets.definitions.queues import QUEUES
from resources.orchestrator import LOCATION, Orchestrator
from resources.settings import Settings
from resources.simulated_market_process import MODULE, START_S, market_options, terminal_setting
from schedules.supervisor.child_processes import ChildSpec
from schedules.supervisor.liveness import code_server_answers, daemon_sign, heartbeat_sign, server_sign

HOST = "127.0.0.1"
DEFINITIONS = "schedules.code_location"
SIGN_S = 10.0
"""How long a server may take to answer on a busy machine before that counts as no sign of life."""

SIMULATOR, CODE, DAEMON = "simulated_market", "code_server", "dagster_daemon"
UI, WORKER, STEPS, API = "dagster_ui", "worker", "step_worker", "api"


@dataclass(frozen=True)
class Ports:
    """Where the processes listen; 0 = that process does not run here."""

    api: int = 0
    dagster: int = 0
    code_server: int = 0
    simulator_http: int = 0
    simulator_tcp: tuple[int, ...] = ()
    """A port of each simulated terminal server."""
    api_checks: tuple[int, ...] = ()
    """A port of each API process alone, where there are several."""


def accepts(port: int, host: str = HOST) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def answers(port: int, path: str, host: str = HOST, *, timeout_s: float = 3.0) -> bool:
    """Whether `GET path` answers 200."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def reachable(host: str) -> str:
    """The address at which a server that is bound to `host` answers from this machine."""
    return {"0.0.0.0": HOST, "::": "::1", "": HOST}.get(host, host)  # noqa: S104  an address to map


def python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, *arguments)


def traced(*module: str) -> tuple[str, ...]:
    """A module of ours or of Dagster's that writes its stacks when it is asked to."""
    return python("-m", "schedules.supervisor.stack_dumps", *module)


_child = partial(ChildSpec, traced=True)


def child_environment(settings: Settings, ports: Ports) -> dict[str, str]:
    """What every child gets beside the environment of the shell."""
    data = settings.data_path
    env = {
        "DATA_DIR": str(data),
        "DATA_SOURCE": settings.data_source,
        "APP_ROLE": settings.role,
        "DAGSTER_HOME": str(data / "dagster"),
        "NUMBA_CACHE_DIR": str(data / "numba"),
        "APP_PARENT_PID": str(os.getpid()),
        "PYTHONUNBUFFERED": "1",
        # Dagster stores times without a zone and reads them as UTC, whatever zone a PostgreSQL server has.
        "PGTZ": "UTC",
        # Dagster stores the events of one moment (what a run plans, the dates of a range) together.
        "DAGSTER_EVENT_BATCH_SIZE": "500",
        # A backfill whose assets are not there because the code server starts waits for it.
        "DAGSTER_BACKFILL_RETRY_DEFINITION_CHANGED_ERROR": "1",
    }
    if ports.simulator_http:
        env["SIMULATOR_URL"] = f"http://{HOST}:{ports.simulator_http}"
        env["SIMULATOR_TDX"] = terminal_setting(ports.simulator_tcp)
    return env


def simulator(settings: Settings, ports: Ports) -> ChildSpec:
    # The API's own supervisor has a simulated market of its own: each side can go without the other.
    ready = settings.data_path / ("simulator-web.json" if settings.role == "web" else "simulator.json")
    ready.unlink(missing_ok=True)
    given = market_options(
        settings, http_port=ports.simulator_http, tcp_ports=ports.simulator_tcp, ports_file=ready
    )
    return _child(
        SIMULATOR,
        traced(MODULE, *given),
        ready=ready.is_file,
        patience_s=START_S,
        sign=server_sign(lambda: answers(ports.simulator_http, "/_control/health", timeout_s=SIGN_S)),
    )


def code_server(ports: Ports) -> ChildSpec:
    # `code-server start` and not `api grpc`: the latter answers a reload and changes nothing.
    return _child(
        CODE,
        traced(
            "schedules.runs.code_server", "-m", DEFINITIONS, "-h", HOST, "-p", str(ports.code_server),
            "--location-name", LOCATION,
        ),
        ready=lambda: accepts(ports.code_server),
        sign=server_sign(lambda: code_server_answers(ports.code_server)),
        silence_s=120.0,  # loading the definitions again keeps it busy
    )  # fmt: skip


def timed(settings: Settings, module: str, *arguments: str) -> tuple[str, ...]:
    """A process of Dagster that decides about ticks, by the clock of SAMPLE_CLOCK where there is one; it
    holds the definitions, so it returns the memory of those that a reload replaced."""
    simulated = ("schedules.supervisor.simulated_time",) if settings.sample_clock else ()
    return traced(*simulated, "schedules.supervisor.free_memory", module, *arguments)


def daemon(settings: Settings, workspace: Path, ports: Ports) -> ChildSpec:
    return _child(
        DAEMON,
        timed(settings, "dagster._daemon", "run", "-w", str(workspace)),
        sign=daemon_sign(Orchestrator.of(settings, ports.dagster, timeout_s=SIGN_S)),
    )


def ui(settings: Settings, workspace: Path, ports: Ports) -> ChildSpec:
    bind = settings.dagster_bind
    return _child(
        UI,
        timed(
            settings, "schedules.supervisor.dagster_ui", "-h", bind, "-p", str(ports.dagster), "-w",
            str(workspace),
        ),
        ready=lambda: answers(ports.dagster, "/server_info", reachable(bind)),
        patience_s=180.0,
        sign=server_sign(lambda: answers(ports.dagster, "/server_info", reachable(bind), timeout_s=SIGN_S)),
    )  # fmt: skip


def worker(settings: Settings, ports: Ports) -> ChildSpec:
    return _child(
        WORKER,
        traced("schedules.commands.worker"),
        env={"DAGSTER_PORT": str(ports.dagster)},
        sign=heartbeat_sign(settings.warehouse_address, WORKER),
    )


def step_worker(settings: Settings, number: int = 1) -> ChildSpec:
    return _child(
        f"{STEPS}_{number}",
        traced(
            "celery", "-A", "schedules.steps.app", "worker", "-Q", ",".join(QUEUES), "-c", "1",
            "-n", f"step_{number}@%h",
        ),
        sign=heartbeat_sign(settings.warehouse_address, STEPS),
    )  # fmt: skip


def api(settings: Settings, ports: Ports, env: Mapping[str, str], number: int = 1) -> ChildSpec:
    """The API, or the `number`th of its processes."""
    given = {"API_PORT": str(ports.api), "DAGSTER_PORT": str(ports.dagster or settings.dagster_port), **env}
    host, port = reachable(settings.api_host), ports.api
    if ports.api_checks:
        host, port = HOST, ports.api_checks[number - 1]
        given["API_CHECK_PORT"] = str(port)
    return _child(
        API if number == 1 else f"{API}_{number}",
        traced("serving_api"),
        env=given,
        ready=lambda: answers(port, "/health", host),
        # A page that asks no database: one that is locked is no reason to end the API.
        sign=server_sign(lambda: answers(port, "/docs", host, timeout_s=SIGN_S)),
    )


def step_workers(settings: Settings) -> list[ChildSpec]:
    """The step workers that this supervisor keeps; none without a broker."""
    count = settings.step_workers if settings.broker_url else 0
    return [step_worker(settings, number) for number in range(1, count + 1)]


def apis(settings: Settings, ports: Ports, env: Mapping[str, str]) -> list[ChildSpec]:
    """The API processes that share the port."""
    return [api(settings, ports, env, number) for number in range(1, settings.api_processes + 1)]
