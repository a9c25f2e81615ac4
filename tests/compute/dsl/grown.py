"""Queries grown from the grammar of docs/calculations/dsl.md, and texts that are near to being queries."""

import random

from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.words import CHINESE, COMPARISONS, FUNCTIONS

_FIELDS = list(catalogue().fields.values())
_NUMBERS = [one for one in _FIELDS if one.kind == "number"]
_SERIES = [one for one in _NUMBERS if one.series]
_TEXTS = [one for one in _FIELDS if one.kind == "text"]
_CHINESE = {english: chinese for chinese, english in CHINESE.items()}
_NOISE = "()><=!+-*/,%.'\"亿万且或非０＞（\t\n#§é\0{};:abcXYZ0123456789 "


class Grower:
    """Grows one query after another from a seed; `left` bounds the nodes of one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.left = 0

    def query(self) -> str:
        self.left = self.random.choice((3, 8, 20, 45))
        text = self._or(0)
        if self.random.random() < 0.3:
            order = ", ".join(self._order() for _ in range(self.random.randint(1, 3)))
            text += f" {self._case('order')} {self._case('by')} {order}"
        if self.random.random() < 0.3:
            text += f" {self._case('limit')} {self.random.randint(1, 500)}"
        return text

    def broken(self) -> str:
        """Noise, a query with something wrong in it, or pieces of queries in any order."""
        kind = self.random.random()
        if kind < 0.2:
            return "".join(self.random.choice(_NOISE) for _ in range(self.random.randint(0, 60)))
        text = self.query()
        if kind < 0.4:
            words = text.split(" ")
            self.random.shuffle(words)
            return " ".join(words)
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randint(0, len(text))
            match self.random.randint(0, 2):
                case 0:
                    text = text[:at] + self.random.choice(_NOISE) + text[at:]
                case 1:
                    text = text[:at] + text[at + self.random.randint(1, 4) :]
                case _:
                    text = text[:at]
        return text

    # -- grammar ------------------------------------------------------------------------------------

    def _spend(self) -> bool:
        self.left -= 1
        return self.left > 0

    def _case(self, word: str) -> str:
        return self.random.choice((word, word.upper(), word.capitalize()))

    def _word(self, word: str) -> str:
        return _CHINESE[word] if self.random.random() < 0.2 and word in _CHINESE else self._case(word)

    def _name(self, names: list) -> str:
        field = self.random.choice(names)
        spoken = [name for name in field.aliases if name[0].isascii() or name.isalpha()]
        return self.random.choice((field.name, field.name.upper(), *spoken[:1]))

    def _order(self) -> str:
        return self._name(_NUMBERS + _TEXTS) + self.random.choice(("", " asc", " DESC", " 降序"))

    def _or(self, depth: int) -> str:
        parts = [self._and(depth)]
        while self.random.random() < 0.25 and self._spend():
            parts.append(self._and(depth))
        return f" {self._word('or')} ".join(parts)

    def _and(self, depth: int) -> str:
        parts = [self._not(depth)]
        while self.random.random() < 0.35 and self._spend():
            parts.append(self._not(depth))
        return f" {self._word('and')} ".join(parts)

    def _not(self, depth: int) -> str:
        sign = f"{self._word('not')} " if self.random.random() < 0.15 else ""
        if depth < 6 and self.random.random() < 0.2 and self._spend():
            return f"{sign}({self._or(depth + 1)})"
        return sign + self._predicate(depth)

    def _predicate(self, depth: int) -> str:
        self._spend()
        match self.random.randint(0, 9):
            case 0:
                return self._name([catalogue()["st"]])
            case 1:
                field = self._name(_TEXTS)
                return f"{field} {self.random.choice(('=', '!=', '==', '<>'))} {self._string()}"
            case 2:
                values = ", ".join(self._string() for _ in range(self.random.randint(1, 4)))
                return f"{self._name(_TEXTS)} {self.random.choice(('in', 'NOT IN'))} ({values})"
            case 3:
                return f"{self._name(_TEXTS)} like {self.random.choice((self._like, self._string))()}"
            case 4:
                return f"{self._name(_FIELDS)} is {self.random.choice(('', 'not '))}null"
            case 5:
                return f"{self._sum(depth)} {self._word('between')} {self._sum(depth)} AND {self._sum(depth)}"
            case 6:
                values = ", ".join(self._signed() for _ in range(self.random.randint(1, 4)))
                return f"{self._name(_NUMBERS)} {self.random.choice(('in', 'not in'))} ({values})"
            case _:
                sign = self.random.choice((*COMPARISONS, "==", "<>", "≥", "＜"))
                space = self.random.choice((" ", ""))
                return f"{self._sum(depth)}{space}{sign}{space}{self._sum(depth)}"

    def _string(self) -> str:
        text = self.random.choice(
            ("银行", "白酒", "600519", "SH", "%酒", "", "a'b", "(x", " and ", "‘", "’", "“a”", '"', "（１）")
        )
        opening, closing = self.random.choice(("''", '""', "‘’", "“”"))
        return opening + text.replace(closing, 2 * closing) + closing

    def _like(self) -> str:
        """A pattern; now and then one with so many % that trying all their places would not end."""
        if self.random.random() < 0.1:
            return "'" + "%a" * self.random.randint(20, 60) + "b'"
        return "'" + "".join(self.random.choice("%_a行Bb") for _ in range(self.random.randint(0, 7))) + "'"

    def _signed(self) -> str:
        return self.random.choice(("", "-")) + self._number()

    def _number(self) -> str:
        return self.random.choice(("0", "1", "15", "0.98", "20.50", "007", "100", "1234567.25"))

    def _sum(self, depth: int) -> str:
        text = self._product(depth)
        while self.random.random() < 0.15 and self._spend():
            text += f" {self.random.choice('+-')} {self._product(depth)}"
        return text

    def _product(self, depth: int) -> str:
        text = self._unary(depth)
        while self.random.random() < 0.12 and self._spend():
            text += f"{self.random.choice('*/')}{self._unary(depth)}"
        return text

    def _unary(self, depth: int) -> str:
        return ("-" if self.random.random() < 0.08 else "") + self._atom(depth)

    def _atom(self, depth: int) -> str:
        kind = self.random.random()
        if depth < 6 and self.left > 0:
            if kind < 0.1 and self._spend():
                return f"({self._sum(depth + 1)})"
            if kind < 0.3 and self._spend():
                return self._function(depth + 1)
        return self._number() if kind > 0.65 else self._name(_NUMBERS)

    def _function(self, depth: int) -> str:
        function = self.random.choice(list(FUNCTIONS.values()))
        name = self._case(function.name)
        if function.kind == "history":
            return f"{name}({self._past()}, {self.random.randint(1, 120)})"
        if function.kind == "counted":
            sign = self.random.choice(COMPARISONS)
            return f"{name}({self._past()} {sign} {self._past()}, {self.random.randint(1, 120)})"
        count = self.random.randint(function.fewest, min(function.most, 3))
        return f"{name}({', '.join(self._sum(depth) for _ in range(count))})"

    def _past(self) -> str:
        field = self._name(_SERIES)
        return self.random.choice((field, f"{field} * 1.02", f"ma({field}, 5)", f"(-{field})"))
