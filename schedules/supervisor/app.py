"""One start of an installation: checks, folders, processes in their order, the first load, the end."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core.clock import SystemClock
from core.errors import DiskFull, PlatformError
from core.loopback import add_no_proxy
from resources import logs
from resources.backup.journal import refuse_half_restored
from resources.logs import masker, said
from resources.orchestrator import LOCATION, Orchestrator
from resources.run_lock import RunLock, StartRefused
from resources.settings import ROLES, Settings, load_settings, refuse_reserved
from resources.simulated_market_process import TERMINAL_SERVERS, needs_market
from resources.warehouse.engine import make_engine
from resources.warehouse.ledger.commands import CommandQueue
from resources.warehouse.ledger.scheduled_runs import ScheduledRunLedger
from resources.warehouse.ledger.watch_list import Watched, WatchList
from resources.warehouse.write_probe import WriteProbe
from schedules.supervisor import checks, folders, process_plan, watching
from schedules.supervisor.child_processes import POLL_S, ChildProcesses, Interrupted, Say
from schedules.supervisor.process_plan import Ports
from schedules.supervisor.progress import follow, loaded_before, request_calendar, request_load
from schedules.supervisor.watching import WatchRequest

MIGRATE_S = 180.0
DISK_S = 30.0
log = logging.getLogger(__name__)


def say(line: str) -> None:
    """A line for the person at the terminal, and for the supervisor's own log."""
    with contextlib.suppress(OSError):  # a terminal that is gone, a redirected disk that is full
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    log.info("%s", line)


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this start: sample data and all roles where nobody said otherwise."""
    env = os.environ if environ is None else environ
    settings = load_settings(env, dotenv=Path(env.get("ENV_FILE", ".env")))
    if "data_source" not in settings.explicit:
        settings = replace(settings, data_source="mock")
    return settings


def check(settings: Settings) -> None:
    """Everything that can be known before something starts; StartRefused names what to change."""
    refuse_reserved(settings)
    checks.check_python()
    checks.check_now(settings.frozen_now)
    checks.check_files(settings)
    checks.check_traces(os.environ)
    checks.check_folder(settings.data_path)
    refuse_half_restored(settings.data_path)
    checks.check_disk(settings.data_path)
    if settings.role != "web":
        checks.check_postgres(settings.dagster_postgres_url)
        checks.check_broker(settings)


def check_ports(settings: Settings) -> None:
    if settings.role != "worker":
        checks.check_port("API_PORT", settings.api_host, settings.api_port, address="API_HOST")
    if settings.role != "web":
        checks.check_port(
            "DAGSTER_PORT", settings.dagster_bind, settings.dagster_port, address="DAGSTER_BIND"
        )


def choose_ports(settings: Settings, last: Mapping[str, Any]) -> Ports:
    """The ports of this start; inner ones stay what they were as long as they are free."""
    before = last.get("ports", {})
    simulated = needs_market(settings)
    scheduling = settings.role != "web"

    def pick(name: str, requested: bool) -> int:
        return checks.free_port(int(before.get(name, 0))) if requested else 0

    return Ports(
        api=0 if settings.role == "worker" else settings.api_port or checks.free_port(),
        dagster=(settings.dagster_port or checks.free_port()) if scheduling else 0,
        code_server=pick("code_server", scheduling),
        simulator_http=pick("simulator_http", simulated),
        simulator_tcp=_terminal_ports(before.get("simulator_tcp")) if simulated else (),
        api_checks=api_checks(settings),
    )


def _terminal_ports(before: object) -> tuple[int, ...]:
    """A free port for each simulated terminal server; those of the last start where they are free."""
    last = before if isinstance(before, list) else []
    found: list[int] = []
    for number in range(TERMINAL_SERVERS):
        port = checks.free_port(int(last[number]) if number < len(last) else 0)
        while port in found:
            port = checks.free_port()
        found.append(port)
    return tuple(found)


def api_checks(settings: Settings) -> tuple[int, ...]:
    """A free port for each of several API processes."""
    if settings.role == "worker" or settings.api_processes == 1:
        return ()
    found: set[int] = set()
    while len(found) < settings.api_processes:
        found.add(checks.free_port())
    return tuple(found)


class Start:
    """The processes of one start."""

    def __init__(self, settings: Settings, *, watch: WatchRequest | None = None, out: Say = say) -> None:
        """`watch`: securities to load, and no others; what is on the watch list is loaded in any case."""
        self.settings = settings
        self._watch = watch
        self._watched: list[Watched] = []
        self.data = settings.data_path
        self._say = out
        self._since = SystemClock().now()
        self._facts = folders.run_file(self.data, settings.role)
        self.ports = choose_ports(settings, folders.read_run_facts(self._facts))
        self._env = {**os.environ, **process_plan.child_environment(settings, self.ports)}
        self._secret: dict[str, str] = {}
        self._mask = masker(settings.secrets)
        self._probe = WriteProbe(settings.warehouse_address, "supervisor")
        self._short = ""
        self.child_processes = ChildProcesses(
            self.data / "logs",
            self._env,
            out,
            changed=self._write_facts,
            mask=self._mask,
            most_start_s=settings.start_limit_s,
        )

    def prepare(self) -> None:
        """Folders, secrets, Dagster's files."""
        if self.settings.app_role != self.settings.role:
            self._say(f"APP_ROLE: {self.settings.app_role!r} is none of {', '.join(ROLES)}; it means all")
        folders.make_folders(self.data)
        if self.settings.role != "worker" and not self.settings.admin_seed_password:
            password, path = folders.admin_password(self.data)
            self._secret = {"ADMIN_SEED_PASSWORD": password}
            self._say(f"administrator {self.settings.admin_seed_username}, password in {path}")
        if self.settings.role != "web":
            folders.write_dagster_home(self.data, postgres=bool(self.settings.dagster_postgres_url))

    def bring_up(self) -> None:
        """Every process of the role; the API last, and at a first start not before the data is in."""
        settings, child_processes = self.settings, self.child_processes
        if self.ports.simulator_http:
            self._say(f"simulated market (profile {settings.sample_profile}, {settings.sample_world})")
            child_processes.start(process_plan.simulator(settings, self.ports), wait=False)
        self._migrate()
        child_processes.listen(self.look_for_room, every_s=DISK_S)
        if self.ports.simulator_http:
            child_processes.wait_ready(process_plan.SIMULATOR)
        if settings.role != "web":
            self._schedule_side()
        if settings.role != "worker":
            self._say("starting the API")
            for spec in process_plan.apis(settings, self.ports, self._secret):
                child_processes.start(spec)
        if settings.role != "web":
            child_processes.wait_ready(process_plan.UI)
            self._check_location()
        self._welcome()

    def _schedule_side(self) -> None:
        self._say("starting code server, Dagster UI, scheduler and worker")
        workspace = folders.write_workspace(self.data, port=self.ports.code_server, location=LOCATION)
        self.child_processes.start(process_plan.code_server(self.ports), wait=False)
        self.child_processes.start(process_plan.worker(self.settings, self.ports), wait=False)
        for spec in process_plan.step_workers(self.settings):
            self.child_processes.start(spec, wait=False)
        self.child_processes.wait_ready(process_plan.CODE)
        self.child_processes.start(process_plan.daemon(self.settings, workspace, self.ports), wait=False)
        self.child_processes.start(process_plan.ui(self.settings, workspace, self.ports), wait=False)
        self._load()

    def _load(self) -> None:
        """Ask the worker for what is missing; at a first start wait for it. Real upstreams are not asked
        for a year of the whole market unless somebody wants that: its cost is shown by the planner."""
        engine = make_engine(self.settings.warehouse_address)
        try:
            queue = CommandQueue(engine)
            known = loaded_before(ScheduledRunLedger(engine))
            watch = WatchList(engine)
            watched = watch.all()
            watching.refuse_market(watched, self._watch, self.data, loaded_before=known)
            request_calendar(queue)
            if self._watch or watched:
                wait = partial(follow, stopping=self.child_processes.stopping, watch=self._watch_load)
                watching.load(queue, watch, self._watch, self._say, wait)
                self._watched = watch.all()
                return
            if not known and self.settings.data_source != "mock":
                self._say(
                    "the warehouse is empty; `ashare load` fills it from the real upstreams, "
                    "`ashare plan` says what that costs"
                )
                return
            command = request_load(queue)
            if known:
                self._say("catching up behind the API")
                return
            waits = "" if self.settings.role == "worker" else ", the API comes when the newest date is in"
            self._say(f"first start: loading the sample market{waits}")
            ended = follow(
                queue, command.id, self._say, self.child_processes.stopping, watch=self._watch_load
            )
            if ended is None:
                raise Interrupted("stopped during the first load; the next start goes on with it")
            if ended.status == "success":
                self._say(f"loaded up to {ended.result.get('newest')}")
            else:
                self._say(f"the first load {ended.status}: {ended.error}; the next start goes on with it")
        finally:
            engine.dispose()

    def _watch_load(self) -> None:
        """Between two looks at the first load: a disk that fills up ends the start, with its reason."""
        checks.check_disk(self.data, least=checks.FULL_MB)
        self.child_processes.watch()

    def _migrate(self) -> None:
        """In a process of its own: the supervisor stays without pandas and Dagster."""
        self._say("bringing the warehouse up to date")
        try:
            done = subprocess.run(  # noqa: S603  our own module
                process_plan.python("-m", "schedules.supervisor.migrate"),
                env=self._env,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=MIGRATE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise StartRefused(f"the migration took more than {MIGRATE_S:.0f} s") from None
        text = self._mask(done.stdout.decode("utf-8", "replace"))
        path = self.data / "logs" / "migrate.log"
        path.write_text(text, encoding="utf-8")
        if done.returncode:
            lines = text.strip().splitlines()
            raise StartRefused(said(lines[-1]) if lines else f"the migration failed, see {path}")

    def watch(self) -> None:
        """Restart what dies, until somebody stops it."""
        while not self.child_processes.stopping.wait(POLL_S):
            self.child_processes.watch()

    def look_for_room(self) -> None:
        """Say it when a disk gets full, the data folder's or the database's: once, until it is well again."""
        short = ""
        try:
            checks.check_disk(self.data)
            checks.check_room(self.data)
            self._probe.write()
        except (StartRefused, DiskFull) as error:
            short = error.message
        except PlatformError:
            short = self._short  # locked or away: that says nothing about its disk
        if short and not self._short:
            self._say(f"warning: {short}")
        self._short = short

    def _check_location(self) -> None:
        """Say so when the code does not load: the UI would only show an empty platform."""
        try:
            Orchestrator.of(self.settings, self.ports.dagster).schedules()
        except PlatformError as error:
            self._say(f"warning: {error.message}")

    def _welcome(self) -> None:
        for name, url in self.urls().items():
            self._say(f"{name:10} {url}")
        self._say(f"{'logs':10} {self.data / 'logs'}")
        base = self.urls().get("API", "").removesuffix("/docs")
        for line in watching.how_to_read(self._watched, base, self.data):
            self._say(line)
        self._say("Ctrl-C stops everything")

    def urls(self) -> dict[str, str]:
        found = {}
        if self.ports.api:
            base = f"http://{process_plan.reachable(self.settings.api_host)}:{self.ports.api}"
            found = {"API": f"{base}/docs", "health": f"{base}/health"}
        if self.ports.dagster:
            found["Dagster"] = (
                f"http://{process_plan.reachable(self.settings.dagster_bind)}:{self.ports.dagster}"
            )
        return found

    def _write_facts(self) -> None:
        facts = {
            "pid": os.getpid(),
            "since": f"{self._since:%Y-%m-%d %H:%M:%S}",
            "role": self.settings.role,
            "ports": self.ports.__dict__,
            "pids": self.child_processes.pids(),
            "processes": self.child_processes.processes(),
            "urls": self.urls(),
        }
        try:
            folders.write_run_facts(self._facts, facts)
        except OSError as error:
            # Others read it; what runs must not end because they cannot.
            log.warning("%s cannot be written: %s", self._facts, error.strerror)

    def forget_facts(self) -> None:
        """Take the file of this start away: nothing runs any more."""
        with contextlib.suppress(OSError):
            self._facts.unlink()


def install_signals(start: Start) -> None:
    """The first signal stops in order; a second one kills."""

    def handle(_number: int, _frame: object) -> None:
        if start.child_processes.stopping.is_set():
            for child in start.child_processes.children.values():
                child.send(signal.SIGKILL)
        start.child_processes.stopping.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handle)


