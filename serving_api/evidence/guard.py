"""Removal of what no answer may show, from any source: mail addresses, keys, web addresses without a known
source."""

import re
from collections.abc import Collection
from typing import Any

HIDDEN = "—"
_MAIL = re.compile(r"[A-Za-z0-9._%+\-]+\s?[@＠]\s?[A-Za-z0-9\-]+(?:\s?[.．]\s?[A-Za-z0-9\-]+)+")
_KEY = re.compile(
    r"(?:sk|pk|tvly|rk|ghp|xox[bp])-[A-Za-z0-9_\-]{8,}|eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-.]+|AKIA[0-9A-Z]{12,}"
    r"|(?<![A-Za-z0-9+/=_\-])(?=[A-Za-z_\-]*[0-9])(?=[0-9a-z_\-]*[A-Z]|[0-9a-f_\-]{32})[A-Za-z0-9+/_\-]{32,}={0,2}"
)
_WEB = re.compile(
    r"(?:https?|ftp|file|javascript|data):[^\s，。；！？）)\]》”\"']+|www\.[^\s，。；！？）)\]]+",
    re.IGNORECASE,
)
_BREAKS = str.maketrans({"<": "＜", ">": "＞", "\r": " ", "\n": " ", "\x00": " "})


def harmless(text: str, allowed: Collection[str] = ()) -> str:
    """The text without them. `allowed`: web addresses that may stay."""
    shown = _MAIL.sub(HIDDEN, text)
    shown = _WEB.sub(lambda found: found.group() if found.group() in allowed else HIDDEN, shown)
    return _KEY.sub(HIDDEN, shown)


def harmless_value(value: Any, allowed: Collection[str] = ()) -> Any:
    """`harmless` of every text within a JSON value."""
    if isinstance(value, str):
        return harmless(value, allowed)
    if isinstance(value, list):
        return [harmless_value(one, allowed) for one in value]
    if isinstance(value, dict):
        return {name: harmless_value(one, allowed) for name, one in value.items()}
    return value


def fenced(text: str) -> str:
    """A text from outside in the form in which it may be put inside a fence of the prompt: on one line,
    unable to close it."""
    return harmless(text.translate(_BREAKS))
