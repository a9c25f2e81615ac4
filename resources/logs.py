"""The log of one process: JSON or text, every record redacted, ids of request, run and batch as fields.

`configure(settings, process)` once per process. Records go to the error stream and to
`DATA_DIR/logs/<process>.log`, unless a supervisor reads that stream and owns the file. Nothing of a record
leaves unredacted: message, fields, traceback, and what an uncaught exception would print.
"""

import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from resources.log_files import RotatingLog
from resources.redact import MASK, redact
from resources.settings import Settings

FIELDS = ("request_id", "run_id", "batch_id", "command_id", "task", "trade_date")
"""Fields that a record may carry with its message: through `bound` (which a thread pool of ours hands on to
its threads), or `extra=` of a log call."""
SUPERVISED = "APP_PARENT_PID"
"""Set by the supervisor for the processes whose output it reads."""
MIN_SECRET = 6
"""Shorter values are not masked by themselves, since too many harmless words contain them."""

_SHANGHAI = timedelta(hours=8)
_CHATTY = (
    "httpx", "httpcore", "httpx2", "httpcore2", "anthropic", "openai", "asyncio", "alembic", "watchfiles",
)  # fmt: skip
_fields: ContextVar[Mapping[str, Any]] = ContextVar("log_fields", default={})  # noqa: B039  never changed
_installed: list[logging.Handler] = []

Mask = Callable[[str], str]


class bound:
    """Records within carry these fields (names of FIELDS; None is left out)."""

    def __init__(self, **fields: Any) -> None:
        self._bound = fields

    def __enter__(self) -> None:
        given = {key: value for key, value in self._bound.items() if value}
        self._token = _fields.set({**_fields.get(), **given})

    def __exit__(self, *_: object) -> None:
        _fields.reset(self._token)


def masker(secrets: Iterable[str]) -> Mask:
    """`redact` that also masks these values anywhere in a text."""
    known = sorted({value for value in secrets if len(value) >= MIN_SECRET}, key=len, reverse=True)

    def mask(text: str) -> str:
        for value in known:
            text = text.replace(value, MASK)
        return redact(text)

    return mask


class Formatter(logging.Formatter):
    """One line per record in JSON, or lines for a reader."""

    def __init__(self, process: str, mask: Mask, *, as_json: bool) -> None:
        super().__init__()
        self._process = process
        self._mask = mask
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).replace(tzinfo=None) + _SHANGHAI
        message, error = self._mask(_message(record)), self._mask(_error(record))
        fields = {
            name: self._mask(str(value))
            for name, value in {**_fields.get(), **record.__dict__}.items()
            if name in FIELDS and value is not None
        }
        if self._as_json:
            shown = {
                "time": f"{time.isoformat(timespec='milliseconds')}+08:00",
                "level": record.levelname,
                "process": self._process,
                "pid": record.process,
                "logger": record.name,
                "message": message,
                **fields,
            }
            return json.dumps(shown | ({"error": error} if error else {}), ensure_ascii=False)
        ids = "".join(f" {name}={value}" for name, value in fields.items())
        line = (
            f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d} {record.levelname} {record.name}{ids}"
        )
        return f"{line} {message}" + (f"\n{error}" if error else "")


def is_record(line: bytes) -> bool:
    """Whether a line of output is a JSON record of ours, redacted already."""
    return line.startswith(b'{"time": "')


def said(line: str) -> str:
    """What a line of output says to a person: of a record its message and the error's last line."""
    if not is_record(line.encode()):
        return line
    try:
        record = json.loads(line)
    except ValueError:
        return line
    error = str(record.get("error", "")).strip().rpartition("\n")[2]
    return f"{record['message']}: {error}" if error else str(record["message"])


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        # Placeholders and arguments do not fit; the standard answer would print both unredacted.
        return f"{record.msg} {record.args!r}"


def _error(record: logging.LogRecord) -> str:
    parts = []
    if record.exc_info and record.exc_info[1] is not None:
        parts.append("".join(traceback.format_exception(*record.exc_info)).rstrip())
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)


class _Console(logging.StreamHandler[Any]):
    """The error stream as it is now, not as it was when the log was set up."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr

    def handleError(self, record: logging.LogRecord) -> None:
        """A reader that is gone loses lines; the standard answer prints the record unredacted."""


class _File(logging.Handler):
    def __init__(self, log: RotatingLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        self._log.write(f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        self._log.close()
        super().close()


def configure(settings: Settings, process: str, *, console: bool = True) -> None:
    """Send this process's records where they belong; a second call replaces the first. `console` False:
    the error stream belongs to a person (the supervisor's terminal)."""
    unconfigure()
    formatter = Formatter(process, masker(settings.secrets), as_json=settings.log_format == "json")
    if console:
        _installed.append(_Console())
    if not os.environ.get(SUPERVISED):
        _installed.append(_File(RotatingLog(settings.data_path / "logs" / f"{process}.log")))
    root = logging.getLogger()
    root.setLevel(settings.log_level.upper())
    for handler in _installed:
        handler.setFormatter(formatter)
        root.addHandler(handler)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def ensure(settings: Settings, process: str) -> None:
    """`configure`, unless this process has a log already."""
    if not _installed:
        configure(settings, process)


def unconfigure() -> None:
    """Remove our handlers and close the file."""
    while _installed:
        handler = _installed.pop()
        logging.getLogger().removeHandler(handler)
        handler.close()
    logging.captureWarnings(False)
    sys.excepthook = sys.__excepthook__
    threading.excepthook = threading.__excepthook__


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    logging.getLogger("process").critical("uncaught %s", kind.__name__, exc_info=(kind, error, trace))


def _uncaught_in_thread(facts: threading.ExceptHookArgs) -> None:
    if facts.exc_value is not None and not issubclass(facts.exc_type, SystemExit):
        name = facts.thread.name if facts.thread else "?"
        logging.getLogger("process").critical(
            "uncaught %s in thread %s",
            facts.exc_type.__name__,
            name,
            exc_info=(facts.exc_type, facts.exc_value, facts.exc_traceback),
        )