def run(
    environ: Mapping[str, str] | None = None, *, start_of: Callable[[Settings], Start] | None = None
) -> int:
    """Start, watch, stop. Returns 0 after a requested end, 1 when the start was refused or failed."""
    add_no_proxy(os.environ)
    # Of this process and of every child: database, payloads, logs and lake are for their owner.
    os.umask(0o077)
    try:
        settings = read_settings(environ)
        check(settings)
        lock = RunLock(settings.data_path, settings.role)
        lock.take(SystemClock().now())
        check_ports(settings)
    except (PlatformError, NotImplementedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    code = 0
    # The terminal belongs to the person who started this; records go to the file alone.
    logs.configure(settings, "supervisor", console=False)
    start = (start_of or Start)(settings)
    install_signals(start)
    try:
        start.prepare()
        start.bring_up()
        start.watch()
    except Interrupted as error:
        say(error.message)
    except (PlatformError, OSError) as error:
        if isinstance(error, PlatformError):
            message = error.message
        else:  # the disk is full, or somebody took the folder away
            message = f"DATA_DIR: {error.filename or settings.data_path}: {error.strerror}"
        log.error("%s", message)  # noqa: TRY400  one line, as at the terminal
        sys.stderr.write(f"{message}\n")
        code = 1
    finally:
        say("stopping")
        killed = start.child_processes.stop()
        if killed:
            say(f"had to be killed: {', '.join(killed)}")
        start.forget_facts()
        logs.unconfigure()
        lock.release()
    return code
