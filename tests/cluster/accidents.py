"""Accidents in the middle of a run, and what its event log says of each: what went on, where, how late."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

_WORKER = re.compile(r"step_worker-(\d+)@")


@dataclass
class Accident:
    """`act` happens when `share` of the steps of the run are done; its text says what happened. `restarted`:
    it brings back what it killed."""

    name: str
    share: float
    act: Callable[[Any, str], str]
    restarted: bool = False
    at: float = 0.0
    back: float = 0.0
    said: str = ""


@dataclass
class Accidents:
    """Looks at a run and does what is due, one accident at a time. `steps`: how many the run has."""

    instance: Any
    steps: int
    planned: Sequence[Accident]
    done: list[Accident] = field(default_factory=list)

    def look(self, run_id: str) -> None:
        left = [one for one in self.planned if one not in self.done]
        if not left:
            return
        finished = self.instance.get_run_stats(run_id).steps_succeeded
        if finished >= left[0].share * self.steps:
            left[0].at = time.time()
            left[0].said = left[0].act(self.instance, run_id)
            left[0].back = time.time()
            if not left[0].restarted:  # it looked for its victim first
                left[0].at = left[0].back
            self.done.append(left[0])


@dataclass(frozen=True)
class Event:
    at: float
    kind: str
    step: str
    worker: int


def events(instance: Any, run_id: str) -> list[Event]:
    """Beginnings and ends of steps in their order; `worker`: the process that took the step from its queue,
    0 where the event does not say."""
    found = []
    for entry in instance.all_logs(run_id):
        event = entry.dagster_event
        if event is None or not event.step_key:
            continue
        kind, worker = event.event_type_value, 0
        if kind == "ENGINE_EVENT":
            if "in celery worker" not in (event.message or ""):
                continue
            kind = "TAKEN"
            metadata = event.engine_event_data.metadata
            match = _WORKER.search(str(metadata["Celery worker"].value))
            worker = int(match[1]) if match else 0
        found.append(Event(entry.timestamp, kind, event.step_key, worker))
    return sorted(found, key=lambda event: event.at)


def at_work(found: Sequence[Event], moment: float) -> list[Event]:
    """The beginnings of the steps that were under way at a moment."""
    begun: dict[str, Event] = {}
    for event in found:
        if event.at > moment:
            break
        if event.kind == "TAKEN":
            begun[event.step] = event
        elif event.kind in ("STEP_SUCCESS", "STEP_FAILURE"):
            begun.pop(event.step, None)
    return list(begun.values())


def report(accident: Accident, found: Sequence[Event], began: float) -> str:
    """One line: what took over, what was done twice, and the seconds until the run went on."""
    struck = {event.step: event for event in at_work(found, accident.at)}
    again = [
        event for event in found if event.kind == "TAKEN" and event.at > accident.at and event.step in struck
    ]
    done = [event for event in found if event.kind == "STEP_SUCCESS" and event.at > accident.at]
    parts = [f"cluster day: {accident.at - began:.0f} s after its start {accident.name} ({accident.said})"]
    if accident.restarted:
        parts.append(f"it was back after {accident.back - accident.at:.1f} s")
    for event in again:
        before = struck[event.step]
        way = "the same worker" if event.worker == before.worker else f"worker {event.worker}"
        parts.append(
            f"{event.step} begun again by {way} after {event.at - accident.at:.1f} s "
            f"({accident.at - before.at:.1f} s of it lost)"
        )
    ended = {event.step: event for event in reversed(done)}
    for step in struck.keys() - {event.step for event in again}:
        late = f" and was done after {ended[step].at - accident.at:.1f} s" if step in ended else ""
        parts.append(f"{step} went on{late}")
    parts.append(f"repeated steps: {len(again)}")
    if done:
        parts.append(f"the next step was done after {done[0].at - accident.at:.1f} s")
    return ", ".join(parts)
