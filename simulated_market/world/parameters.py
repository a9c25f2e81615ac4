"""The numbers of the model, read from `parameters.json`: value, allowed band, where it was measured."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources as files

from core.errors import DeclarationError


@dataclass(frozen=True)
class Parameter:
    name: str
    value: float
    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Parameters:
    """`p.get('beta_sd')` is the value."""

    rows: dict[str, Parameter]

    def get(self, name: str) -> float:
        return self.rows[name].value


@cache
def parameters() -> Parameters:
    """All parameters; a value outside its band is a DeclarationError."""
    text = files.files("simulated_market.world").joinpath("parameters.json").read_text("utf-8")
    rows = {name: Parameter(name=name, **row) for name, row in json.loads(text).items()}
    for row in rows.values():
        if not row.low <= row.value <= row.high:
            raise DeclarationError(
                f"parameters.json: {row.name} = {row.value} is outside {row.low}..{row.high}"
            )
    return Parameters(rows)
