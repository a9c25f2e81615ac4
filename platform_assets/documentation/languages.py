"""Tables of the pages about the condition language and the formulas."""

from collections.abc import Callable

from platform_assets.compute.dsl.field_words import GROUPS
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.presets import PRESETS
from platform_assets.compute.dsl.spoken import PHRASES
from platform_assets.compute.dsl.words import FUNCTIONS
from platform_assets.compute.formulas.builtin import BUILTINS
from platform_assets.compute.formulas.functions import FUNCTIONS as FORMULA_FUNCTIONS
from platform_assets.compute.formulas.functions import LOOK_AHEAD
from platform_assets.documentation.blocks import cell, table

_UNITS = {"wan": "10k CNY", "lot": "100 shares", "sh": "shares", "pct": "percent"}
_ARGUMENTS = {"history": "(value, n)", "counted": "(condition, n)", "cross": "(value)"}
_LETTERS = {"x": "x", "c": "condition", "n": "n", "r": "n", "d": "n", "w": "m"}


def screener_fields() -> str:
    """Every field that a condition may name."""
    rows = []
    for group, fields in catalogue().groups.items():
        for one in fields:
            source = f"`{one.table}.{one.column}`" if one.table else "none yet"
            names = ", ".join((one.label, *one.aliases))
            kind = _UNITS.get(one.unit, one.unit) if one.kind == "number" and one.unit else one.kind
            past = "yes" if one.series else ""
            note = f"`{one.example}`" + (f"; {one.note}" if one.note else "")
            rows.append((f"`{one.name}`", cell(names), GROUPS[group], kind, past, source, cell(note)))
    return table(("field", "also called", "group", "type or unit", "history", "source", "example"), rows)


def screener_functions() -> str:
    rows = []
    for one in FUNCTIONS.values():
        plain = "(a, b, …)" if one.most > 1 else "(value)"
        rows.append((f"`{one.name}{_ARGUMENTS.get(one.kind, plain)}`", one.text))
    return table(("function", "value"), rows)


def screener_phrases() -> str:
    rows = [(phrase, f"`{cell(query)}`") for phrase, query in PHRASES.items()]
    return table(("phrase", "condition"), rows)


def screener_presets() -> str:
    rows = [(f"`{one.key}`", one.name, cell(one.description), f"`{cell(one.text)}`") for one in PRESETS]
    return table(("key", "name", "meaning", "query"), rows)


def formula_functions() -> str:
    rows = []
    for name, one in FORMULA_FUNCTIONS.items():
        arguments = ", ".join(_LETTERS[letter] for letter in one.takes)
        rows.append((f"`{name}({arguments})`", cell(one.text)))
    return table(("function", "value"), rows)


def formulas_refused() -> str:
    return ", ".join(f"`{name}`" for name in sorted(LOOK_AHEAD))


def formulas() -> str:
    rows = [(f"`{one.key}`", one.name, cell(one.description), f"`{cell(one.text)}`") for one in BUILTINS]
    return table(("key", "name", "meaning", "formula"), rows)


LANGUAGE_BLOCKS: dict[str, Callable[[], str]] = {
    "screener-fields": screener_fields,
    "screener-functions": screener_functions,
    "screener-phrases": screener_phrases,
    "screener-presets": screener_presets,
    "formula-functions": formula_functions,
    "formulas-refused": formulas_refused,
    "formulas": formulas,
}
