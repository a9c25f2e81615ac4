"""The part of Dagster's GraphQL that switches schedules, on a loopback port."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Switches:
    """Schedules that are served, and whether each is on; `asked` counts the requests."""

    port: int
    running: dict[str, bool] = field(default_factory=dict)
    asked: int = 0

    def answer(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        self.asked += 1
        if "startSchedule" in query:
            self.running[variables["selector"]["scheduleName"]] = True
            return {"startSchedule": {"__typename": "ScheduleStateResult"}}
        if "stopRunningSchedule" in query:
            self.running[variables["id"].removeprefix("state-")] = False
            return {"stopRunningSchedule": {"__typename": "ScheduleStateResult"}}
        results = [
            {
                "name": name,
                "cronSchedule": "40 15 * * *",
                "executionTimezone": "Asia/Shanghai",
                "scheduleState": {"id": f"state-{name}", "status": "RUNNING" if on else "STOPPED"},
            }
            for name, on in self.running.items()
        ]
        return {"schedulesOrError": {"__typename": "Schedules", "results": results}}


@contextmanager
def serving_switches(names: list[str]) -> Iterator[Switches]:
    """A webserver that serves these schedules, all switched on."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"data": switches.answer(asked["query"], asked["variables"])}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    switches = Switches(server.server_address[1], dict.fromkeys(names, True))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield switches
    server.shutdown()
    thread.join()
    server.server_close()
