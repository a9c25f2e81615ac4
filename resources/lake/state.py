"""What a published table holds: for each month the version of the warehouse's table that it was made of.

Kept in the table itself, as transaction identifiers of the Delta protocol (application id -> number), so
that a commit moves rows and state together, and every snapshot answers without reading old commits:

    epoch              counts the publications from the start (another warehouse, a restored one)
    <epoch>/complete   every month is published as of this version, unless a later entry names it
    <epoch>/month/<m>  the version that the month m is published as of
    <epoch>/version    version of the newest commit
    <epoch>/batch      number of the batch that made that version (`batch_number`)
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from deltalake import Transaction

from resources.warehouse.month_changes import MonthChanges

Lookup = Callable[[str], int | None]


def batch_number(batch_id: str) -> int:
    """60 bits of a batch's id; 0 for none. The protocol knows numbers only."""
    return int(batch_id[:15], 16) if batch_id else 0


@dataclass(frozen=True)
class Published:
    """The state of one snapshot. `complete` None: the first publication is not finished."""

    epoch: int = 0
    version: int = 0
    batch: int = 0
    complete: int | None = None
    lookup: Lookup = field(default=lambda _name: None, repr=False, compare=False)

    @classmethod
    def of(cls, lookup: Lookup) -> "Published":
        """The state that the identifiers of a snapshot tell."""
        epoch = lookup("epoch")
        if epoch is None:
            return cls()
        found = {name: lookup(f"{epoch}/{name}") for name in ("version", "batch", "complete")}
        return cls(epoch, found["version"] or 0, found["batch"] or 0, found["complete"], lookup)

    def month(self, month: str) -> int | None:
        """The version that a month is published as of; None for one that is not."""
        if not self.epoch:
            return None
        own = self.lookup(f"{self.epoch}/month/{month}")
        return own if self.complete is None or (own or 0) > self.complete else self.complete

    def since(self, months: Iterable[str]) -> int:
        """The version after which changes of the warehouse concern these months."""
        if self.complete is not None:
            return self.complete
        known = [version for version in map(self.month, months) if version is not None]
        return min(known, default=self.version)

    def behind(self, months: Iterable[str], changes: MonthChanges) -> list[str]:
        """Those of `months` whose published rows are not the warehouse's."""
        return [month for month in months if self._is_behind(month, changes)]

    def _is_behind(self, month: str, changes: MonthChanges) -> bool:
        published = self.month(month)
        return published is None or changes.months.get(month, 0) > published


def marks(
    epoch: int, months: Mapping[str, int], version: int, batch_id: str, complete: int | None
) -> list[Transaction]:
    """The identifiers of a commit that publishes `months` (month -> version)."""
    made = {"epoch": epoch, f"{epoch}/version": version, f"{epoch}/batch": batch_number(batch_id)}
    made |= {f"{epoch}/month/{month}": of for month, of in months.items()}
    if complete is not None:
        made[f"{epoch}/complete"] = complete
    return [Transaction(name, number) for name, number in made.items()]
