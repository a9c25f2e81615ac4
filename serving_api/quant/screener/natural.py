"""Sentences to queries. Rules do it now; a model can take their place behind the same interface."""

from collections.abc import Collection
from typing import Literal, Protocol

from platform_assets.compute.dsl.natural import Translation, translated
from serving_api.framework.state import State
from serving_api.quant.screener.market import Market


class Translator(Protocol):
    """Who turns a sentence into a query; `source` is what the answer says of it. The query that it gives has
    been parsed: what the parser refuses is no translation."""

    source: Literal["llm", "rule"]

    async def translate(self, sentence: str, industries: Collection[str]) -> Translation: ...


class Rules:
    """By the dictionary of fields and set phrases."""

    source: Literal["llm", "rule"] = "rule"

    async def translate(self, sentence: str, industries: Collection[str]) -> Translation:
        return translated(sentence, industries)


def translator_of(_state: State) -> Translator:
    return Rules()


def industries_of(market: Market | None) -> frozenset[str]:
    """Names of the industries of the date's stocks, as they are stored."""
    if market is None:
        return frozenset()
    return frozenset(str(name) for name in market.table.texts("industry") if name)
