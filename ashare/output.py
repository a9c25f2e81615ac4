"""What the commands print: results on standard output, progress and errors on standard error."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import click

IN_PART = 3
"""Exit code: a part of what was asked for is loaded, and the answer names the rest."""


class Output:
    """`as_json`: one JSON document on standard output, errors as {"ok": false, ...} on standard error."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def result(self, value: Any, lines: Sequence[str]) -> None:
        """`value` as JSON, or `lines` for a person."""
        text = (
            json.dumps(value, ensure_ascii=False, indent=1, default=str) if self.as_json else "\n".join(lines)
        )
        click.echo(text)

    def note(self, line: str) -> None:
        """A line beside the result; none with --json."""
        if not self.as_json:
            click.echo(line, err=True)

    def failed(self, message: str, parameter: str | None = None) -> None:
        """Why a command failed; `parameter` is the argument or option that caused it."""
        if self.as_json:
            fault = {"ok": False, "error": message, **({"parameter": parameter} if parameter else {})}
            click.echo(json.dumps(fault, ensure_ascii=False), err=True)
        else:
            click.echo(f"error: {message}", err=True)

    def progress(self, label: str, length: int) -> "Progress":
        """A progress bar on standard error where that is a terminal, else a line per tenth."""
        return Progress(self, label, length)


class Progress:
    """Use as a context; `at(done)` moves it."""

    def __init__(self, out: Output, label: str, length: int) -> None:
        self._out, self._label, self._length = out, label, max(length, 1)
        self._done = self._tenth = 0
        self._begun = time.monotonic()
        self._bar: Any = (
            click.progressbar(length=self._length, label=label, file=sys.stderr, show_pos=True, show_eta=True)
            if sys.stderr.isatty() and not out.as_json
            else None
        )

    def __enter__(self) -> "Progress":
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def at(self, done: int, failed: int = 0) -> None:
        if self._bar is not None:
            self._bar.update(done - self._done)
            if failed:
                self._bar.label = f"{self._label}, {failed} failed"
        elif done * 10 // self._length > self._tenth:
            self._tenth = done * 10 // self._length
            lost = f", {failed} failed" if failed else ""
            self._out.note(f"{self._label}: {done} of {self._length}{lost}{self._rate(done)}")
        self._done = done

    def _rate(self, done: int) -> str:
        """How many a second, and the seconds that the rest takes then."""
        rate = done / max(time.monotonic() - self._begun, 1e-3)
        return f", {rate:,.1f} a second, {(self._length - done) / rate:,.0f} s left" if rate else ""

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)


def table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """Rows as lines with aligned columns, without a line of names."""
    cells = [["" if row.get(name) is None else str(row[name]) for name in columns] for row in rows]
    widths = [max((len(line[at]) for line in cells), default=0) for at in range(len(columns))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
