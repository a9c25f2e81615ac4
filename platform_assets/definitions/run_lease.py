"""The domain lease of a run: taken for the asset, or handed over by the process that started the run."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from resources.orchestrator import CODES_TAG
from resources.warehouse.locks import DomainLocks, Lease

LEASE_TAG = ".dagster/app/lease"
OTHERS_S = 120.0
"""How long a step waits for another run: most hold a domain for seconds, for the rows of one table."""


def lease_tag(lease: Lease) -> str:
    """A lease as a run tag, so that the assets of a run that was started under it write under it."""
    return json.dumps({"domains": lease.domains, "owner": lease.owner, "tokens": lease.tokens})


@contextmanager
def lease_for(
    locks: DomainLocks, domain: str | None, tags: Mapping[str, str], run_id: str
) -> Iterator[Lease | None]:
    """The lease under which an asset of `domain` writes; None for assets without a domain, and for a run
    that is limited to codes: it upserts single rows, which need nobody to wait.

    Steps of one run that several workers carry out take turns, and one that a worker left when it died is
    waited out. Raises ConflictError when another run still holds the domain after `OTHERS_S`.
    """
    if domain is None or tags.get(CODES_TAG):
        yield None
        return
    if LEASE_TAG in tags:
        held = json.loads(tags[LEASE_TAG])
        lease = Lease(tuple(held["domains"]), held["owner"], tuple(held["tokens"]))
        if domain in lease.domains:
            yield lease
            return
    with locks.held((domain,), f"run:{run_id[:8]}", run_id=run_id, others_s=OTHERS_S) as lease:
        yield lease
