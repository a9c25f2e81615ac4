"""Asking the sources of a table, in their order, until one answered in full.

A fallback is taken for a stated reason, and the reason goes into the batch. Nothing that arrives here
incomplete, of the wrong date or of the wrong instrument goes any further.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from core.declaration.dataset import MIN_COVERAGE, Source
from core.declaration.scope import Scope
from core.errors import PayloadError, PlatformError, Unavailable, UpstreamError
from core.stopping import StopAsked
from platform_assets.pipeline.windows import Window
from resources.fetch_record import FetchLog
from resources.redact import redact
from resources.rejections import Rejection, noting
from resources.upstreams.fetch_context import FetchContext

log = logging.getLogger(__name__)
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
    odd_rows: int = 0
    """Rows among them."""

    @property
    def asked(self) -> bool:
        """Whether the rows come from an upstream, by a call of this load or by a shared answer."""
        return any(item["calls"] or item["fetch_ids"] for item in self.sources)

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
) -> Download:
    """Ask `sources` in order. `ask_all` asks every one and needs one success; `also` names one source that is
    asked in addition to the first success (its failure is recorded and tolerated). `may_be_unserved`: that no
    source can serve the scope at all is an empty answer. `empty_is_answer`: of named codes no row is an
    answer as well, where a row is promised; the next source is asked all the same.

    Raises AllSourcesFailed when none answered in full.
    """
    download = Download(pd.DataFrame(), log=ctx.log)
    parts: list[pd.DataFrame] = []
    empty: list[pd.DataFrame] = []
    promised = None if empty_is_answer and scope.codes is not None else expected
    for source in sources:
        if parts and not ask_all and not (source.beside and source.name == also):
            continue
        if source.only_when is not None and not source.only_when(ctx, scope):
            continue
        if ctx.direct and download.sources:
            break  # DATA_SOURCE=direct: the first source that serves this scope, whatever it says
        before, known = len(ctx.log.items), len(ctx.problems)
        note: dict[str, Any] = {"src": source.name}
        noted: list[Rejection] = []
        try:
            with noting() as noted:
                frame = source.fetch(ctx, scope)
            _complete(frame, source.name, ctx, scope, promised, window)
            named = frame if "src" in frame.columns else frame.assign(src=source.name)
            (empty if promised is not expected and frame.empty else parts).append(named)
            note["rows"] = len(frame)
        except Exception as error:
            why = str(error)
            if not isinstance(error, AskErrors):
                if isinstance(error, PlatformError | StopAsked):
                    raise
                # A form that our own code does not expect: a fault of ours, and the next source is asked.
                log.exception("%s: its answer could not be read", source.name)
                why = f"{type(error).__name__}: {error}"
            note |= {"rows": 0, "error": type(error).__name__, "reason": redact(why)[:300]}
        made = ctx.log.items[before:]
        note["calls"] = len(made)
        if "error" not in note:
            odd = [*(one for fetch in made for one in fetch.rejected), *noted]
            download.odd_rows += len(odd)
            download.refused += [(source.name, item, why) for item, why in (*ctx.problems[known:], *odd)]
        note["fetch_ids"] = ctx.take_reused()
        download.sources.append(note)
    if not parts and not download.sources and (may_be_unserved or empty_is_answer):
        return download
    parts = parts or empty[:1]
    if not parts:
        raise AllSourcesFailed(download.why_failed or "no source can serve this scope", download)
    if download.failed:
        first = download.failed[0]
        answered = next(item for item in download.sources if not item.get("error"))
        answered["fallback_reason"] = f"{first['src']}: {first['reason']}"
    download.frame = (
        pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].reset_index(drop=True)
    )
    return download


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
