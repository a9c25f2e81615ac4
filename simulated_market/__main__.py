"""`python -m simulated_market`: the simulated market as a process of its own.

Prints one line, `simulated market http=<host:port> tcp=<host:port> world=<label>`, when both ports
answer; ends on SIGTERM and SIGINT, and with `--parent-pid` when that process is gone.
"""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from core.clock import Clock, FrozenClock, SystemClock
from core.errors import InputError, PlatformError
from core.processes import alive
from core.simulated_clock import SimulatedClock
from simulated_market.faults import FaultPlan
from simulated_market.service import SimulatedMarket
from simulated_market.world.built import AUTUMN_2026, STATES
from simulated_market.world.loader import load_world

_WATCH_SEC = 0.5
_YEARS_AHEAD = 1
"""Years after the one of the start that the world reaches to the end of."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s %(message)s")
    try:
        clock = _clock(options)
        until = clock.now().year + _YEARS_AHEAD
        market = _market(options, clock, until)
    except PlatformError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    try:
        _announce(market, options.ports_file)
        while not ending.wait(_WATCH_SEC):
            if options.parent_pid is not None and not _alive(options.parent_pid):
                break
            if market.clock.now().year > until:
                break  # who started it starts it again, and its world is longer
    finally:
        market.stop()
    return 0


def _clock(options: argparse.Namespace) -> Clock:
    if options.clock is not None:
        return SimulatedClock(options.clock)
    return SystemClock() if options.now is None else FrozenClock(options.now)


def _market(options: argparse.Namespace, clock: Clock, until: int) -> SimulatedMarket:
    """Start the market that the options describe. PlatformError names a wrong option."""
    faults = _faults(options.faults)
    world: Any = load_world(
        options.world,
        options.profile,
        **({} if options.seed is None else {"seed": options.seed}),
        real_data_dir=options.real_data_dir,
        cache_dir=options.cache_dir,
        texts=_texts(options.texts),
        state=options.state,
        until=until,
    )
    try:
        market = SimulatedMarket(
            world,
            clock,
            faults,
            host=options.host,
            http_port=options.http_port,
            tcp_port=options.tcp_port[0],
            more_tcp_ports=options.tcp_port[1:] or None,
        )
        market.start()
    except (OSError, OverflowError) as error:
        ports = f"{options.http_port} and {', '.join(map(str, options.tcp_port))} on {options.host}"
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError("--http-port, --tcp-port", f"{ports} cannot be used ({reason})") from None
    return market


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m simulated_market", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--http-port", type=int, default=8900, help="0 = a free port")
    parser.add_argument(
        "--tcp-port",
        type=int,
        nargs="+",
        default=[7709],
        help="0 = a free port; several = as many terminal servers, one = as many as the state has from it on",
    )
    parser.add_argument("--world", choices=("synthetic", "replay"), default="synthetic")
    parser.add_argument("--state", choices=STATES, default=AUTUMN_2026, help="what the upstreams are like")
    parser.add_argument("--profile", choices=("S", "M", "L"), default="S")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--now", type=datetime.fromisoformat, default=None, help="freeze the market clock")
    parser.add_argument("--clock", type=Path, default=None, help="file of a clock that others move")
    parser.add_argument("--faults", type=Path, default=None, help="JSON file with fault rules")
    parser.add_argument("--texts", type=Path, default=None, help="JSON list of texts for names and titles")
    parser.add_argument("--real-data-dir", type=Path, default=None, help="files of the replay world")
    parser.add_argument("--cache-dir", type=Path, default=None, help="where the synthetic world is stored")
    parser.add_argument("--ports-file", type=Path, default=None, help="JSON file that gets the ports")
    parser.add_argument("--parent-pid", type=int, default=None, help="end when this process is gone")
    return parser


def _faults(path: Path | None) -> FaultPlan:
    plan = FaultPlan()
    if path is not None:
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            plan.replace(document["rules"] if isinstance(document, dict) else document)
        except OSError as error:
            raise InputError("--faults", f"{path} cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError("--faults", f"{path} is no list of rules ({error})") from None
    return plan


def _texts(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        texts = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError("--texts", f"{path} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise InputError("--texts", f"{path} is no JSON ({error})") from None
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise InputError("--texts", f"{path} is no list of texts")
    return texts


def _announce(market: SimulatedMarket, path: Path | None) -> None:
    host, port = market.http_address
    tcp = market.tcp_address or (host, 0)
    if path is not None:
        # Renamed into place, so that a reader never sees half a file.
        part = path.with_suffix(path.suffix + ".part")
        ports = {"pid": os.getpid(), "host": host, "http_port": port, "tcp_port": tcp[1]}
        ports["tcp_ports"] = [port for _, port in market.tcp_addresses]
        part.write_text(json.dumps(ports), encoding="utf-8")
        part.replace(path)
    label = market.world.label
    sys.stdout.write(f"simulated market http={host}:{port} tcp={tcp[0]}:{tcp[1]} world={label}\n")
    sys.stdout.flush()


def _alive(pid: int) -> bool:
    """Whether `pid` still runs. Our own parent may be a zombie that was never waited for: then this process
    has another parent, which its id shows."""
    if pid == _STARTED_BY:
        return os.getppid() == pid
    return alive(pid)


_STARTED_BY = os.getppid()

if __name__ == "__main__":
    sys.exit(main())
