"""Asks every server for one call of each kind, and keeps what was seen."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from core.errors import PayloadError, Transient, Unavailable
from resources.transport.servers import ServerRecord
from resources.upstreams.tdx.connection import Connection
from resources.upstreams.tdx.frames import Call, Kind
from resources.upstreams.tdx.primitives import SOURCE
from resources.upstreams.tdx.proofs import has_rows
from resources.upstreams.tdx.session import Session

_AT_ONCE = 8


def survey(session: Session) -> dict[str, str]:
    """Ask every server for one call of each kind; host -> why it could not be asked. What each serves is in
    the session's records afterwards, and shown by `ranking`."""
    calls = session.proofs.first_calls()
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as threads:
        problems = threads.map(lambda host: _look(session, host, calls), session.pool.hosts)
        return {host: why for host, why in zip(session.pool.hosts, problems, strict=True) if why}


def ranking(session: Session, kind: Kind) -> list[tuple[str, ServerRecord]]:
    """All servers with what is known of them, in the order in which they are asked for the kind."""
    known = session.servers.records.all()
    return [(host, known.get(host, ServerRecord())) for host in session.servers.order(kind)]


def _look(session: Session, host: str, calls: Mapping[Kind, Call]) -> str:
    records = session.servers.records
    try:
        session.gate.enter(SOURCE, host)
        with closing(session.pool.connect(host)) as connection:
            records.measured(host, connection.greeted_ms)
            for kind, call in calls.items():
                records.saw(host, kind, serves=_serves(connection, call))
    except Unavailable as refusal:
        return refusal.message
    except Transient as error:
        records.failed(host)
        session.gate.failed(SOURCE, host, error)
        return error.message
    session.gate.succeeded(SOURCE, host)
    return ""


def _serves(connection: Connection, call: Call) -> bool:
    try:
        return has_rows(call, connection.exchange(call))
    except PayloadError:
        return False
