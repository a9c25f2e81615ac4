"""The Kubernetes example: valid by the published schemas, and the same topology as the compose file."""

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from tests.docker.test_compose import COMPOSE, FOLDER, OURS, SERVICES

DOCUMENTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text(encoding="utf-8"))
)
WORKLOADS = {
    one["metadata"]["name"].replace("-", "_"): one["spec"]["template"]["spec"]
    for one in DOCUMENTS
    if one["kind"] in {"Deployment", "StatefulSet", "Job"}
}
SERVED = {one["metadata"]["name"]: one["spec"] for one in DOCUMENTS if one["kind"] == "Service"}
SETTINGS: dict[str, str] = next(
    one["data"] for one in DOCUMENTS if one["kind"] == "ConfigMap" and one["metadata"]["name"] == "ashare"
)


@pytest.mark.parametrize("version", ["1.31", "1.34"])
def test_every_document_is_valid(version: str) -> None:
    for document in DOCUMENTS:
        kubernetes_validate.validate(document, version, strict=True)


def test_the_workloads_are_the_services_of_the_compose_file() -> None:
    assert WORKLOADS.keys() == SERVICES.keys()


@pytest.mark.parametrize("name", OURS)
def test_a_workload_runs_and_checks_the_same(name: str) -> None:
    container, service = WORKLOADS[name]["containers"][0], SERVICES[name]
    check = service.get("healthcheck", {}).get("test", [None])[1:]

    assert container["args"] == service["command"]
    assert container.get("livenessProbe", {}).get("exec", {}).get("command", []) == check
    given = {**SETTINGS, **{one["name"]: one["value"] for one in container.get("env", [])}}
    # A service name of Kubernetes has no underscore; what compose may be given has its default here.
    expected = {
        key: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value) for key, value in service["environment"].items()
    }
    assert given == {**expected, "DAGSTER_HOST": "dagster-ui"}


@pytest.mark.parametrize("name", OURS)
def test_a_container_writes_only_where_it_must_and_is_nobody_special(name: str) -> None:
    pod = WORKLOADS[name]
    container = pod["containers"][0]
    mounts = {one["mountPath"]: one.get("readOnly", False) for one in container["volumeMounts"]}

    assert pod["securityContext"]["runAsNonRoot"] is True
    # The token of the service account would be mounted below the secrets, and nobody needs it.
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["resources"]["limits"]["memory"]
    assert mounts.keys() - {"/app/docker/workspace.yaml"} == {"/data", "/tmp", "/run/secrets"}
    assert mounts["/run/secrets"] is True


def test_every_host_that_is_named_is_a_service_on_that_port() -> None:
    workspace = next(
        one["data"]["workspace.yaml"] for one in DOCUMENTS if one["metadata"]["name"] == "workspace"
    )
    server = yaml.safe_load(workspace)["load_from"][0]["grpc_server"]
    named = {
        (SETTINGS["DB_HOST"], int(SETTINGS["DB_PORT"])),
        (SETTINGS["DAGSTER_HOST"], int(SETTINGS["DAGSTER_PORT"])),
        (server["host"], server["port"]),
        ("postgres", 5432),
        ("rabbitmq", 5672),
    }

    served = {(name, spec["ports"][0]["port"]) for name, spec in SERVED.items()}
    assert named <= served
    for name, spec in SERVED.items():
        container = WORKLOADS[name.replace("-", "_")]["containers"][0]
        assert container["ports"][0]["containerPort"] == spec["ports"][0]["port"]
        assert spec["selector"] == {"app": name}


def test_no_secret_is_written_out() -> None:
    keys = {f"/run/secrets/{name}" for name in COMPOSE["secrets"]}
    text = (FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")
    given = set(re.findall(r"/run/secrets/\w+", text))

    assert given == keys
    assert not any(one["kind"] == "Secret" for one in DOCUMENTS)
