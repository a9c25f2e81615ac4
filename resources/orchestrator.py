"""Dagster's schedules and runs as the API and the worker reach them: over GraphQL, without Dagster.

Switching a schedule here and in the UI is one and the same switch. Opening an instance would cost a
second and an import; a call costs some milliseconds.
"""

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from core.errors import InputError, NotFound, PlatformError, Unavailable
from resources.secret_files import load_secret
from resources.settings import Settings

LOCATION = "platform"
REPOSITORY = "__repository__"
ASSET_JOB = "__ASSET_JOB"
"""Dagster's own job of every asset, for runs of some."""
PARTITION = "dagster/partition"
RANGE_START, RANGE_END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
TASK_TAG, TRIGGER_TAG = "app/task_key", "app/trigger"
SLOT_TAG = ".dagster/app/slot"
"""The scheduled run of a task."""
COMMAND_TAG = ".dagster/app/command_id"
"""On every run of a worker, and on no other."""
CODES_TAG = "app/codes"
"""Comma list of the codes that a run is limited to."""
SINCE_TAG = "app/since"
"""First day of the history that a run of some codes loads, up to its partition."""
AssetPath = tuple[str, ...]
ANSWER_S = 10.0
RELOAD_S = 300.0
"""A reload starts a process that imports the code location: some seconds, over a minute where others use the
machine. Given up early, it would be asked for again beside the one that is under way."""
LAUNCH_S = 120.0
"""A launch plans the run and writes an event for each date of each table."""

DAEMON_FRESH_S = 180.0
"""Each part of the daemon beats every half a minute, but not while it waits for the code server."""


class _Query(NamedTuple):
    """A question to Dagster: the field that it asks for, and the type of an answer that is no error."""

    answer: str
    requested: str | None
    text: str


_ERROR = "... on PythonError { className } ... on Error { message }"
_UNREACHED = frozenset((
    "DagsterUserCodeUnreachableError", "DagsterUserCodeUnreachableTimeoutError",
    "DagsterUserCodeProcessError", "DagsterCodeLocationLoadError", "DagsterCodeLocationNotFoundError",
    "RepositoryNotFoundError",
))  # fmt: skip
"""Errors of a webserver whose code server is away or loads."""
_SCHEDULES = _Query("schedulesOrError", "Schedules", """
query Schedules($selector: RepositorySelector!) {
  schedulesOrError(repositorySelector: $selector) {
    __typename
    ... on Schedules { results { name cronSchedule executionTimezone scheduleState { id status } } }
    """ + _ERROR + " } }")  # fmt: skip
_START = _Query("startSchedule", "ScheduleStateResult", """
mutation Start($selector: ScheduleSelector!) {
  startSchedule(scheduleSelector: $selector) { __typename """ + _ERROR + " } }")  # fmt: skip
_STOP = _Query("stopRunningSchedule", "ScheduleStateResult", """
mutation Stop($id: String!) {
  stopRunningSchedule(id: $id) { __typename """ + _ERROR + " } }")  # fmt: skip
