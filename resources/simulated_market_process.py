"""Starts the simulated market as a child process of this one."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import Unavailable
from resources.settings import Settings

HOST = "127.0.0.1"
MODULE = "simulated_market"
START_S = 300.0
"""How long a start may take: a world of profile L is generated at its first start."""
TERMINAL_SERVERS = 4
"""Servers of the simulated terminal. All are good; fault rules say what some of them do not serve."""
_LOOK_S = 0.05


def market_options(
    settings: Settings, *, http_port: int, tcp_ports: Sequence[int], ports_file: Path
) -> list[str]:
    """Command-line options of a market that follows the settings and ends with this process."""
    options = {
        "--http-port": str(http_port),
        "--world": settings.sample_world,
        "--profile": settings.sample_profile,
        "--seed": str(settings.sample_seed),
        "--state": settings.sample_state,
        "--cache-dir": str(settings.data_path / "sample"),
        "--ports-file": str(ports_file),
        "--parent-pid": str(os.getpid()),
        "--now": settings.sample_now,
        "--clock": settings.sample_clock,
        "--faults": settings.sample_faults,
        "--texts": settings.sample_texts,
        "--real-data-dir": settings.real_data_dir if settings.sample_world == "replay" else "",
    }
    given = [part for name, value in options.items() if value for part in (name, value)]
    return [*given, "--tcp-port", *map(str, tcp_ports)]


def terminal_setting(ports: Sequence[int]) -> str:
    """SIMULATOR_TDX of terminal servers at these ports."""
    return ",".join(f"{HOST}:{port}" for port in ports)


def needs_market(settings: Settings) -> bool:
    """Whether the settings ask for simulated upstreams without naming a market that runs already."""
    return settings.data_source == "mock" and not (settings.simulator_url or settings.simulator_tdx)


class ChildMarket:
    """A market of this process: its addresses are known at once, the process starts at `start`."""

    def __init__(self, settings: Settings) -> None:
        with contextlib.ExitStack() as held:
            self._http_port, *self._tcp_ports = (_free_port(held) for _ in range(1 + TERMINAL_SERVERS))
        self._settings = settings
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def settings(self) -> Settings:
        """The settings with the addresses of this market."""
        return replace(
            self._settings,
            simulator_url=f"http://{HOST}:{self._http_port}",
            simulator_tdx=terminal_setting(self._tcp_ports),
        )

    @property
    def pid(self) -> int | None:
        """Id of the process; None before the first `start` and after `stop`."""
        return None if self._child is None else self._child.pid

    def start(self) -> None:
        """Returns when the market answers; at once when it was started before. Raises Unavailable when it
        does not start."""
        with self._lock:
            if self._child is not None and self._child.poll() is None:
                return
            folder = self._settings.data_path / "sample"
            folder.mkdir(parents=True, exist_ok=True)
            ready = folder / f"ports-{os.getpid()}.json"
            ready.unlink(missing_ok=True)
            given = market_options(
                self._settings, http_port=self._http_port, tcp_ports=self._tcp_ports, ports_file=ready
            )
            self._child = _spawn(given)
            try:
                _wait(self._child, ready)
            finally:
                ready.unlink(missing_ok=True)

    def stop(self) -> None:
        """Ends the process, if there is one."""
        with self._lock:
            child, self._child = self._child, None
        if child is None:
            return
        child.terminate()
        try:
            child.wait(10.0)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _spawn(options: Sequence[str]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C at the terminal is for the parent, whose end the market notices.
    return subprocess.Popen(  # noqa: S603  our own module
        [sys.executable, "-m", MODULE, *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _wait(child: subprocess.Popen[bytes], ready: Path) -> None:
    until = time.monotonic() + START_S
    while not ready.is_file():
        if child.poll() is not None:
            raise Unavailable(f"the simulated market did not start: it ended with code {child.returncode}")
        if time.monotonic() > until:
            child.kill()
            raise Unavailable(f"the simulated market did not answer within {START_S:.0f} s")
        time.sleep(_LOOK_S)


def _free_port(held: contextlib.ExitStack) -> int:
    """A free port on loopback, another one than those that `held` keeps."""
    probe = held.enter_context(socket.socket())
    probe.bind((HOST, 0))
    return int(probe.getsockname()[1])
