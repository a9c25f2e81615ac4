"""Maps a failed call to a provider to our errors. The provider's own text may repeat the prompt or a part of
the key, so no error and no log record contains it: status and kind are enough."""

import re
from typing import Any

from core.errors import PayloadError, Permanent, PlatformError, Refused, Transient, UpstreamError

_CREDENTIALS = re.compile(
    r"invalid[ _-](?:x-)?(?:api[ _-]?)?key|api[ _-]?key (?:is )?(?:not valid|invalid)|incorrect api[ _-]?key"
    r"|unauthori[sz]ed|invalid[ _-](?:\w+[ _-])?token\b|token (?:is )?invalid",
    re.IGNORECASE,
)
"""Messages that name a credential, whatever their status."""
_REFUSING = frozenset({401, 402, 403})
"""402: the account behind the key is not paid for; another key may be."""
_PASSING = frozenset({408, 409, 425, 429})
_STATUS_OF = {
    "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
    "rate_limit_error": 429, "api_error": 500, "server_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
"""Error kinds that a stream sends after its status was 200, and their statuses."""
_KIND = re.compile(r"[a-z][a-z_]{2,39}")


class CallFailed(Exception):
    """One call failed. `error` is what the caller may see; `retry_after` are the seconds that the provider
    asks for."""

    def __init__(
        self, error: PlatformError, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.status = status
        self.retry_after = retry_after


def cut(provider_name: str) -> CallFailed:
    return CallFailed(Transient(f"{provider_name}: the answer was cut in the middle", source=provider_name))


def unreadable(provider_name: str) -> CallFailed:
    return CallFailed(PayloadError(f"{provider_name}: the answer cannot be read", source=provider_name))


def declined(provider_name: str) -> CallFailed:
    return CallFailed(Permanent(f"{provider_name}: the model declined to answer", source=provider_name))


def failure(error: Exception, library: Any, provider_name: str) -> CallFailed:
    """`error` is one of the library's, of its transport's, a TimeoutError or a ValueError of its parser."""
    # Loaded with the first model, as the libraries of the providers are.
    import httpx2  # noqa: PLC0415

    if isinstance(error, TimeoutError | library.APITimeoutError | httpx2.TimeoutException):
        return CallFailed(Transient(f"{provider_name}: timeout", source=provider_name))
    if isinstance(error, library.APIConnectionError | httpx2.HTTPError):
        cause = type(error.__cause__ or error).__name__
        return CallFailed(
            Transient(f"{provider_name}: the connection failed ({cause})", source=provider_name)
        )
    if isinstance(error, library.APIResponseValidationError) or not isinstance(error, library.APIError):
        return unreadable(provider_name)
    return _answered(error, provider_name)


def _answered(error: Any, provider_name: str) -> CallFailed:
    kind = _kind(error)
    status = getattr(error, "status_code", None)
    if status is None or status < 300:
        status = _STATUS_OF.get(kind, 500)
    message = f"{provider_name}: HTTP {status}" + (f" ({kind})" if kind else "")
    family: type[UpstreamError] = Permanent
    if status in _REFUSING or _CREDENTIALS.search(_text(error)):
        family, message = Refused, f"{message}, the credentials are refused"
    elif status in _PASSING or status >= 500:
        family = Transient
    return CallFailed(family(message, source=provider_name), status, _retry_after(error))


def _kind(error: Any) -> str:
    """The kind of the error in the provider's own list, '' where it says none in plain form."""
    for value in (getattr(error, "type", None), getattr(error, "code", None)):
        if isinstance(value, str) and _KIND.fullmatch(value):
            return value
    return ""


def _text(error: Any) -> str:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else body
    message = inner.get("message") if isinstance(inner, dict) else inner
    return str(message or "")[:2000]


def _retry_after(error: Any) -> float | None:
    response = getattr(error, "response", None)
    text = response.headers.get("retry-after", "") if response is not None else ""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
