"""The parts of the API in the process of a command: settings, warehouse and clock, without a server.

A command calls the functions that the routes of the API call, so both give the same answers and errors.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import anyio

from core.errors import Unavailable
from core.processes import alive
from resources.settings import Settings
from resources.simulated_market_process import needs_market, terminal_setting
from resources.warehouse.ledger.heartbeats import Heartbeats
from schedules.supervisor.app import read_settings
from schedules.supervisor.folders import read_run_facts, run_file
from serving_api.app import build_state
from serving_api.framework.state import State

T = TypeVar("T")
BY = "ashare"
"""`requested_by` of what the command line asks the platform for."""


def command_settings() -> Settings:
    """The settings of `make run`, with the ports of the platform that runs on this data folder: those of its
    simulated market, too."""
    settings = read_settings()
    ports = running_platform(settings).get("ports", {})
    found: dict[str, Any] = {
        name: ports[key] for name, key in (("api_port", "api"), ("dagster_port", "dagster")) if ports.get(key)
    }
    http, tcp = ports.get("simulator_http"), ports.get("simulator_tcp")
    if isinstance(tcp, int):  # a platform of an older version runs
        tcp = [tcp]
    if needs_market(settings) and http and tcp:
        found |= {"simulator_url": f"http://127.0.0.1:{http}", "simulator_tdx": terminal_setting(tcp)}
    return replace(settings, **found)


def running_platform(settings: Settings) -> dict[str, Any]:
    """Ports and processes as the supervisor of the data folder writes them; nothing when it does not run."""
    facts = read_run_facts(run_file(settings.data_path, settings.role))
    return facts if facts.get("pid") and alive(int(facts["pid"])) else {}


def with_state(work: Callable[[State], Awaitable[T]], settings: Settings | None = None) -> T:
    """The result of `work` with the parts of the API, which are closed afterwards."""

    async def run() -> T:
        state = build_state(settings or command_settings(), {})
        try:
            return await work(state)
        finally:
            state.close_parts()
            state.reading.close()

    return anyio.run(run)


def need_worker(state: State) -> None:
    """Unavailable when no worker of this warehouse is alive: nobody would carry out a command."""
    if not any(node.fresh() for node in Heartbeats(state.writer.engine).workers()):
        raise Unavailable("no worker runs on this warehouse; start the platform with `ashare run`")
