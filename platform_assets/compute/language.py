"""Shared by the condition language and the formula language: tokens, a cursor over them, their errors; how
much work a function over bars is.

Positions are 0-based offsets into the text as it was given; lines and columns count from 1.
"""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import Decimal
from typing import Any, ClassVar, NoReturn, TypeVar

from platform_assets.compute.parameters import screener

END = "end of input"
_SHOWN = 40
# What an input method for Chinese writes; one character for one, so that positions stay.
_NARROW = str.maketrans("（），＞＜＝＋－＊／％；：“”‘’｛｝！　", "(),><=+-*/%;:\"\"''{}! ")
_CLOSING = {"“": "”", "‘": "’"}
_SIGNS = {"≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "÷": "/"}
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_LATIN = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Placed:
    """A node of a tree. `at`, its position in the text, is no part of what makes two trees equal."""

    at: int = field(default=0, compare=False, kw_only=True)


Node = TypeVar("Node", bound=Placed)


def children(node: Any) -> tuple[Any, ...]:
    """The nodes that a node holds, in the order in which they are written."""
    held = (getattr(node, one.name) for one in fields(node))
    parts = (part for value in held for part in (value if isinstance(value, tuple) else (value,)))
    return tuple(part for part in parts if is_dataclass(part))


def walk(node: Any) -> Iterator[Any]:
    """A node and everything below it."""
    yield node
    for child in children(node):
        yield from walk(child)


class LanguageError(ValueError):
    """A text that is no query or no formula. `code`: unknown_field, syntax, type, limit or lookahead."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        text: str,
        position: int,
        token: str = "",
        expected: Sequence[str] = (),
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position
        before = text[:position]
        self.line = before.count("\n") + 1
        self.column = position - (before.rfind("\n") + 1) + 1
        self.token = token[:_SHOWN]
        self.expected = list(expected)
        self.suggestion = suggestion

    def reported(self) -> dict[str, Any]:
        """The error object of an answer."""
        out = {
            "code": self.code, "position": self.position, "line": self.line, "column": self.column,
            "token": self.token, "expected": self.expected,
        }  # fmt: skip
        return out if self.suggestion is None else {**out, "suggestion": self.suggestion}

    def sentence(self) -> str:
        """One line for a person."""
        found = f" at {self.token!r}" if self.token else ""
        requested = f"; expected {', '.join(self.expected)}" if self.expected else ""
        meant = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        return f"{self.message}{found} (line {self.line}, column {self.column}){requested}{meant}"


@dataclass(frozen=True)
class Token:
    """`kind` is number, name, string, sign or end. `text` is what it means (a string without its quotes, a
    name in lower case, a number without needless zeros), `raw` the input as written."""

    kind: str
    text: str
    raw: str
    at: int
    unit: str = ""

    @property
    def end(self) -> int:
        return self.at + len(self.raw)


@dataclass(frozen=True)
class Alphabet:
    """The alphabet of a language. `words`: names and keywords beyond ASCII, which need no space between
    them; `units` follow a number at once; `comments` are the signs around a comment."""

    signs: tuple[str, ...]
    words: frozenset[str] = frozenset()
    units: tuple[str, ...] = ()
    comments: tuple[str, str] | None = None
    longest: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signs", tuple(sorted(self.signs, key=len, reverse=True)))
        object.__setattr__(self, "longest", max((len(word) for word in self.words), default=0))


def tokens_of(text: str, alphabet: Alphabet) -> list[Token]:
    """The tokens of a text, the end last. Raises LanguageError (limit, syntax)."""
    if len(text) > screener.MAX_CHARS:
        raise LanguageError(
            "limit",
            f"{len(text)} characters; at most {screener.MAX_CHARS} are allowed",
            text=text,
            position=screener.MAX_CHARS,
        )
    return list(_scan(text, text.translate(_NARROW), alphabet))


def _scan(given: str, text: str, alphabet: Alphabet) -> Iterator[Token]:
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace():
            at += 1
            continue
        if alphabet.comments and char == alphabet.comments[0]:
            close = text.find(alphabet.comments[1], at)
            if close < 0:
                raise LanguageError(
                    "syntax", "a comment has no end", text=given, position=len(given), expected=["}"]
                )
            at = close + 1
            continue
        token = (
            _number(given, text, at, alphabet)
            or _string(given, text, at)
            or _name(given, text, at, alphabet)
            or _sign(given, text, at, alphabet)
        )
        if token is None:
            raise LanguageError("syntax", "an unknown character", text=given, position=at, token=given[at])
        yield token
        at = token.end
    yield Token("end", "", "", len(text))


def _number(given: str, text: str, at: int, alphabet: Alphabet) -> Token | None:
    end = end_of(_NUMBER, text, at)
    if end == at:
        return None
    if end - at > screener.MAX_DIGITS:
        raise LanguageError(
            "limit",
            f"a number of more than {screener.MAX_DIGITS} digits",
            text=given,
            position=at,
            token=given[at:end],
        )
    unit = next((one for one in alphabet.units if text.startswith(one, end)), "")
    return Token("number", plain(Decimal(text[at:end])), given[at : end + len(unit)], at, unit)


def plain(value: Decimal) -> str:
    """A number as it is written: no exponent, no zeros behind the last decimal."""
    written = format(value, "f")
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return written or "0"


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """End of what fits the pattern from `at` on; `at` itself where nothing does."""
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _string(given: str, text: str, at: int) -> Token | None:
    if text[at] not in "'\"":
        return None
    # In the text as given: what was narrowed inside a string is no quote.
    quote = _CLOSING.get(given[at], given[at])
    parts, start = [], at + 1
    while True:
        close = given.find(quote, start)
        if close < 0:
            raise LanguageError(
                "syntax", "a string has no end", text=given, position=at, token=given[at:], expected=[quote]
            )
        parts.append(given[start:close])
        if given[close + 1 : close + 2] != quote:
            return Token("string", quote.join(parts), given[at : close + 1], at)
        start = close + 2


def _name(given: str, text: str, at: int, alphabet: Alphabet) -> Token | None:
    end = end_of(_LATIN, text, at)
    if end == at:
        if not text[at].isalnum() or text[at].isascii():
            return None
        end = _word_end(text, at, alphabet)
    return Token("name", text[at:end].lower(), given[at:end], at)


def _word_end(text: str, at: int, alphabet: Alphabet) -> int:
    """End of the longest known word that begins here; else of all letters and digits that follow."""
    for length in range(min(alphabet.longest, len(text) - at), 0, -1):
        if text[at : at + length].lower() in alphabet.words:
            return at + length
    return end_of(_WORD, text, at)


def _sign(given: str, text: str, at: int, alphabet: Alphabet) -> Token | None:
    known = _SIGNS.get(text[at])
    if known in alphabet.signs:
        return Token("sign", str(known), given[at], at)
    for sign in alphabet.signs:
        if text.startswith(sign, at):
            return Token("sign", sign, given[at : at + len(sign)], at)
    return None


class Cursor:
    """Walks over tokens; counts nodes and depth, and makes errors that know their place."""

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Other spellings of words and signs."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self._tokens = tokens
        self._next = 0
        self._nodes = 0
        self._depth = 0

    @property
    def now(self) -> Token:
        return self._tokens[self._next]

    def after(self) -> Token:
        """The token behind the current one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.now
        if token.kind != "end":
            self._next += 1
        return token

    def meaning(self, token: Token) -> str:
        """The word or sign of a token."""
        return self.synonyms.get(token.text, token.text)

    def means(self, token: Token, *words: str) -> bool:
        return token.kind in {"name", "sign"} and self.meaning(token) in words

    def accept(self, *words: str) -> Token | None:
        return self.take() if self.means(self.now, *words) else None

    def expect(self, word: str) -> Token:
        return self.accept(word) or self.unexpected(word)

    def unexpected(self, *expected: str) -> NoReturn:
        """Raises the error that the current token is not allowed here."""
        found = "the input ends too early" if self.now.kind == "end" else "something else is expected"
        self.fail("syntax", found, self.now, expected=expected)

    def fail(
        self,
        code: str,
        message: str,
        at: Token | int,
        *,
        expected: Sequence[str] = (),
        suggestion: str | None = None,
    ) -> NoReturn:
        position, token = (at, "") if isinstance(at, int) else (at.at, at.raw)
        raise LanguageError(
            code,
            message,
            text=self.text,
            position=position,
            token=token,
            expected=expected,
            suggestion=suggestion,
        )

    def made(self, node: Node) -> Node:
        """A node of the tree, counted."""
        self._nodes += 1
        if self._nodes > screener.MAX_NODES:
            self.fail("limit", f"more than {screener.MAX_NODES} parts", node.at)
        return node

    @contextmanager
    def deeper(self, at: Token) -> Iterator[None]:
        """One level of nesting."""
        self._depth += 1
        if self._depth > screener.MAX_DEPTH:
            self.fail("limit", f"nested deeper than {screener.MAX_DEPTH}", at)
        yield
        self._depth -= 1


@dataclass(frozen=True)
class Example:
    """A query or formula that comes with the platform."""

    key: str
    name: str
    description: str
    text: str


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like an unknown one, if any is like it."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=screener.SUGGESTION_CUTOFF)
    return found[0] if found else None


_WINDOWS = frozenset({"ma", "hhv", "llv", "sum", "count", "every", "exist"})
_WIDE_WINDOWS = frozenset({"std", "stdp", "slope", "wma", "hhvbars", "llvbars", "longcross"})
_RECURSIONS = frozenset({"ema", "sma", "dma", "filter"})


def steps(function: str, period: int) -> int:
    """Passes over the values of one bar of all stocks, about; `function` in lower case."""
    if function == "avedev":
        return 3 * period
    if function in _WINDOWS:
        return 3 * period.bit_length()
    if function in _WIDE_WINDOWS:
        return 9 * period.bit_length()
    return 14 if function in _RECURSIONS else 5


def recursion_bars(period: float) -> int:
    """Bars that a recursive mean of a period starts before its value, as a part of `remembered`."""
    return max(screener.RECURSION_BARS, int(screener.RECURSION_PERIODS * period))


def memory_bars(period: int = 0) -> int:
    """Bars that something that waits for a condition starts before its value."""
    return max(screener.MEMORY_BARS, period)


def remembered(inner: int, before: int) -> int:
    """Bars behind a value with a memory of `before` bars of something that itself needs `inner`."""
    return max(inner, min(inner - 1 + before, screener.RECURSION_MOST))
