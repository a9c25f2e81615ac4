"""The day of a cluster in which a step worker, the broker and the warehouse are killed in turn."""

import os
import sys
from pathlib import Path

import pytest

from schedules.supervisor import topology
from tests.cluster.own_servers import own_broker_server, own_mariadb_server
from tests.conftest import own_postgres
from tests.soak.cluster_day import DAY_JOB, Kills, environment, platform

pytestmark = pytest.mark.soak
PROFILE = os.environ.get("CLUSTER_PROFILE", "M")


def test_the_day_of_a_cluster_survives_the_death_of_each_part(tmp_path: Path) -> None:
    with (
        own_mariadb_server(tmp_path / "mariadb") as warehouse,
        own_broker_server(tmp_path / "rabbitmq") as broker,
        own_postgres("cluster_day") as history,
    ):
        env = environment(
            tmp_path / "cluster", PROFILE,
            WAREHOUSE_URL=warehouse.url, DAGSTER_POSTGRES_URL=history, BROKER_URL=broker.url,
        )  # fmt: skip
        kills = Kills(history, tmp_path / "cluster", [])

        def again(server: object) -> None:
            server.kill()  # type: ignore[attr-defined]
            server.start()  # type: ignore[attr-defined]

        kills.parts = [
            ("step worker", 0.2, kills.step_worker),
            ("broker", 0.4, lambda: again(broker)),
            ("warehouse", 0.6, lambda: again(warehouse)),
        ]
        with platform("schedules.supervisor.cluster", env, kills.look) as cluster:
            clustered, jobs = cluster.hashes(), cluster.jobs()
            processes = set(cluster.facts["pids"])
            took, said = cluster.seconds, list(cluster.said)
    with platform("schedules.supervisor", environment(tmp_path / "one", PROFILE), lambda: None) as one:
        alone, jobs_alone = one.hashes(), one.jobs()
        took_alone = one.seconds

    lines = [
        f"first load of profile {PROFILE}: cluster {took:.0f} s, one machine {took_alone:.0f} s",
        f"{DAY_JOB}: cluster with kills {jobs[DAY_JOB][1]:.0f} s, one machine {jobs_alone[DAY_JOB][1]:.0f} s",
        *kills.done,
        *(line for line in said if "ended" in line or "again" in line),
        f"content hashes: {len(clustered)} of the cluster, "
        f"{sum(clustered.get(key) == value for key, value in alone.items())} of {len(alone)} equal",
    ]
    sys.stdout.write("".join(f"soak: {line}\n" for line in lines))
    assert [line.split(" killed")[0] for line in kills.done] == ["step worker", "broker", "warehouse"]
    assert {task: status for task, (status, _) in jobs.items()} == {
        task: status for task, (status, _) in jobs_alone.items()
    }
    assert clustered == alone
    expected = {part.name for part in topology.PROCESSES if part.replicas == 1}
    expected |= {"step_worker_1", "step_worker_2", "api", "api_2"}
    assert processes == expected | {"simulated_market"}
