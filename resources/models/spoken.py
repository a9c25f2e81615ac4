"""What a model says in its text beside the answer: thinking and calls of tools between marks of its template.

Some servers leave both in the text instead of giving them fields of their own."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["text", "thought", "call"]
_MARKS: dict[str, tuple[Kind, str]] = {
    "<think>": ("thought", "</think>"),
    "<thinking>": ("thought", "</thinking>"),
    "<thought>": ("thought", "</thought>"),
    "<tool_call>": ("call", "</tool_call>"),
    "<｜tool▁calls▁begin｜>": ("call", "<｜tool▁calls▁end｜>"),
}
_END = "</think>"
_ALWAYS_THINKS = re.compile(r"(?i)\br1\b|qwq|thinking|reasoner")
"""Models that think before every answer; their templates often open the thinking, so that only its end is in
the text."""
_DEEPSEEK_CALL = re.compile(
    r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]+)(?:<｜tool▁sep｜>)?\s*"
    r"(?:```json\s*)?(?P<raw>\{.*?\})\s*(?:```)?\s*<｜tool▁call▁end｜>",
    re.DOTALL,
)
_XML_CALL = re.compile(r"<function=(?P<name>[\w.-]+)>(?P<rest>.*?)(?:</function>|$)", re.DOTALL)
_XML_ARGUMENT = re.compile(r"<parameter=(?P<name>[\w.-]+)>\s*(?P<value>.*?)\s*</parameter>", re.DOTALL)
_FENCED = re.compile(r"\s*(?:```(?:json)?\s*)?(\{.*\})\s*(?:```)?\s*", re.DOTALL)


@dataclass
class Spoken:
    """The parts of a text that comes in pieces. A mark may be cut anywhere between two pieces. `tools`:
    names of the tools that the model was offered."""

    tools: Collection[str] = ()
    calls: list[tuple[str, str]] = field(default_factory=list)
    """(name, arguments as JSON) of the calls in the text."""
    is_open: bool = False
    """Whether the model is taken to be thinking until the mark that ends it."""
    ended_late: bool = False
    """Whether all text so far was thinking, as a mark said that nothing had opened."""
    _waiting: str = ""
    _inside: str = ""
    _kind: Kind = "text"
    _is_first: bool = True

    @classmethod
    def of(cls, model: str, tools: Collection[str]) -> "Spoken":
        return cls(tools, is_open=_ALWAYS_THINKS.search(model) is not None)

    def feed(self, piece: str) -> Iterator[tuple[Kind, str]]:
        """(kind, text) of what is certain by now: parts of the answer and of the thinking."""
        self._waiting += piece
        yield from self._parts(is_end=False)

    def finish(self) -> Iterator[tuple[Kind, str]]:
        yield from self._parts(is_end=True)

    def _parts(self, *, is_end: bool) -> Iterator[tuple[Kind, str]]:
        while self._waiting:
            before = len(self._waiting)
            yield from self._within(is_end=is_end) if self._kind != "text" else self._outside(is_end=is_end)
            if len(self._waiting) == before:
                return

    def _outside(self, *, is_end: bool) -> Iterator[tuple[Kind, str]]:
        if self.is_open:
            yield from self._until_thought_ends(is_end=is_end)
            if self.is_open:
                return
        at, mark = min(
            ((place, mark) for mark in (*_MARKS, _END) if (place := self._waiting.find(mark)) >= 0),
            default=(-1, ""),
        )
        if at >= 0:
            said, self._waiting = self._waiting[:at], self._waiting[at + len(mark) :]
            if mark == _END:
                self.ended_late, self._waiting = True, self._waiting.lstrip()
                yield "thought", said
                return
            self._kind, self._inside = _MARKS[mark]
        else:
            said, self._waiting = _split(self._waiting, (*_MARKS, _END), is_end=is_end)
        # A call may be the whole text, as bare JSON: then nothing is said before its end.
        if self._is_first and self.tools and re.match(r"\s*(?:```|\{)", said) and not mark:
            if not is_end:
                self._waiting = said + self._waiting
                return
            call = _bare_call(said, self.tools)
            if call is not None:
                self.calls.append(call)
                return
        if said.strip():
            self._is_first = False
        if said:
            yield "text", said

    def _until_thought_ends(self, *, is_end: bool) -> Iterator[tuple[Kind, str]]:
        thought, mark, rest = self._waiting.partition(_END)
        if mark:
            self.is_open, self._waiting = False, rest.lstrip()
            yield "thought", thought.lstrip().removeprefix("<think>")
        elif is_end:  # no mark at all: it was the answer
            self.is_open = False

    def _within(self, *, is_end: bool) -> Iterator[tuple[Kind, str]]:
        kind, close = self._kind, self._inside
        said, mark, rest = self._waiting.partition(close)
        if not mark and kind == "thought":
            said, self._waiting = _split(self._waiting, (close,), is_end=is_end)
            if said:
                yield "thought", said
            return
        if not mark and not is_end:
            return
        self._waiting, self._kind = rest if mark else "", "text"
        if kind == "call":
            self.calls += _calls(said)
        elif said:
            yield "thought", said
        if self._is_first:
            self._waiting = self._waiting.lstrip()


def _split(text: str, marks: Collection[str], *, is_end: bool) -> tuple[str, str]:
    """(what no mark can begin in, the end of the text that may be the beginning of one)."""
    if is_end:
        return text, ""
    for length in range(min(max(map(len, marks)) - 1, len(text)), 0, -1):
        if any(mark.startswith(text[-length:]) for mark in marks):
            return text[:-length], text[-length:]
    return text, ""


def _bare_call(text: str, tools: Collection[str]) -> tuple[str, str] | None:
    whole = _FENCED.fullmatch(text)
    calls = _calls(whole[1]) if whole is not None else []
    return calls[0] if len(calls) == 1 and calls[0][0] in tools else None


def _calls(text: str) -> list[tuple[str, str]]:
    """Calls in the forms of Qwen and Hermes (JSON), Qwen Coder (XML) and DeepSeek."""
    deepseek = [(call["name"], call["raw"]) for call in _DEEPSEEK_CALL.finditer(text)]
    if deepseek:
        return deepseek
    xml = [(call["name"], dict(_XML_ARGUMENT.findall(call["rest"]))) for call in _XML_CALL.finditer(text)]
    if xml:
        return [(name, json.dumps(arguments)) for name, arguments in xml]
    try:
        call = json.loads(text)
    except ValueError:
        return []
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return []
    arguments: Any = next((call[key] for key in ("arguments", "parameters", "args") if key in call), {})
    return [(call["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))]
