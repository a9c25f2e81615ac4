"""What `docker/` holds, checked as files: no Docker engine is needed."""

import importlib.util
import os
import re
import stat
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from resources.orchestrator import LOCATION
from resources.secret_variables import with_secrets
from resources.settings import Settings, load_settings
from schedules.supervisor import process_plan
from schedules.supervisor.process_plan import Ports

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "ashare-platform"}
SECRET = re.compile(r"(?i)password|secret|token|api_?key|_url$")
ANYWHERE = "0.0.0.0"
WORKSPACE = Path("/app/docker/workspace.yaml")
PORTS = Ports(api=8000, dagster=3000, code_server=4000)
SPECS = {
    process_plan.CODE: process_plan.code_server(PORTS),
    process_plan.DAEMON: process_plan.daemon(Settings(), WORKSPACE, PORTS),
    process_plan.UI: process_plan.ui(Settings(), WORKSPACE, PORTS),
    process_plan.WORKER: process_plan.worker(Settings(), PORTS),
    process_plan.STEPS: process_plan.step_worker(Settings()),
    process_plan.API: process_plan.api(Settings(), PORTS, {}),
}


def test_production_has_its_databases_and_every_process() -> None:
    assert SERVICES.keys() == {"mariadb", "postgres", "rabbitmq", "prepare", *SPECS}


@pytest.mark.parametrize("name", SPECS)
def test_a_service_runs_the_command_of_the_supervisor(name: str) -> None:
    """But for the interpreter, and the address: a container is reached from outside."""
    _, *expected = SPECS[name].command

    interpreter, *command = OURS[name]["command"]

    assert interpreter == "python"
    assert command == [ANYWHERE if part == process_plan.HOST else part for part in expected]


@pytest.mark.parametrize("name", OURS)
def test_a_command_names_a_module_that_is_there(name: str) -> None:
    command = OURS[name]["command"]

    assert command[:2] == ["python", "-m"]
    assert _runnable(command[2])


def _runnable(module: str) -> bool:
    """Whether `python -m module` finds something to run."""
    found = importlib.util.find_spec(module)
    if found is None or found.submodule_search_locations is None:
        return found is not None
    return importlib.util.find_spec(f"{module}.__main__") is not None


@pytest.mark.parametrize("name", SERVICES)
def test_a_secret_is_a_file_that_the_service_has(name: str) -> None:
    given = {f"/run/secrets/{one}" for one in SERVICES[name].get("secrets", [])}
    files = {
        key: value
        for key, value in (SERVICES[name].get("environment") or {}).items()
        if SECRET.search(key.removesuffix("_FILE")) and not key.startswith("MARIADB_RANDOM_")
    }

    addresses = {key: value for key, value in files.items() if not key.endswith("_FILE")}
    assert addresses.keys() <= {"DAGSTER_POSTGRES_URL", "BROKER_URL"}
    assert {value for key, value in files.items() if key.endswith("_FILE")} <= given
    assert all(":" not in url.partition("://")[2].partition("@")[0] for url in addresses.values())


def test_the_secrets_are_files_that_the_script_makes(tmp_path: Path) -> None:
    """Compose refuses a service that is read-only and has a secret of the environment."""
    folder = tmp_path / "secrets"
    command = ["sh", str(FOLDER / "make-secrets.sh"), str(folder)]
    subprocess.run(command, check=True)
    made = {file.name: file.read_text() for file in folder.iterdir()}
    subprocess.run(command, check=True)

    assert COMPOSE["secrets"] == {name: {"file": f"${{SECRETS_DIR:-./secrets}}/{name}"} for name in made}
    assert len({value for value in made.values() if len(value) == 32}) == 4
    assert {file.name: file.read_text() for file in folder.iterdir()} == made, "a password is made once"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o644}


@pytest.mark.parametrize("name", SERVICES)
def test_the_log_of_a_container_has_an_end(name: str) -> None:
    assert SERVICES[name]["logging"]["options"].keys() == {"max-size", "max-file"}


@pytest.mark.parametrize("name", OURS)
def test_a_container_writes_only_where_it_must(name: str) -> None:
    service = OURS[name]

    assert service["read_only"] is True
    assert service["volumes"] == ["data:/data"]
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["mem_limit"]
    assert name == "prepare" or "healthcheck" in service


