"""Search over the catalog without a model or a network: words and Chinese character pairs, weighted by
their rarity, with a table of market terms.

Limits: it compares words, not sentences; a text of common words only finds common interfaces.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from core.declaration.dataset import Dataset
from core.declaration.rules import Interface
from serving_api.interfaces.synonyms import synonym_table

_WORD = re.compile(r"[a-z0-9_]+|[\u4e00-\u9fff]+")
_NAME, _DESCRIPTION, _TITLE, _COLUMN = 6.0, 3.0, 3.0, 0.5
_EXACT = 100.0
_IDEA = "~"
"""Prefix of the name of an idea, so that it is not taken for a word of the text."""


def tokens(text: str, synonyms: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Words, parts of joined words, pairs of Chinese characters, and their ideas."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    for run in _WORD.findall(plain):
        if _is_chinese(run):
            yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            continue
        parts = [part for part in run.split("_") if part]
        for word in {run, *parts, *("_".join(pair) for pair in pairwise(parts))}:
            yield word
            yield from (_IDEA + idea for idea in synonyms.get(word, ()))
    # Chinese has no blanks: its terms are looked for anywhere in the text.
    for word, ideas in synonyms.items():
        if _is_chinese(word) and word in plain:
            yield from (_IDEA + idea for idea in ideas)


def _is_chinese(word: str) -> bool:
    return any(letter >= "\u4e00" for letter in word)


class Index:
    """Weights of tokens per interface."""

    def __init__(self, interfaces: Mapping[str, tuple[Interface, Dataset]]) -> None:
        self._synonyms = synonym_table()
        self._weights = {
            name: self._document(interface, dataset) for name, (interface, dataset) in interfaces.items()
        }
        spread = Counter(token for weights in self._weights.values() for token in weights)
        size = len(self._weights)
        self._rarity = {token: math.log(1 + size / count) for token, count in spread.items()}

    def _document(self, interface: Interface, dataset: Dataset) -> dict[str, float]:
        weights: dict[str, float] = {}
        texts = [
            (interface.name, _NAME),
            (interface.description, _DESCRIPTION),
            (dataset.title, _TITLE),
            *((f"{spec.name} {spec.title}", _COLUMN) for spec in dataset.table_of(interface).columns),
        ]
        for text, weight in texts:
            for token in set(tokens(text, self._synonyms)):
                weights[token] = max(weights.get(token, 0.0), weight)
        return weights

    def rank(self, text: str) -> list[tuple[str, float]]:
        """(name, score) of every interface that shares a token with the text, best first; with equal
        scores the shorter name first, which is the simpler interface."""
        asked = set(tokens(text, self._synonyms))
        requested = unicodedata.normalize("NFKC", text).casefold().strip()
        scores: dict[str, float] = {}
        for name, weights in self._weights.items():
            score = sum(weights[token] * self._rarity[token] for token in asked if token in weights)
            if name == requested:
                score += _EXACT
            if score > 0:
                scores[name] = round(score, 3)
        return sorted(scores.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
