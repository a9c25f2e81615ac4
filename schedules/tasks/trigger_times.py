"""Changed trigger times as a file of the data folder, so that loading the definitions opens no database.

The worker writes the file from the task table before it has the code location reloaded; the code location
reads it. A missing or outdated file is harmless: the worker sees served times that differ from the table,
writes the file and reloads, and until then the sensor fires the moved runs.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from core.errors import InputError
from resources.shared_json import locked, replace_json
from resources.warehouse.ledger.tasks import Task, early_tasks
from resources.warehouse.ledger.tasks_state import TaskState

FILE = "trigger_times.json"
log = logging.getLogger(__name__)


def write_times(folder: Path, states: Iterable[TaskState]) -> None:
    """Stores the times of day (HHMM) of the tasks that were moved. Raises StorageError."""
    moved = {
        state.key: state.task.timing.hm for state in states if state.task.timing != state.declared.timing
    }
    with locked(folder):
        replace_json(folder / FILE, moved)


def read_times(folder: Path) -> dict[str, int]:
    """Task key -> changed time of day (HHMM); empty without a file, and for one that is no such table."""
    path = folder / FILE
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(key): int(hm) for key, hm in stored.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.warning("%s is not readable, declared times are served: %s", path, error)
        return {}


def moved_tasks(tasks: Sequence[Task], times: Mapping[str, int]) -> list[TaskState]:
    """The tasks at their changed times; as declared where the change is not valid for the task any more. One
    that is due before what it waits for is logged."""
    moved = [TaskState(declared=task, task=_moved(task, times.get(task.key))) for task in tasks]
    for early in early_tasks([state.task for state in moved]):
        log.warning("%s", early.text)
    return moved


def _moved(task: Task, hm: int | None) -> Task:
    try:
        return task.moved(hm)
    except InputError as error:
        log.warning("task %s keeps its declared time: %s", task.key, error.message)
        return task
