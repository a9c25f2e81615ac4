"""Asking the sources of a table, in their order, until one answered in full.

A fallback is taken for a stated reason, and the reason goes into the batch. Nothing that arrives here
incomplete, of the wrong date or of the wrong instrument goes any further.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from core.declaration.dataset import MIN_COVERAGE, Source
from core.declaration.scope import Scope
from core.errors import NotServed, PayloadError, PlatformError, Unavailable, UpstreamError
from platform_assets.pipeline.missing_parts import Answer, Missing, not_brought
from platform_assets.pipeline.windows import Window
from resources.fetch_record import FetchLog
from resources.redact import redact
from resources.rejections import Rejection, noting
from resources.upstreams.fetch_context import FetchContext

log = logging.getLogger(__name__)
_MOST_NAMED = 100
AskErrors = (UpstreamError, PayloadError, Unavailable)


@dataclass
class Download:
    """Rows of all sources that answered (`src` set), what each did, and their responses."""

    frame: pd.DataFrame
    sources: list[dict[str, Any]] = field(default_factory=list)
    log: FetchLog = field(default_factory=FetchLog)
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    """(source, code or symbol, reason) of single answers, or of single rows of an answer, that were
    refused; the rest was accepted."""
    not_served: dict[str, str] = field(default_factory=dict)
    """Codes (or dates) that no source answered for -> what the last of them said."""
    missing: Missing = field(default_factory=dict)
    """Parts of the table that no source brought, of the market as a whole."""
    odd_rows: int = 0
    """Rows among them."""

    @property
    def asked(self) -> bool:
        """Whether the rows come from an upstream, by a call of this load or by a shared answer."""
        return any(item["calls"] or item["fetch_ids"] for item in self.sources)

    @property
    def answering(self) -> list[str]:
        """The sources that were asked and answered."""
        made = [
            item for item in self.sources if (item["calls"] or item["fetch_ids"]) and not item.get("error")
        ]
        return list(dict.fromkeys(str(item["src"]) for item in made))

    @property
    def failed(self) -> list[dict[str, Any]]:
        return [item for item in self.sources if item.get("error")]

    @property
    def why_failed(self) -> str:
        """What each source said that did not answer."""
        return "; ".join(f"{item['src']}: {item['reason']}" for item in self.failed)


class AllSourcesFailed(PlatformError):
    """No source of a table answered; carries what each of them said."""

    def __init__(self, message: str, download: Download) -> None:
        super().__init__(message)
        self.download = download


@dataclass
class _Answers:
    """What the sources of one request have brought so far."""

    parts: list[pd.DataFrame] = field(default_factory=list)
    empty: list[pd.DataFrame] = field(default_factory=list)
    missing: dict[str, str] | None = None
    """Codes or dates that no source has answered for yet; None before one has answered."""
    served: set[str] = field(default_factory=set)
    of_parts: list[Answer] = field(default_factory=list)
    """Answers of the sources that bring parts of the table."""

    def lacking(self, days: Sequence[str], is_out: Callable[[str], bool]) -> frozenset[str]:
        """Parts that nobody has brought by now."""
        return frozenset().union(*not_brought(self.of_parts, days, is_out).values())


def ask(
    sources: Sequence[Source],
    ctx: FetchContext,
    scope: Scope,
    *,
    ask_all: bool = False,
    also: str = "",
    expected: Callable[[Any, Scope], int] | None = None,
    window: Window,
    may_be_unserved: bool = False,
    empty_is_answer: bool = False,
    of_stocks: bool = True,
    not_listed: Callable[[str], frozenset[str]] = lambda _day: frozenset(),
    is_out: Callable[[str], bool] = lambda _day: True,
) -> Download:
    """Ask `sources` in order. What the first one that answered did not answer for (`ctx.not_served`, parts of
    the table) is asked for from the next ones, and nothing else. `ask_all` asks every one and needs one
    success; `also` names one source that is asked in addition to the first success (its failure is recorded
    and tolerated).
    `may_be_unserved`: that no source can serve the scope at all is an empty answer. `empty_is_answer`: of
    named codes no row is an answer as well, where a row is promised; the next source is asked all the same.
    `of_stocks`: codes of the rows are those of securities, of which a watch list holds some alone.
    `not_listed`: codes of which nobody can have rows of a date; `is_out`: whether the figures of a date are
    published.

    Raises AllSourcesFailed when none answered in full.
    """
    download = Download(pd.DataFrame(), log=ctx.log)
    found = _Answers()
    lenient = empty_is_answer and scope.codes is not None
    days = scope.dates if window.dated else (scope.until,)
    for source in sources:
        asked, part_of = scope, False
        if found.parts and not ask_all and not (source.beside and source.name == also):
            if found.missing:
                asked, part_of = _rest(scope, found.missing), True
            elif not found.lacking(days, is_out).intersection(source.parts):
                continue
        if source.only_when is not None and not source.only_when(ctx, asked):
            continue
        if ctx.direct and download.sources:
            break  # DATA_SOURCE=direct: the first source that serves this scope, whatever it says
        before, known = len(ctx.log.items), len(ctx.problems)
        ctx.begin_source()
        note: dict[str, Any] = {"src": source.name}
        if part_of:
            note["asked_for"] = sorted(found.missing or ())[:_MOST_NAMED]
        noted: list[Rejection] = []
        try:
            with noting() as noted:
                frame = source.fetch(ctx, asked)
            _check_served(frame, source.name, ctx, lenient=lenient)
            _complete(frame, source.name, ctx, asked, None if part_of or lenient else expected, window)
            kept = ctx.of_watched(frame) if of_stocks and scope.codes is None else frame
            named = kept if "src" in kept.columns else kept.assign(src=source.name)
            put_aside = frame.empty and lenient and (expected is not None or not _served(ctx))
            (found.empty if put_aside else found.parts).append(named)
            note["rows"] = len(frame)
            if ctx.not_served:
                note["not_served"] = len(ctx.not_served)
            subject = next((name for name in ("code", "index_code") if name in frame.columns), None)
            found.served |= set() if subject is None else set(frame[subject])
            unlisted = not_listed(scope.until) if ctx.not_served else frozenset()
            found.missing = _missing(ctx.not_served, found, unlisted, ask_all=ask_all)
        except Exception as error:
            note |= _failure(error, source.name)
        if source.parts and asked.codes == scope.codes:
            held = frame[str(window.date_column)] if window.dated and "error" not in note else ()
            of = asked.dates if window.dated else days
            given = frozenset(str(one)[:10] for one in held)
            found.of_parts.append(Answer(source, of, note.get("reason"), dict(ctx.not_served), given))
        _finish(download, note, ctx, before, ctx.problems[known:], noted)
    if not found.parts and not download.sources and (may_be_unserved or empty_is_answer):
        return download
    return _joined(download, found, scope, not_brought(found.of_parts, days, is_out))


def _failure(error: Exception, name: str) -> dict[str, Any]:
    """What is noted of a source that did not answer. Raises what is no matter of the source."""
    why = str(error)
    if not isinstance(error, AskErrors):
        if isinstance(error, PlatformError):
            raise error
        # A form that our own code does not expect: a fault of ours, and the next source is asked.
        log.exception("%s: its answer could not be read", name)
        why = f"{type(error).__name__}: {error}"
    return {"rows": 0, "error": type(error).__name__, "reason": redact(why)[:300]}


def _finish(
    download: Download,
    note: dict[str, Any],
    ctx: FetchContext,
    before: int,
    problems: Sequence[tuple[str, str]],
    noted: Sequence[Rejection],
) -> None:
    """Count what a source was asked for, and keep which of its answers and rows were refused."""
    made = ctx.log.items[before:]
    note["calls"] = len(made)
    if "error" not in note:
        odd = [*(one for fetch in made for one in fetch.rejected), *noted]
        download.odd_rows += len(odd)
        download.refused += [(str(note["src"]), item, why) for item, why in (*problems, *odd)]
    note["fetch_ids"] = ctx.take_reused()
    download.sources.append(note)


def _joined(download: Download, found: _Answers, scope: Scope, missing: Missing) -> Download:
    """The download with the rows of all answers, and the parts that are missing. Raises AllSourcesFailed
    without an answer."""
    download.not_served = {name: why for name, why in (found.missing or {}).items() if name not in missing}
    if scope.codes is None:
        download.missing = missing
    else:
        download.not_served |= {part: why for parts in missing.values() for part, why in parts.items()}
    parts = found.parts or found.empty[:1]
    if not parts:
        raise AllSourcesFailed(download.why_failed or "no source can serve this scope", download)
    answered = next(item for item in download.sources if not item.get("error"))
    first = next((item for item in download.failed if "asked_for" not in item), None)
    if first is not None:
        answered["fallback_reason"] = f"{first['src']}: {first['reason']}"
    download.frame = (
        pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].reset_index(drop=True)
    )
    return download


def _served(ctx: FetchContext) -> bool:
    """Whether a source has answered for some of the codes or dates that it was asked for one by one."""
    return bool(ctx.served) or not ctx.not_served


def _check_served(frame: pd.DataFrame, name: str, ctx: FetchContext, *, lenient: bool) -> None:
    """Refuse what is no answer about anything that was asked for."""
    if frame.empty and not _served(ctx) and not lenient:
        raise NotServed(f"{name}: {next(iter(ctx.not_served.values()))}", source=name)


def _rest(scope: Scope, missing: Mapping[str, str]) -> Scope:
    """The part of a scope that is missing: codes, or dates of the market."""
    days = tuple(day for day in scope.dates if day in missing)
    return replace(scope, dates=days, late=0) if days else replace(scope, codes=tuple(sorted(missing)))


def _missing(
    own: Mapping[str, str], found: _Answers, unlisted: frozenset[str], *, ask_all: bool
) -> dict[str, str]:
    """What no source has answered for by now, `own` of the newest one included. Sources that are all asked
    complete each other, so each may lack something."""
    before = found.missing
    if before is None or ask_all:
        now = {**(before or {}), **own}
    else:
        now = {code: own[code] for code in before if code in own}
    return {code: why for code, why in now.items() if code not in found.served and code not in unlisted}


def _complete(
    frame: pd.DataFrame,
    name: str,
    ctx: FetchContext,
    scope: Scope,
    expected: Callable[[Any, Scope], int] | None,
    window: Window,
) -> None:
    """Refuse a truncated answer or one of another day before anything is written."""
    date_column = window.date_column if window.dated else None
    if date_column and date_column in frame.columns and len(frame):
        inside = window.contains(frame[date_column])
        if not inside.any():
            newest = frame[date_column].dropna().max()
            raise PayloadError(f"{name} answered for {newest}, asked was {scope.until}", source=name)
        if scope.codes is None and inside.mean() < MIN_COVERAGE and not scope.is_range:
            raise PayloadError(
                f"{name}: only {int(inside.sum())} of {len(frame)} rows are of {scope.until}", source=name
            )
    if expected is not None and scope.codes is None:
        promised = expected(ctx, scope) * len(scope.dates)
        if len(frame) < MIN_COVERAGE * promised:
            raise PayloadError(
                f"{name} gave {len(frame)} rows, the universe promises {promised}", source=name
            )
    if len(frame) == 0 and expected is not None:
        raise PayloadError(f"{name} gave no rows", source=name)
