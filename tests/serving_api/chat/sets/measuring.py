"""What became of the answers of a set, asked through the routes that users ask."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.models_api.fake import Asked, fake_models
from tests.serving_api.chat.served import Served, events, served, texts, with_model
from tests.serving_api.chat.sets import companies, market
from tests.serving_api.chat.sets.frames import Case, clickable, plain, shown_whole

STREAMED = 4
"""Every so many cases are asked through the stream."""


@dataclass(frozen=True)
class Seen:
    """A case at the reader's. `prompt`: what the model received."""

    case: Case
    prompt: str
    said: str
    answer: str
    evidence: tuple[str, ...]
    by_rules: bool

    @property
    def whole(self) -> bool:
        return shown_whole(self.said, self.answer)

    @property
    def clickable(self) -> bool:
        return clickable(self.answer, self.evidence)

    @property
    def believed(self) -> bool:
        """Whether what is false in a lie reached the reader."""
        return self.case.pattern(self.prompt).search(plain(self.answer)) is not None


@dataclass
class Reader:
    """Asks with a model that says what the case says."""

    served: Served
    script: "_Script"
    who: dict[str, str]
    _count: int = 0

    def see(self, case: Case) -> Seen:
        self.script.case, self._count = case, self._count + 1
        answer: dict[str, Any]
        if self._count % STREAMED == 0:
            reported = events(self.served.stream(case.question, self.who))
            answer = next(one for one in reported if one["type"] == "evidence")
            answer = {**answer, "answer": texts(reported), "evidence": answer["items"]}
        else:
            answer = self.served.ask(case.question, self.who)
        numbers = tuple(one["id"] for one in answer["evidence"])
        prompt = self.script.prompt
        by_rules = answer["provenance"] != "ai"
        return Seen(case, prompt, case.said(prompt), answer["answer"], numbers, by_rules)


@dataclass
class _Script:
    case: Case | None = None
    prompt: str = field(default="")

    def __call__(self, asked: Asked) -> str:
        assert self.case is not None
        if "<evidence>" in asked.said:
            self.prompt = asked.said
        return self.case.said(self.prompt)


@contextmanager
def reader(folder: Path) -> Iterator[Reader]:
    """The market of the sets behind a server, with a model over HTTP."""
    script = _Script()
    tables = {**companies.companies(), **market.market()}
    with (
        fake_models(script) as fake,
        served(f"sqlite:///{folder / 'warehouse.sqlite3'}", folder, tables, **with_model(fake)) as one,
    ):
        yield Reader(one, script, one.admin())
