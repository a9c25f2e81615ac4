"""Formulas grown from the grammar of docs/calculations/formulas.md."""

import random

from platform_assets.compute.formulas.functions import FUNCTIONS, SERIES


class Grower:
    """Grows one formula after another from a seed; names are used as often as series are."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._names: list[str] = []

    def formula(self) -> str:
        self._names = []
        statements = []
        for at in range(self.random.choice((0, 1, 3, 12))):
            statements.append(f"x{at}{self.random.choice((':=', ':'))}{self._value(2)}")
            self._names.append(f"x{at}")
        return ";".join([*statements, self._value(2)])

    def _value(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.2:
            return self._atom()
        if kind < 0.6:
            sign = self.random.choice(("+", "-", "*", "/", ">", "<=", "<>", " AND ", " OR ", "="))
            return f"({self._value(depth - 1)}{sign}{self._value(depth - 1)})"
        if kind < 0.7:
            return f"({self.random.choice(('-', 'NOT '))}({self._value(depth - 1)}))"
        name = self.random.choice(list(FUNCTIONS))
        return f"{name}({','.join(self._argument(letter, depth) for letter in FUNCTIONS[name].takes)})"

    def _argument(self, letter: str, depth: int) -> str:
        if letter in "xc":
            return self._value(depth - 1)
        if letter == "d" and self.random.random() < 0.3:
            return f"BARSLAST({self._value(depth - 1)})"
        return "1" if letter == "w" else str(self.random.randint(1, 20))

    def _atom(self) -> str:
        if self._names and self.random.random() < 0.6:
            return self.random.choice(self._names)
        return self.random.choice([*(name.upper() for name in SERIES), "0", "1", "2.5"])
