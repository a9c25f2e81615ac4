"""One topology: what `make cluster` starts is what the compose file and the Kubernetes example start."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from platform_assets.definitions.queues import QUEUES
from resources.settings import load_settings
from schedules.supervisor import cluster, process_plan, topology
from schedules.supervisor.process_plan import Ports

FOLDER = Path(__file__).parents[2] / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
DOCUMENTS = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")))
DECLARED = {part.name: part for part in (*topology.SERVICES, *topology.PROCESSES)}
ONCE = {"prepare"}
"""Runs to its end before the others start; `make cluster` does it in its own process."""


def compose_replicas() -> dict[str, int]:
    return {
        name: one.get("deploy", {}).get("replicas", 1) for name, one in COMPOSE.items() if name not in ONCE
    }


def kubernetes_replicas() -> dict[str, int]:
    return {
        one["metadata"]["name"].replace("-", "_"): one["spec"]["replicas"]
        for one in DOCUMENTS
        if one["kind"] in {"Deployment", "StatefulSet"}
    }


def cluster_replicas() -> dict[str, int]:
    """Processes of the plan by their names without a number, and the services that their settings name."""
    settings = load_settings(cluster.environment({}), dotenv=FOLDER / "none")
    found: dict[str, int] = {}
    ports, workspace = Ports(api=1, dagster=2, code_server=3), FOLDER / "none"
    for spec in (
        process_plan.code_server(ports),
        process_plan.daemon(settings, workspace, ports),
        process_plan.ui(settings, workspace, ports),
        process_plan.worker(settings, ports),
        *process_plan.step_workers(settings),
        *process_plan.apis(settings, ports, {}),
    ):
        name = re.sub(r"_\d+$", "", spec.name)
        found[name] = found.get(name, 0) + 1
    addresses = (settings.warehouse_address, settings.dagster_postgres_url, settings.broker_url)
    for part, url in zip(topology.SERVICES, addresses, strict=True):
        assert f":{part.port}/" in url
        found[part.name] = 1
    return found


@pytest.mark.parametrize("replicas", [compose_replicas, kubernetes_replicas, cluster_replicas])
def test_every_way_to_run_it_has_the_declared_parts(replicas: Any) -> None:
    assert replicas() == {name: part.replicas for name, part in DECLARED.items()}


def test_step_workers_take_from_every_queue_wherever_they_run() -> None:
    command = COMPOSE["step_worker"]["command"]
    (pod,) = (one for one in DOCUMENTS if one["metadata"]["name"] == "step-worker")
    args = pod["spec"]["template"]["spec"]["containers"][0]["args"]

    assert DECLARED["step_worker"].queues == QUEUES == ("download", "fuse", "calc")
    assert "--queues" not in command
    assert "--queues" not in args
    assert command == args


@pytest.mark.parametrize("name", [part.name for part in DECLARED.values() if part.port])
def test_ports_are_the_declared_ones(name: str) -> None:
    part = DECLARED[name]
    served = {
        one["metadata"]["name"].replace("-", "_"): one["spec"]["ports"][0]["port"]
        for one in DOCUMENTS
        if one["kind"] == "Service"
    }
    published = [one.rpartition(":")[2] for one in COMPOSE[name].get("ports", [])]

    assert served[name] == part.port
    assert published in ([], [str(part.port)])
