"""Converts sentences to queries. Rules do it now; a model can replace them behind the same interface."""

from collections.abc import Collection
from typing import Literal, Protocol

from platform_assets.compute.dsl.natural import Translation, translated
from serving_api.framework.state import State
from serving_api.quant.screener.market import Market


class Translator(Protocol):
    """A translator of sentences to queries; `source` is its name in the answer. Its query has been parsed:
    a text that the parser refuses is no translation."""

    source: Literal["llm", "rule"]

    async def translate(self, sentence: str, industries: Collection[str]) -> Translation: ...


class Rules:
    """Translates with the dictionary of fields and set phrases."""

    source: Literal["llm", "rule"] = "rule"

    async def translate(self, sentence: str, industries: Collection[str]) -> Translation:
        return translated(sentence, industries)


def translator_of(_state: State) -> Translator:
    return Rules()


def industries_of(market: Market | None) -> frozenset[str]:
    """Names of the industries of the date's stocks, as stored."""
    if market is None:
        return frozenset()
    return frozenset(str(name) for name in market.table.texts("industry") if name)
