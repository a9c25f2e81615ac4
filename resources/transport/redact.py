"""One place that removes secrets from text before it reaches logs, errors, recordings or answers."""

import re

MASK = "***"
_SECRET_WORDS = (
    r"token|access_token|xq_a_token|authorization|password|passwd|secret|api_?key|apikey|cookie|ut"  # noqa: S105  names, not values
)
_QUERY = re.compile(rf"(?i)([?&;\s\"']|^)({_SECRET_WORDS})(=|\"?\s*:\s*\"?)([^&;\s\"',}}]+)")
_BEARER = re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]+")
_USERINFO = re.compile(r"(?i)([a-z][a-z0-9+.-]*://[^/\s:@]*):[^/\s@]+@")


def redact(text: str) -> str:
    """`text` with the values of secret-looking parameters, bearer tokens and URL passwords masked."""
    text = _USERINFO.sub(rf"\1:{MASK}@", text)
    text = _BEARER.sub(rf"\1{MASK}", text)
    return _QUERY.sub(rf"\1\2\3{MASK}", text)
