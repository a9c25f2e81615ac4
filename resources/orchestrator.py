"""Dagster's schedules as the API and the worker see them: over GraphQL on loopback, without Dagster.

Switching a schedule here and in the UI is one and the same switch. Opening an instance would cost a
second and an import; a call costs some milliseconds.
"""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import NotFound, PlatformError, Unavailable
from resources.settings import Settings

LOCATION = "platform"
REPOSITORY = "__repository__"
ANSWER_S = 10.0
RELOAD_S = 300.0
"""A reload starts a process that imports the code location: some seconds, over a minute where others use the
machine. Given up early, it would be asked for again beside the one that is under way."""

DAEMON_FRESH_S = 180.0
"""Each part of the daemon beats every half a minute, but not while it waits for the code server."""

_SCHEDULES = """
query Schedules($selector: RepositorySelector!) {
  schedulesOrError(repositorySelector: $selector) {
    __typename
    ... on Schedules { results { name cronSchedule executionTimezone scheduleState { id status } } }
    ... on PythonError { message }
    ... on RepositoryNotFoundError { message }
  }
}"""
_START = """
mutation Start($selector: ScheduleSelector!) {
  startSchedule(scheduleSelector: $selector) {
    __typename
    ... on PythonError { message }
    ... on ScheduleNotFoundError { message }
    ... on UnauthorizedError { message }
  }
}"""
_STOP = """
mutation Stop($id: String!) {
  stopRunningSchedule(id: $id) {
    __typename
    ... on PythonError { message }
    ... on UnauthorizedError { message }
  }
}"""
_RELOAD = """
mutation Reload($location: String!) {
  reloadRepositoryLocation(repositoryLocationName: $location) {
    __typename
    ... on WorkspaceLocationEntry {
      loadStatus
      locationOrLoadError { __typename ... on PythonError { message } }
    }
    ... on PythonError { message }
    ... on ReloadNotSupported { message }
    ... on RepositoryLocationNotFound { message }
    ... on UnauthorizedError { message }
  }
}"""

_PARTITIONS = """
query Partitions($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) {
    __typename
    ... on AssetNode { partitionKeys }
    ... on AssetNotFoundError { message }
  }
}"""
_DAEMONS = """
query Daemons {
  instance { daemonHealth { __typename allDaemonStatuses { daemonType required lastHeartbeatTime } } }
}"""


@dataclass(frozen=True)
class ServedSchedule:
    """A schedule as the code server serves it. `cron` is in `timezone`."""

    name: str
    cron: str
    timezone: str | None
    running: bool
    state_id: str


class Orchestrator:
    """The webserver at `host:port`. Every call raises Unavailable when it does not answer within `timeout_s`,
    a reload within `reload_s`."""

    def __init__(
        self,
        port: int,
        *,
        host: str = "127.0.0.1",
        location: str = LOCATION,
        timeout_s: float = ANSWER_S,
        reload_s: float = RELOAD_S,
    ) -> None:
        self._host, self._port = host, port
        self._location = location
        self._selector = {"repositoryName": REPOSITORY, "repositoryLocationName": location}
        self._timeout, self._reload_s = timeout_s, reload_s

    def schedules(self) -> dict[str, ServedSchedule]:
        """Every served schedule by its name."""
        found = self._ask(_SCHEDULES, {"selector": self._selector}, "schedulesOrError", "Schedules")
        served = {}
        for row in found["results"]:
            name, state = row["name"], row["scheduleState"]
            served[name] = ServedSchedule(
                name,
                cron=row["cronSchedule"],
                timezone=row["executionTimezone"],
                running=state["status"] == "RUNNING",
                state_id=state["id"],
            )
        return served

    def switch(self, name: str, enabled: bool) -> None:
        """Start or stop a schedule; the state it has already is no error. NotFound for an unknown name."""
        served = self.schedules().get(name)
        if served is None:
            raise NotFound(f"no schedule {name!r} is served")
        if served.running == enabled:
            return
        if enabled:
            selector = {**self._selector, "scheduleName": name}
            self._ask(_START, {"selector": selector}, "startSchedule", "ScheduleStateResult")
        else:
            self._ask(_STOP, {"id": served.state_id}, "stopRunningSchedule", "ScheduleStateResult")

    def reload(self) -> None:
        """Reload the code location; returns when the new definitions are served. The old ones are served
        until then."""
        entry = self._ask(
            _RELOAD,
            {"location": self._location},
            "reloadRepositoryLocation",
            "WorkspaceLocationEntry",
            limit_s=self._reload_s,
        )
        loaded = entry.get("locationOrLoadError") or {}
        if loaded.get("__typename") == "PythonError":
            raise PlatformError(f"the code location does not load: {loaded.get('message')}")

    def partitions(self, key: tuple[str, ...]) -> list[str]:
        """The partition keys of an asset as they are served, ascending. NotFound for an unknown asset."""
        found = self._ask(_PARTITIONS, {"key": {"path": list(key)}}, "assetNodeOrError", "AssetNode")
        return [str(day) for day in found["partitionKeys"]]

    def daemon_beats(self) -> dict[str, float | None]:
        """The last heartbeat of each required daemon part: seconds of the epoch, None = never."""
        document = self._answered({"query": _DAEMONS, "variables": {}})
        return {
            row["daemonType"]: row["lastHeartbeatTime"]
            for row in document["data"]["instance"]["daemonHealth"]["allDaemonStatuses"]
            if row["required"]
        }

    def _answered(self, body: Mapping[str, Any], limit_s: float | None = None) -> dict[str, Any]:
        document = self._post(body, self._timeout if limit_s is None else limit_s)
        if document.get("errors"):
            raise PlatformError(f"Dagster refused the query: {document['errors'][0].get('message')}")
        return document

    def _ask(
        self,
        query: str,
        variables: Mapping[str, Any],
        answer: str,
        requested: str,
        limit_s: float | None = None,
    ) -> dict[str, Any]:
        document = self._answered({"query": query, "variables": variables}, limit_s)
        found: dict[str, Any] = document["data"][answer]
        if found["__typename"] != requested:
            message = str(found.get("message", found["__typename"])).strip().splitlines()[0]
            if "NotFound" in found["__typename"]:
                raise NotFound(message)
            raise PlatformError(f"{answer}: {message}")
        return found

    def _post(self, body: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=limit_s)
        try:
            connection.request(
                "POST", "/graphql", json.dumps(body).encode(), {"Content-Type": "application/json"}
            )
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            address = f"{self._host}:{self._port}"
            raise Unavailable(f"Dagster's webserver does not answer at {address}: {error}") from error
        finally:
            connection.close()
        try:
            document = json.loads(text)
        except ValueError:
            raise Unavailable(f"Dagster's webserver answered {response.status} without JSON") from None
        return document if isinstance(document, dict) else {}


def run_url(settings: Settings, run_id: str | None) -> str | None:
    """The page of a run in the Dagster UI."""
    return None if run_id is None else f"http://127.0.0.1:{settings.dagster_port}/runs/{run_id}"
