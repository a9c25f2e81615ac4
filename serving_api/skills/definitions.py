"""The definition of a skill, and the shipped ones: one TOML file each in `shipped/`."""

import functools
import tomllib
import unicodedata
from importlib import resources
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from core.errors import DeclarationError
from serving_api.framework.openapi import example

MOST_TEXT = 2000
MOST_WORDS = 20
_FOLDER = "shipped"


def _plain(text: str) -> str:
    """Without invisible characters except line ends."""
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs") and one != "\n" for one in text):
        raise ValueError("holds a control character")
    return text


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return _plain(text).strip()


Word = Annotated[str, Field(min_length=1, max_length=24), AfterValidator(_said)]
Words = Annotated[list[Word], Field(max_length=MOST_WORDS)]


class Definition(BaseModel):
    """One skill as it is written in a file or sent to be installed."""

    model_config = example(
        extra="forbid", key="rare_earth", name="稀土产业链", description="稀土价格、配额与产业链位置",
        triggers=["稀土", "镨钕"], hints=["配额"], reads=["get_futures_daily"],
        text="先看价格与配额，再看企业在产业链中的位置。",
    ) | ConfigDict(frozen=True)  # fmt: skip

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{1,47}$", description="a-z, 0-9 and _")]
    name: Annotated[str, Field(min_length=1, max_length=32), AfterValidator(_said)]
    description: Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_said)]
    enabled: bool = Field(True, description="switched on by default")
    triggers: Annotated[Words, Field(min_length=1, description="words that select it")]
    hints: Annotated[Words, Field(description="words that only add to its score")] = []
    reads: Annotated[
        list[Annotated[str, Field(pattern=r"^get_[a-z0-9_]{1,60}$")]],
        Field(max_length=12, description="interfaces of the catalog that it reads"),
    ] = []
    text: Annotated[
        str,
        Field(min_length=1, max_length=MOST_TEXT, description="the method, as a model reads it"),
        AfterValidator(_said),
    ]


@functools.cache
def shipped() -> dict[str, Definition]:
    """Skills by key, in the order of the keys. Raises DeclarationError for an invalid file."""
    found: dict[str, Definition] = {}
    for file in sorted(resources.files(__package__).joinpath(_FOLDER).iterdir(), key=lambda one: one.name):
        if not file.name.endswith(".toml"):
            continue
        try:
            definition = Definition(**tomllib.loads(file.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise DeclarationError(f"skill {file.name}: {error}") from error
        if f"{definition.key}.toml" != file.name:
            raise DeclarationError(f"skill {file.name}: its key is {definition.key}")
        found[definition.key] = definition
    return found
