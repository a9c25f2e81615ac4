"""Reads of the database's pulse and of the processes' heartbeats."""

from typing import Any

from serving_api.reading import Session


def ping(session: Session) -> None:
    session.ping()


def newest_beat(session: Session) -> tuple[str | None, Any] | None:
    """(beat_at, state_json) of the scheduler side that was heard last; None when there never was one."""
    found = session.rows(
        "sys_heartbeat",
        columns=("beat_at", "state_json"),
        where="role IN ('all', 'worker') AND beat_at IS NOT NULL",
        order="beat_at DESC",
        limit=1,
    )
    return (found[0][0], found[0][1]) if found else None