@pytest.mark.parametrize("name", OURS)
def test_the_environment_is_made_of_settings_that_exist(name: str, tmp_path: Path) -> None:
    known = {row.name.upper() for row in fields(Settings)} | {"DAGSTER_HOME", "NUMBA_CACHE_DIR", "PGPASSWORD"}
    secret = tmp_path / "secret"
    secret.write_text("given\n")
    environment = with_secrets(
        {
            key: str(secret) if key.endswith("_FILE") else _filled(value)
            for key, value in OURS[name]["environment"].items()
        }
    )

    settings = load_settings(environment, dotenv=tmp_path / "none")

    assert environment.keys() <= known
    assert (settings.db_password, environment["PGPASSWORD"]) == ("given", "given")
    assert settings.notifications_require_login is True
    assert settings.data_source == "real"
    assert settings.warehouse_address.startswith("mysql+pymysql://ashare:")
    assert settings.dagster_postgres_url == "postgresql+psycopg2://dagster@postgres:5432/dagster"
    assert settings.broker_address == "amqp://ashare:given@rabbitmq:5672//"
    assert environment["DAGSTER_HOME"] == f"{settings.data_dir}/dagster"


def _filled(value: str) -> str:
    """The value when every variable without a default is 'given'."""
    return re.sub(r"\$\{\w+:(?:-([^}]*)|\?[^}]*)\}", lambda found: found[1] or _asked(found[0]), value)


def _asked(text: str) -> str:
    return "given" if ":?" in text else ""


def test_roles_and_addresses_meet() -> None:
    workspace = yaml.safe_load((FOLDER / "workspace.yaml").read_text())["load_from"][0]["grpc_server"]
    environment = OURS["api"]["environment"]

    assert (workspace["host"], workspace["port"], workspace["location_name"]) == (
        process_plan.CODE,
        4000,
        LOCATION,
    )
    assert environment["DAGSTER_HOST"] in SERVICES
    assert (environment["APP_ROLE"], OURS["worker"]["environment"]["APP_ROLE"]) == ("web", "worker")
    assert environment["API_HOST"] == ANYWHERE
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert all(port.startswith(("127.0.0.1:", "${API_BIND:-127.0.0.1}:")) for port in published)


def test_alone_both_published_ports_are_reached_from_outside() -> None:
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    given = dict(re.findall(r"(\w+)=(\S+)", text[text.index("ENV DATA_DIR") :]))
    settings = load_settings(given, dotenv=FOLDER / "none")

    assert "EXPOSE 8000 3000" in text
    assert (settings.api_host, settings.dagster_bind) == (ANYWHERE, ANYWHERE)
    assert ANYWHERE in process_plan.ui(settings, WORKSPACE, PORTS).command


def test_nothing_starts_before_the_warehouse_is_ready() -> None:
    def before(name: str) -> set[str]:
        direct = set(SERVICES[name].get("depends_on") or {})
        return direct.union(*map(before, direct))

    for name in SPECS:
        assert {"prepare", "mariadb", "postgres", "rabbitmq"} <= before(name)


def test_the_image_runs_as_nobody_special_and_holds_what_it_needs() -> None:
    lines = (FOLDER / "Dockerfile").read_text(encoding="utf-8").splitlines()
    user = [line.split()[1] for line in lines if line.startswith("USER ")]
    copied = [part for line in lines if line.startswith("COPY ") for part in line.split()[1:-1]]
    kept = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()

    assert user == ["platform"]
    assert all((ROOT / part).exists() for part in copied)
    assert {f"!{part}" for part in copied} <= set(kept)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {name.rstrip("*") for name in packages} <= set(copied)
    secrets = [line for line in lines if "PASSWORD" in line and not line.startswith("#")]
    assert secrets == []
    assert 'ENTRYPOINT ["python", "-m", "resources.secret_variables"]' in lines


def test_prepare_makes_the_folders_and_the_warehouse(tmp_path: Path) -> None:
    env = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(tmp_path / "data"),
        "ENV_FILE": "none",
        "DAGSTER_POSTGRES_URL": "postgresql+psycopg2://dagster:x@nowhere/dagster",
    }

    command = [sys.executable, "-m", "schedules.supervisor.prepare"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stderr
    home = (tmp_path / "data" / "dagster" / "dagster.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(home)["storage"]["postgres"]["postgres_url"] == {"env": "DAGSTER_POSTGRES_URL"}
    assert (tmp_path / "data" / "warehouse.sqlite3").is_file()
