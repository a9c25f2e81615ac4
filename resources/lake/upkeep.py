"""Upkeep of the published tables: what no reader needs any more is deleted."""

from dataclasses import dataclass

from resources.lake.location import Lake, lake_failures

KEPT_DAYS = 7
"""Days for which an old version stays readable, and files that a killed process left stay."""


@dataclass(frozen=True)
class Upkeep:
    """What was done to one table."""

    table: str
    compacted: int
    deleted: int


def tidy(lake: Lake, name: str, *, kept_days: float = KEPT_DAYS) -> Upkeep:
    """Join small files of a partition, write a checkpoint of the log, drop expired log entries, and delete
    the files that no version of the last `kept_days` days names. Raises NotFound, StorageError."""
    delta = lake.delta(name)
    with lake_failures(f"the lake's table {name} cannot be tidied up"):
        joined = delta.optimize.compact()
        delta.create_checkpoint()
        delta.cleanup_metadata()
        gone = delta.vacuum(
            retention_hours=int(kept_days * 24), dry_run=False, enforce_retention_duration=False, full=True
        )
    return Upkeep(name, int(joined["numFilesRemoved"]), len(gone))
