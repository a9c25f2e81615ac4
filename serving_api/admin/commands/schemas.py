"""Response models of commands."""

from typing import Any, Literal

from pydantic import BaseModel

CommandStatus = Literal["queued", "running", "success", "failed", "canceled"]


class CommandItem(BaseModel):
    """A command in the queue. `result` is its progress while it runs."""

    id: int
    command: str
    args: dict[str, Any]
    status: CommandStatus
    requested_by: str | None
    requested_at: str | None
    started_at: str | None
    finished_at: str | None
    run_id: str | None
    run_url: str | None
    result: dict[str, Any] | None
    message: str | None


class Canceled(BaseModel):
    """`running`: it stops at its next safe point."""

    id: int
    status: CommandStatus