_RELOAD = _Query("reloadRepositoryLocation", "WorkspaceLocationEntry", """
mutation Reload($location: String!) {
  reloadRepositoryLocation(repositoryLocationName: $location) {
    __typename
    ... on WorkspaceLocationEntry { locationOrLoadError { __typename ... on Error { message } } }
    ... on Error { message }
  }
}""")  # fmt: skip
_PARTITIONS = _Query("assetNodeOrError", "AssetNode", """
query Partitions($key: AssetKeyInput!) {
  assetNodeOrError(assetKey: $key) { __typename ... on AssetNode { partitionKeys } ... on Error { message } }
}""")  # fmt: skip
_LAUNCH = _Query("launchRun", "LaunchRunSuccess", """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on RunConfigValidationInvalid { errors { message } }
    ... on PythonError { className }
    ... on Error { message }
  }
}""")  # fmt: skip
_LAUNCH_BACKFILL = _Query("launchPartitionBackfill", "LaunchBackfillSuccess", """
mutation LaunchBackfill($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { className }
    ... on Error { message }
  }
}""")  # fmt: skip
_CANCEL_BACKFILL = _Query("cancelPartitionBackfill", "CancelBackfillSuccess", """
mutation CancelBackfill($id: String!) {
  cancelPartitionBackfill(backfillId: $id) { __typename ... on Error { message } }
}""")  # fmt: skip
_TERMINATE = _Query("terminateRun", "TerminateRunSuccess", """
mutation Terminate($id: String!) {
  terminateRun(runId: $id) {
    __typename
    ... on TerminateRunFailure { message }
    ... on Error { message }
  }
}""")  # fmt: skip
_DAEMONS = _Query("instance", None, """
query Daemons {
  instance { daemonHealth { allDaemonStatuses { daemonType required lastHeartbeatTime } } }
}""")  # fmt: skip


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
        authorization: str = "",
        timeout_s: float = ANSWER_S,
        reload_s: float = RELOAD_S,
    ) -> None:
        """`authorization`: the header of a program, where the webserver asks for a login."""
        self._host, self._port = host, port
        self._headers = {"Content-Type": "application/json"}
        if authorization:
            self._headers["Authorization"] = authorization
        self._selector = {"repositoryName": REPOSITORY, "repositoryLocationName": LOCATION}
        self._timeout, self._reload_s = timeout_s, reload_s

    @classmethod
    def of(cls, settings: Settings, port: int | None = None, *, timeout_s: float = ANSWER_S) -> Self:
        """The webserver of these settings; with a `port` that of this machine."""
        authorization = programs_authorization(settings) if settings.dagster_login else ""
        if port is None:
            port, host = settings.dagster_port, settings.dagster_host
        else:
            host = "127.0.0.1"
        return cls(port, host=host, authorization=authorization, timeout_s=timeout_s)

    def schedules(self) -> dict[str, ServedSchedule]:
        """Every served schedule by its name."""
        return {
            row["name"]: ServedSchedule(
                row["name"],
                cron=row["cronSchedule"],
                timezone=row["executionTimezone"],
                running=row["scheduleState"]["status"] == "RUNNING",
                state_id=row["scheduleState"]["id"],
            )
            for row in self._ask(_SCHEDULES, selector=self._selector)["results"]
        }

    def switch(self, name: str, enabled: bool) -> None:
        """Start or stop a schedule; the state it has already is no error. NotFound for an unknown name."""
        served = self.schedules().get(name)
        if served is None:
            raise NotFound(f"no schedule {name!r} is served")
        if served.running == enabled:
            return
        if enabled:
            self._ask(_START, selector={**self._selector, "scheduleName": name})
        else:
            self._ask(_STOP, id=served.state_id)

    def reload(self) -> None:
        """Reload the code location; returns when the new definitions are served. The old ones are served
        until then."""
        entry = self._ask(_RELOAD, self._reload_s, location=LOCATION)
        loaded = entry.get("locationOrLoadError") or {}
        if loaded.get("__typename") == "PythonError":
            raise PlatformError(f"the code location does not load: {loaded.get('message')}")

    def launch(
        self,
        job: str,
        tags: Mapping[str, str],
        run_config: Mapping[str, Any],
        assets: Sequence[AssetPath] = (),
    ) -> str:
        """The id of a new run of a job, or of `assets` by themselves. NotFound for an unknown job, InputError
        for a configuration that it does not take; Unavailable also while the code server is away or loads."""
        chosen = {"jobName": ASSET_JOB, "assetSelection": _keys(assets)} if assets else {"jobName": job}
        params = {
            "selector": {**self._selector, **chosen},
            "runConfigData": dict(run_config),
            "executionMetadata": {"tags": _pairs(tags)},
        }
        return str(self._launched(_LAUNCH, params)["run"]["runId"])

    def launch_backfill(
        self, assets: Sequence[AssetPath], days: Sequence[str], title: str, tags: Mapping[str, str]
    ) -> str:
        """The id of a new backfill: its daemon plans the runs as the assets' policy says. Raises as `launch`,
        NotFound also for a date that the code location, as it is served, does not know."""
        params = {
            "assetSelection": _keys(assets),
            "partitionNames": list(days),
            "title": title,
            "tags": _pairs(tags),
        }
        return str(self._launched(_LAUNCH_BACKFILL, params)["backfillId"])

    def cancel_backfill(self, backfill_id: str) -> None:
        """Ask for the end of a backfill and of its runs. PlatformError when there is none."""
        self._ask(_CANCEL_BACKFILL, id=backfill_id)

    def _launched(self, query: _Query, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._ask(query, LAUNCH_S, params=params)
        except NotFound:
            try:
                self.schedules()
            except PlatformError as error:
                raise Unavailable(f"the code location is not loaded: {error.message}") from error
            raise

    def terminate(self, run_id: str) -> None:
        """Ask for the end of a run. NotFound for an unknown one; PlatformError when it has ended."""
        self._ask(_TERMINATE, id=run_id)

    def partitions(self, key: tuple[str, ...]) -> list[str]:
        """The partition keys of an asset as they are served, ascending. NotFound for an unknown asset."""
        return [str(day) for day in self._ask(_PARTITIONS, key={"path": list(key)})["partitionKeys"]]

    def daemon_beats(self) -> dict[str, float | None]:
        """The last heartbeat of each required daemon part: seconds of the epoch, None = never."""
        return {
            row["daemonType"]: row["lastHeartbeatTime"]
            for row in self._ask(_DAEMONS)["daemonHealth"]["allDaemonStatuses"]
            if row["required"]
        }

    def _ask(self, query: _Query, limit_s: float | None = None, **variables: Any) -> dict[str, Any]:
        """What was asked for. NotFound, PlatformError where Dagster answers with an error."""
        document = self._post({"query": query.text, "variables": variables}, limit_s or self._timeout)
        if document.get("errors"):
            raise PlatformError(f"Dagster refused the query: {document['errors'][0].get('message')}")
        found: dict[str, Any] = document["data"][query.answer]
        kind = found.get("__typename")
        if kind != query.requested:
            message = str(found.get("message", kind)).strip().splitlines()[0]
            if found.get("className", kind) in _UNREACHED:
                raise Unavailable(message)
            if found.get("errors"):
                raise InputError("run_config", str(found["errors"][0]["message"]).partition("\n")[0])
            if "NotFound" in str(kind):
                raise NotFound(message)
            raise PlatformError(f"{query.answer}: {message}")
        return found

    def _post(self, body: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=limit_s)
        try:
            connection.request("POST", "/graphql", json.dumps(body).encode(), self._headers)
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


def programs_authorization(settings: Settings) -> str:
    """The Authorization header by which the platform's processes pass the login of the Dagster UI."""
    return f"Bearer {load_secret(settings.data_path / 'secrets' / 'dagster_key').hex()}"


def _keys(assets: Sequence[AssetPath]) -> list[dict[str, Any]]:
    return [{"path": list(path)} for path in assets]


def _pairs(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in tags.items()]


def run_url(settings: Settings, run_id: str | None) -> str | None:
    """The page of a run in the Dagster UI."""
    return None if run_id is None else f"http://127.0.0.1:{settings.dagster_port}/runs/{run_id}"
