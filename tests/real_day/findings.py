"""A compared item with its figure, and the plain text that a run prints."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH = 110
_SHOWN = 8


@dataclass
class Finding:
    """One named item. `detail` lines are printed below it."""

    name: str
    figure: str
    ok: bool = True
    detail: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        mark = "PASS" if self.ok else "FAIL"
        head = f"  [{mark}] {self.name:<56} {self.figure}"
        return [head, *(f"           {line}" for line in self.detail)]


@dataclass
class Section:
    """Findings under a title; `notes` are figures that nothing is compared with."""

    title: str
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, figure: str, ok: bool = True, detail: Iterable[str] = ()) -> None:
        self.findings.append(Finding(name, figure, ok, list(detail)))

    def equal(
        self, name: str, compared: int, wrong: Sequence[str], more: str = "", *, needed: bool = False
    ) -> None:
        """`wrong` names what differs. A set without such rows has nothing to be wrong; what is `needed`
        is in every set, and nothing compared of it is a failure."""
        figure = f"{max(compared - len(wrong), 0):,} of {compared:,} equal" + (f"; {more}" if more else "")
        if not compared and not wrong:
            figure = f"none in these files{'' if not needed else ', but every set has some'}"
        self.add(name, figure, (compared > 0 or not needed) and not wrong, shortened(wrong))

    @property
    def failed(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.ok]

    def lines(self) -> list[str]:
        out = [self.title, "-" * len(self.title)]
        out += [f"  {note}" for note in self.notes]
        for finding in self.findings:
            out += finding.lines()
        return [*out, ""]


def shortened(lines: Sequence[str], most: int = _SHOWN) -> list[str]:
    rest = len(lines) - most
    return [*lines[:most], *([f"... and {rest} more"] if rest > 0 else [])]


def wrapped(words: Iterable[str], separator: str = "  ") -> list[str]:
    """Words as lines of the report's width."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(separator) + len(word) <= WIDTH:
            lines[-1] += separator + word
        else:
            lines.append(word)
    return lines
