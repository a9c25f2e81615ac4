"""Checking of model texts: each sentence is shown only after its numbers are bound to facts."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from platform_assets.compute.evidence.binding import CITATION, Bound, Checked, check
from platform_assets.compute.evidence.facts import Pack
from serving_api.evidence.guard import harmless, harmless_value

_ENDS = "。！？；\n"
_LEAST_OF_A_QUOTE = 4


@dataclass
class Ledger:
    """Bound and removed numbers, over all texts of an answer."""

    bound: list[Bound] = field(default_factory=list)
    unbound: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)

    def take(self, checked: Checked) -> str:
        self.bound += checked.bound
        self.unbound += checked.unbound
        self.cited += CITATION.findall(checked.text)
        return checked.text

    @property
    def facts(self) -> list[str]:
        """Ids of the facts that were used or cited, each once."""
        reported = (one for bound in self.bound for one in bound.facts)
        return list(dict.fromkeys((*reported, *self.cited)))


@dataclass
class Checker:
    """Checks texts against the pack of one question. `words`: what the user wrote; `names`: of all
    securities; `allowed`: web addresses that the search found."""

    pack: Pack
    words: str = ""
    names: Collection[str] = ()
    allowed: set[str] = field(default_factory=set)
    ledger: Ledger = field(default_factory=Ledger)

    def look(self, text: str, *, cited: bool = True, spoken: Sequence[str] = ()) -> Checked:
        """`check` without an entry in the ledger, of the text with values in the place of `{{E9}}`. Citations
        of facts that do not exist are removed and counted."""
        known = {fact.id for fact in self.pack.facts}
        shown = harmless(text, self.allowed)
        invented = [one for one in CITATION.findall(shown) if one not in known]
        if invented:
            shown = CITATION.sub(lambda one: one.group() if one.group(1) in known else "", shown)
        checked = check(shown, self.pack, cited=cited, words=self.words, names=self.names, spoken=spoken)
        checked.unbound += invented
        return checked

    def show(self, text: str, *, cited: bool = True) -> str:
        return self.ledger.take(self.look(text, cited=cited))

    def own(self, line: str) -> str:
        """A line that the platform rendered from facts; it needs no check."""
        self.ledger.cited += CITATION.findall(line)
        return harmless(line)

    def receipt(self) -> dict[str, Any]:
        """What a receipt says of the evidence and of the numbers that are bound to it."""
        bound = [{"text": one.text, "facts": list(one.facts), "how": one.how} for one in self.ledger.bound]
        pack = [fact.plain() for fact in self.pack.facts]
        return {"as_of": self.pack.as_of, "pack": pack, "missing": self.pack.missing, "bindings": bound}

    def arguments(self, given: Any) -> Any:
        """Arguments of a tool as they may be shown: numbers and names that neither a fact nor the user's
        words contain become dashes."""
        if isinstance(given, str):
            return self.show(given, cited=False)
        if isinstance(given, bool) or given is None:
            return given
        if isinstance(given, int | float):
            shown = self.show(str(given), cited=False)
            return given if shown == str(given) else shown
        if isinstance(given, dict):
            return {self.show(str(name), cited=False): self.arguments(one) for name, one in given.items()}
        return [self.arguments(one) for one in given]


class SentenceStream:
    """Splits a streamed text into sentences and returns each one checked. A paragraph is checked from its
    beginning, so is a table, since its head names the columns; whom the ones before named is kept."""

    def __init__(self, checker: Checker, *, cited: bool = True) -> None:
        self._checker = checker
        self._cited = cited
        self._buffer = ""
        self._text = ""
        self._before = Checked("")
        self._spoken: list[str] = []

    def feed(self, text: str) -> str:
        """The text that may be shown by now; '' when there is none yet."""
        self._buffer += text
        return "".join(self._sentences(is_end=False))

    def finish(self) -> str:
        return "".join(self._sentences(is_end=True))

    def _sentences(self, *, is_end: bool) -> list[str]:
        shown = []
        while self._buffer:
            end = self._end_of_sentence(is_end=is_end)
            if end == 0:
                break
            sentence, self._buffer = self._buffer[:end], self._buffer[end:]
            shown.append(self._show(sentence))
        return shown

    def _end_of_sentence(self, *, is_end: bool) -> int:
        """Characters of the next whole sentence in the buffer; 0: wait for more."""
        at = 0
        while True:
            found = [place for end in _ENDS if (place := self._buffer.find(end, at)) >= 0]
            if not found:
                return len(self._buffer) if is_end else 0
            end = min(found) + 1
            while self._buffer[end - 1] != "\n" and (more := self._citation(end)) > end:
                end = more
            if is_end:
                return end
            if self._buffer[end - 1] != "\n" and (end == len(self._buffer) or self._may_become_citation(end)):
                return 0
            quoted = self._end_of_quote(self._buffer[:end])
            if quoted == 0:
                return end
            if end + quoted > len(self._buffer):
                return 0
            at = end + quoted - 1

    def _citation(self, at: int) -> int:
        if self._buffer.startswith("[E", at):
            close = self._buffer.find("]", at)
            if close > 0 and self._buffer[at + 2 : close].isdigit():
                return close + 1
        return at

    def _may_become_citation(self, at: int) -> bool:
        rest = self._buffer[at:]
        return len(rest) < len("[E9999]") and "]" not in rest and (
            rest in ("[", "[E") or (rest.startswith("[E") and rest[2:].isdigit())
        )  # fmt: skip

    def _end_of_quote(self, head: str) -> int:
        """Number of characters of a quoted stored text that still follow after `head`."""
        for fact in self._checker.pack.facts:
            value = fact.value
            if not isinstance(value, str) or not any(end in value for end in "。！？；"):
                continue
            start = head.rfind(value[:_LEAST_OF_A_QUOTE])
            if start >= 0 and len(head) - start < len(value) and value.startswith(head[start:]):
                return len(value) - (len(head) - start)
        return 0

    def _show(self, sentence: str) -> str:
        self._text += sentence
        now = self._checker.look(self._text, cited=self._cited, spoken=self._spoken)
        before = self._before
        left = Counter(now.unbound) - Counter(before.unbound)
        new = Checked(now.text[len(before.text) :], now.bound[len(before.bound) :], list(left.elements()))
        self._before = now
        line = self._text[self._text.rfind("\n", 0, -1) + 1 :]
        if sentence.endswith("\n") and not line.lstrip().startswith("|"):
            self._text, self._before, self._spoken = "", Checked(""), now.spoken
        return self._checker.ledger.take(new)


def evidence_items(pack: Pack, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Facts as an answer shows them."""
    return [shown_item(fact.plain()) for fact in pack.of(list(ids))]


def shown_item(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A stored fact (`Fact.plain`) as an answer shows it."""
    reported = {name: value for name, value in plain.items() if name not in ("table", "column")}
    reported |= {"source": plain["table"], "field": plain["column"]}
    return {**reported, "subject": harmless(reported["subject"]), "value": harmless_value(reported["value"])}
