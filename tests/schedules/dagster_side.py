"""Code server, scheduler and webserver of an installation: what launches the runs of its commands."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from resources.orchestrator import LOCATION
from resources.settings import Settings
from schedules.supervisor import checks, folders, process_plan
from schedules.supervisor.child_processes import ChildProcesses
from schedules.supervisor.process_plan import Ports


def start_dagster(children: ChildProcesses, settings: Settings, ports: Ports) -> None:
    """Start the three on `ports` and wait until they answer. DAGSTER_HOME must be there."""
    workspace = folders.write_workspace(settings.data_path, port=ports.code_server, location=LOCATION)
    children.start(process_plan.code_server(ports))
    children.start(process_plan.daemon(settings, workspace, ports), wait=False)
    children.start(process_plan.ui(settings, workspace, ports))


def dagster_ports(ports: Ports) -> Ports:
    return replace(ports, dagster=checks.free_port(), code_server=checks.free_port())


@contextmanager
def dagster_side(settings: Settings, env: Mapping[str, str]) -> Iterator[tuple[Ports, ChildProcesses]]:
    """The three by themselves, with the environment of their processes; they end with the block."""
    ports = dagster_ports(Ports())
    folders.make_folders(settings.data_path)
    folders.write_dagster_home(settings.data_path, postgres=bool(settings.dagster_postgres_url))
    children = ChildProcesses(
        settings.data_path / "logs",
        {**env, **process_plan.child_environment(settings, ports)},
        lambda _line: None,
        backoff_s=(0.5,),
    )
    try:
        start_dagster(children, settings, ports)
        yield ports, children
    finally:
        children.stopping.set()
        children.stop()
