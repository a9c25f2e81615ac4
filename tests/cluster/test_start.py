"""What `make cluster` says before it starts, how it installs servers, and how API processes share a port."""

import socket
from pathlib import Path

import pytest

from resources.listener import listen
from resources.run_lock import StartRefused
from resources.settings import Settings, load_settings
from schedules.supervisor import app, checks, cluster, process_plan, services, topology

NOWHERE = {
    "WAREHOUSE_URL": "mysql+pymysql://root@127.0.0.1:9/x",
    "DAGSTER_POSTGRES_URL": "postgresql+psycopg2://root@127.0.0.1:9/x",
    "BROKER_URL": "amqp://guest:guest@127.0.0.1:9//",
}


def settings_of(folder: Path, **given: str) -> Settings:
    return load_settings(cluster.environment(given), dotenv=folder / "none")


def having(*tools: str) -> services.Which:
    """`shutil.which` of a machine with these tools."""
    return lambda name: f"/usr/bin/{name}" if name in tools else None


def test_every_server_that_is_missing_is_one_line_with_its_variable(tmp_path: Path) -> None:
    lines = cluster.missing(settings_of(tmp_path, **NOWHERE))

    assert [line.partition(":")[0] for line in lines] == list(NOWHERE)
    assert all("make cluster-services" in line and "\n" not in line for line in lines)


def test_settings_of_the_shell_come_before_the_defaults(tmp_path: Path) -> None:
    given = settings_of(tmp_path, DB_HOST="db.example", STEP_WORKERS="5")

    assert given.warehouse_address == "mysql+pymysql://root@db.example:3306/ashare"
    assert (given.step_workers, given.api_processes) == (5, topology.API_PROCESSES)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"BROKER_URL": "redis://127.0.0.1:6379"}, "name an AMQP broker"),
        ({"DAGSTER_POSTGRES_URL": ""}, "need DAGSTER_POSTGRES_URL"),
        ({"WAREHOUSE_URL": "sqlite:///x"}, "need a warehouse on a server"),
        ({}, "nothing answers at 127.0.0.1:9"),
    ],
)
def test_a_broker_that_cannot_be_used_is_refused(tmp_path: Path, wrong: dict[str, str], said: str) -> None:
    with pytest.raises(StartRefused, match=f"^BROKER_URL: .*{said}"):
        checks.check_broker(settings_of(tmp_path, **{**NOWHERE, **wrong}))


def test_the_password_of_the_broker_may_come_by_itself() -> None:
    given = Settings(broker_url="amqp://ashare@rabbitmq:5672//", broker_password="a/b@c")

    assert given.broker_address == "amqp://ashare:a%2Fb%40c@rabbitmq:5672//"
    assert Settings(broker_url="amqp://a:b@c//", broker_password="x").broker_address == "amqp://a:b@c//"
    assert {"a/b@c", "b"} <= {*given.secrets, *Settings(broker_url="amqp://a:b@c//").secrets}


def test_servers_that_are_absent_are_installed_and_started_by_what_the_machine_has() -> None:
    absent = [part for part in topology.SERVICES if part.name != "mariadb"]
    debian = services.commands(absent, having("apt-get"))

    assert debian == [
        ["apt-get", "install", "-y", "postgresql", "rabbitmq-server"],
        ["service", "postgresql", "start"],
        ["service", "rabbitmq-server", "start"],
    ]
    assert services.commands(absent, having("dnf", "systemctl"))[1][:3] == [
        "systemctl",
        "enable",
        "--now",
    ]
    assert services.commands(absent, having()) == []


def test_each_api_process_is_asked_at_a_port_of_its_own() -> None:
    given = Settings(api_processes=2)
    ports = process_plan.Ports(api=8000, dagster=3000, api_checks=app.api_checks(given))
    specs = process_plan.apis(given, ports, {})

    assert [spec.name for spec in specs] == ["api", "api_2"]
    assert {spec.env["API_PORT"] for spec in specs} == {"8000"}
    assert len({spec.env["API_CHECK_PORT"] for spec in specs}) == 2
    assert "API_CHECK_PORT" not in process_plan.api(Settings(), process_plan.Ports(api=8000), {}).env


def test_processes_share_a_port_only_when_they_are_to() -> None:
    first = listen("127.0.0.1", 0, "API_PORT", shared=True)
    port = first.getsockname()[1]
    first.listen()
    second = listen("127.0.0.1", port, "API_PORT", shared=True)
    second.listen()

    with pytest.raises(SystemExit, match=r"port \d+ .* is taken"):
        listen("127.0.0.1", port, "API_PORT")
    first.close()
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        accepted, _ = second.accept()  # the one that is left gets every connection
    accepted.close()
    second.close()
