"""Switching and re-timing over GraphQL, against a small server that speaks Dagster's answers."""

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from core.errors import NotFound, PlatformError, Unavailable
from platform_assets.task_table import TASKS
from resources.orchestrator import Orchestrator
from schedules.services import Services
from schedules.tasks.location_reload import RetimeWatcher, differing
from schedules.tasks.trigger_times import read_times

FRIDAY = "2026-08-21"


class Webserver:
    """The part of Dagster's GraphQL that we use, over a real socket."""

    def __init__(self) -> None:
        self.crons = {"fusion_kline_sync": "40 15 * * *", "fusion_daily_sync": "0 16 * * *"}
        self.running = dict.fromkeys(self.crons, True)
        self.next_crons: dict[str, str] = {}
        self.broken, self.error = False, "DagsterError"
        self.reload_s = 0.0
        self.dates, self.next_dates = ["2026-08-20", "2026-08-21"], list[str]()
        self.beats: dict[str, float | None] = {"SCHEDULER": 100.0, "SENSOR": None}
        self.asked: list[str] = []
        webserver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = json.dumps({"data": webserver.answer(body["query"], body["variables"])}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Silence."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]

    def answer(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        operation = query.split()[1].split("(", maxsplit=1)[0]
        self.asked.append(operation)
        if operation == "Schedules":
            if self.broken:
                error = {"className": self.error, "message": "Failure loading\nmore"}
                return {"schedulesOrError": {"__typename": "PythonError", **error}}
            assert variables["selector"]["repositoryLocationName"] == "platform"
            rows = [
                {
                    "name": name,
                    "cronSchedule": cron,
                    "executionTimezone": "Asia/Shanghai",
                    "scheduleState": {
                        "id": f"id-{name}",
                        "status": "RUNNING" if self.running[name] else "STOPPED",
                    },
                }
                for name, cron in self.crons.items()
            ]
            return {"schedulesOrError": {"__typename": "Schedules", "results": rows}}
        if operation == "Start":
            self.running[variables["selector"]["scheduleName"]] = True
            return {"startSchedule": {"__typename": "ScheduleStateResult"}}
        if operation == "Stop":
            self.running[variables["id"].removeprefix("id-")] = False
            return {"stopRunningSchedule": {"__typename": "ScheduleStateResult"}}
        if operation == "Partitions":
            assert variables["key"] == {"path": ["dwd", "fusion_kline_daily"]}
            return {"assetNodeOrError": {"__typename": "AssetNode", "partitionKeys": self.dates}}
        if operation == "Daemons":
            rows = [
                {"daemonType": name, "required": name != "ASSET", "lastHeartbeatTime": at}
                for name, at in {**self.beats, "ASSET": 1.0}.items()
            ]
            return {"instance": {"daemonHealth": {"allDaemonStatuses": rows}}}
        assert operation == "Reload"
        time.sleep(self.reload_s)
        self.broken = False
        self.dates += self.next_dates
        self.crons.update(self.next_crons)
        entry = {"__typename": "WorkspaceLocationEntry", "loadStatus": "LOADED", "locationOrLoadError": None}
        return {"reloadRepositoryLocation": entry}


@pytest.fixture
def webserver() -> Iterator[Webserver]:
    made = Webserver()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_a_schedule_is_switched_off_and_on_again(webserver: Webserver) -> None:
    orchestrator = Orchestrator(webserver.port)

    orchestrator.switch("fusion_kline_sync", False)
    assert not orchestrator.schedules()["fusion_kline_sync"].running
    assert orchestrator.schedules()["fusion_daily_sync"].running
    orchestrator.switch("fusion_kline_sync", True)
    assert orchestrator.schedules()["fusion_kline_sync"].running
    webserver.asked.clear()
    orchestrator.switch("fusion_kline_sync", True)
    assert webserver.asked == ["Schedules"]
    with pytest.raises(NotFound, match="no schedule 'nothing'"):
        orchestrator.switch("nothing", True)


def test_errors_say_who_refused(webserver: Webserver) -> None:
    webserver.broken = True
    with pytest.raises(PlatformError, match=r"schedulesOrError: Failure loading$"):
        Orchestrator(webserver.port).schedules()
    # As a webserver answers while its code server is away.
    webserver.error = "DagsterCodeLocationLoadError"
    with pytest.raises(Unavailable, match=r"^Failure loading$"):
        Orchestrator(webserver.port).switch("fusion_kline_sync", False)
    with pytest.raises(Unavailable, match=r"does not answer at 127\.0\.0\.1:1"):
        Orchestrator(1).schedules()


def test_a_moved_task_makes_the_location_load_anew_until_it_is_served(
    services: Services, webserver: Webserver
) -> None:
    services.tasks.publish(TASKS)
    orchestrator = Orchestrator(webserver.port)
    now = 100.0
    watcher = RetimeWatcher(services, orchestrator, monotonic=lambda: now, today=lambda: FRIDAY)
    assert not watcher.look()

    services.tasks.retime("fusion_kline_sync", 1555, by="t", now=services.clock.now())
    assert differing(services, orchestrator) == ["fusion_kline_sync"]
    assert not watcher.look()
    assert webserver.asked.count("Reload") == 1
    assert read_times(services.settings.data_path) == {"fusion_kline_sync": 1555}
    # It did not help: not again at once, but again after a while.
    assert not watcher.look()
    assert webserver.asked.count("Reload") == 1
    now += 31
    webserver.next_crons = {"fusion_kline_sync": "55 15 * * *"}
    assert watcher.look()
    assert not watcher.look()
    assert webserver.asked.count("Reload") == 2


def test_a_reload_that_takes_longer_than_other_answers_is_waited_for(
    services: Services, webserver: Webserver
) -> None:
    services.tasks.publish(TASKS)
    services.tasks.retime("fusion_kline_sync", 1555, by="t", now=services.clock.now())
    webserver.reload_s = 3.0
    webserver.next_crons = {"fusion_kline_sync": "55 15 * * *"}
    orchestrator = Orchestrator(webserver.port, timeout_s=1.5)

    assert RetimeWatcher(services, orchestrator, today=lambda: FRIDAY).look()
    assert webserver.asked.count("Reload") == 1


def test_a_reload_that_is_given_up_is_said_and_not_asked_for_again_at_once(
    services: Services, webserver: Webserver, caplog: pytest.LogCaptureFixture
) -> None:
    services.tasks.publish(TASKS)
    services.tasks.retime("fusion_kline_sync", 1555, by="t", now=services.clock.now())
    webserver.reload_s = 1.0
    now = iter((100.0, 400.0, 401.0))  # the reload was waited for 300 s
    orchestrator = Orchestrator(webserver.port, reload_s=0.2)
    watcher = RetimeWatcher(services, orchestrator, monotonic=lambda: next(now), today=lambda: FRIDAY)

    assert not watcher.look()
    assert not watcher.look()
    assert webserver.asked.count("Reload") == 1
    assert "the code location is not reloaded yet: Dagster's webserver does not answer" in caplog.text


def test_a_location_that_did_not_load_is_loaded_anew(services: Services, webserver: Webserver) -> None:
    services.tasks.publish(TASKS)
    webserver.broken = True
    watcher = RetimeWatcher(services, Orchestrator(webserver.port), today=lambda: FRIDAY)

    assert watcher.look()
    assert not webserver.broken


def test_a_trade_date_that_begins_makes_the_location_load_anew(
    services: Services, webserver: Webserver
) -> None:
    services.tasks.publish(TASKS)
    today = "2026-08-23"
    watcher = RetimeWatcher(services, Orchestrator(webserver.port), today=lambda: today)
    assert not watcher.look()  # Sunday: Friday is served

    today, webserver.next_dates = "2026-08-24", ["2026-08-24"]
    assert watcher.look()
    assert webserver.asked.count("Reload") == 1
    asked = webserver.asked.count("Partitions")
    assert not watcher.look()
    assert webserver.asked.count("Partitions") == asked  # once a date


def test_a_day_that_turned_out_to_be_closed_makes_the_location_load_anew(
    services: Services, webserver: Webserver
) -> None:
    """The calendar that the watcher holds is corrected while it watches; the location serves the old one."""
    services.tasks.publish(TASKS)
    watcher = RetimeWatcher(services, Orchestrator(webserver.port), today=lambda: FRIDAY)
    assert not watcher.look()

    services.calendar = services.calendar.corrected({FRIDAY: False}, FRIDAY)
    watcher.look()

    assert webserver.asked.count("Reload") == 1


def test_the_parts_of_the_daemon_that_have_to_run_and_when_they_were_heard(webserver: Webserver) -> None:
    assert Orchestrator(webserver.port).daemon_beats() == {"SCHEDULER": 100.0, "SENSOR": None}
