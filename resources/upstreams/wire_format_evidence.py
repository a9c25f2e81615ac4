"""Evidence for the wire format of each call, in addition to its documents (`data/evidence.csv`).

`recorded`: a real answer is stored, and its parser reads it. `witnessed`: a public client of others reads the
same fields. `assumed`: neither; the format is as the documents say.
"""

import csv
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from core.errors import DeclarationError

CLASSES = ("recorded", "witnessed", "assumed")


@dataclass(frozen=True)
class Evidence:
    """`call` as a fetch function writes it after `ctx.`; `witness` with version and function; `reads` the
    fields or reports; `where` the recording."""

    call: str
    kind: str
    witness: str
    reads: str
    where: str

    @property
    def is_proved(self) -> bool:
        """Whether there is evidence other than documents."""
        return self.kind != "assumed"

    def text(self) -> str:
        """In one cell of a table."""
        proof = self.where or self.witness
        return f"{self.kind}: {proof}" if proof else self.kind


@cache
def evidence() -> dict[str, Evidence]:
    """Every record by its call. DeclarationError for one that says too little, or a call twice."""
    found: dict[str, Evidence] = {}
    text = files("resources").joinpath("data/evidence.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        one = Evidence(row["call"], row["evidence"], row["witness"], row["reads"], row["where"])
        proof = {"recorded": one.where, "witnessed": one.witness, "assumed": "nothing"}.get(one.kind)
        if not proof or one.call in found:
            raise DeclarationError(
                f"evidence of {one.call}: {one.kind!r} without its proof, or declared twice"
            )
        found[one.call] = one
    return found


@dataclass(frozen=True)
class ColumnEvidence:
    """A column that a request to the data centre names: one wrong name there costs the whole answer."""

    report: str
    column: str
    kind: str
    proof: str


@cache
def columns() -> tuple[ColumnEvidence, ...]:
    """Every record of `data/evidence_columns.csv`."""
    text = files("resources").joinpath("data/evidence_columns.csv").read_text(encoding="utf-8")
    return tuple(
        ColumnEvidence(row["report"], row["column"], row["evidence"], row["proof"])
        for row in csv.DictReader(text.splitlines())
    )


def counts() -> dict[str, Counter[str]]:
    """Upstream -> how many of its calls are of each class."""
    made: dict[str, Counter[str]] = {}
    for one in evidence().values():
        made.setdefault(one.call.partition(".")[0], Counter())[one.kind] += 1
    return made


def weakest(calls: frozenset[str]) -> str:
    """The class of work that needs all of these calls; `assumed` where none is known."""
    return max((evidence()[call].kind for call in calls), key=CLASSES.index, default="assumed")
