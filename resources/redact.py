"""One place that removes secrets from text before it reaches logs, errors, recordings or answers.

Masked are: the password of a URL, bearer tokens, JWTs and provider keys anywhere, the rest of a credential
header, and the value next to a name that ends in a secret word (`DB_PASSWORD=`, `"api_key":`, `('token',
...)`), quoted or not.
"""

import re

MASK = "***"
_WORD = r"token|password|passwd|pwd|secret|api[_-]?key|authorization|cookie"
_NAME = rf"(?<![\w-])(?:[\w-]*(?:{_WORD})|ut)"
_SEPARATOR = r"(?:(?:\\?[\"'])?\s*[=:]\s*|\\?[\"']\s*,\s*)b?"
_VALUE = r"(?P<quote>\\?[\"'])(?:(?!(?P=quote))(?:\\.|.))*|[^&;\s\"',}\\]+"
_PAIR = re.compile(rf"(?i)({_NAME}{_SEPARATOR})(?:{_VALUE})")
_HEADER = re.compile(r"(?i)(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie)(\s*:\s*)[^\r\n\"'\\]+")
_BEARER = re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+")
_USERINFO = re.compile(r"(?i)(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s]+@")
_KEYS = re.compile(r"\beyJ[\w-]{6,}\.[\w-]+\.[\w-]+|\b(?:sk|tvly)-[\w-]{8,}")


def redact(text: str) -> str:
    """`text` with every secret masked that has a recognisable form."""
    text = _USERINFO.sub(rf"\1:{MASK}@", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    text = _KEYS.sub(MASK, text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    return _PAIR.sub(_masked, text)


def _masked(found: re.Match[str]) -> str:
    return f"{found[1]}{found['quote'] or ''}{MASK}"
