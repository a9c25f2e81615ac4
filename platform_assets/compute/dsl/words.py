"""Keywords, signs and functions of the condition language."""

from dataclasses import dataclass
from functools import cache

from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.language import Alphabet

COMPARISONS = (">", ">=", "<", "<=", "=", "!=")
_SAME_SIGN = {"==": "=", "<>": "!="}
KEYWORDS = frozenset({
    "and", "or", "not", "between", "in", "like", "is", "null", "order", "by", "asc", "desc", "limit",
})  # fmt: skip
CHINESE = {
    "且": "and",
    "并且": "and",
    "或": "or",
    "或者": "or",
    "非": "not",
    "不是": "not",
    "介于": "between",
    "属于": "in",
    "升序": "asc",
    "降序": "desc",
}
"""The meaning of an alias; the normalised form has the English word."""
SYNONYMS = CHINESE | _SAME_SIGN


@dataclass(frozen=True)
class Function:
    """`kind`: history (a series and a period), counted (a condition and a period), cross (one number of every
    code at once), plain (numbers of the row)."""

    name: str
    kind: str
    fewest: int
    most: int
    text: str


FUNCTIONS = {
    one.name: one
    for one in (
        Function("ma", "history", 2, 2, "mean of the last n bars"),
        Function("ema", "history", 2, 2, "exponential mean, weight 2 / (n + 1)"),
        Function("hhv", "history", 2, 2, "highest of the last n bars, today included"),
        Function("llv", "history", 2, 2, "lowest of the last n bars, today included"),
        Function("ref", "history", 2, 2, "the value n bars before"),
        Function("change", "history", 2, 2, "percent against the value n bars before"),
        Function("count", "counted", 2, 2, "bars of the last n on which a condition held"),
        Function("rank", "cross", 1, 1, "place among all codes, 1 = largest, equal ones share the best"),
        Function("pct_rank", "cross", 1, 1, "mean rank from the smallest, in percent of all codes"),
        Function("abs", "plain", 1, 1, "without its sign"),
        Function("min", "plain", 2, 8, "smallest of its arguments"),
        Function("max", "plain", 2, 8, "largest of its arguments"),
    )
}


@cache
def alphabet() -> Alphabet:
    beyond = {name for name in catalogue().names if not name[0].isascii() and name.isalnum()}
    return Alphabet(
        signs=(*COMPARISONS, *_SAME_SIGN, "+", "-", "*", "/", "(", ")", ","),
        words=frozenset(beyond | CHINESE.keys()),
        units=("%", "亿", "万"),
    )
