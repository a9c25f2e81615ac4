"""Maps a failed call to a provider to our errors. The provider's own text may repeat the prompt or a part of
the key, so no error and no log record contains it: status and kind are enough."""

import re
from typing import Any

from core.errors import (
    Declined,
    PayloadError,
    Permanent,
    PlatformError,
    QuotaExhausted,
    Refused,
    Transient,
    UpstreamError,
    WrongName,
)

_CREDENTIALS = re.compile(
    r"invalid[ _-](?:x-)?(?:api[ _-]?)?key|api[ _-]?key (?:is )?(?:not valid|invalid)|incorrect api[ _-]?key"
    r"|unauthori[sz]ed|invalid[ _-](?:\w+[ _-])?token\b|token (?:is )?invalid|authentication fails|令牌",
    re.IGNORECASE,
)
"""Messages that name a credential, whatever their status."""
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|exceeded[\w ]{0,12}current[ _]quota|arrearage|overdue"
    r"|billing_(?:error|hard_limit)|billing details|requires? more credits|credit balance is too low"
    r"|free tier .{0,40}exhausted|余额不足|欠费|无可用资源包|额度(?:已|不足|用)",
    re.IGNORECASE,
)
"""Messages and codes that say that the account has nothing left, whatever their status."""
_MODEL = re.compile(
    r"model[_ ]not[_ ](?:found|exist)|model[^.]{0,80}(?:does not exist|not found|not exist|is not supported"
    r"|not a valid)|(?:no such|invalid|unknown|unsupported) model|not a valid model|模型不存在"
    r"|no endpoints found",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"data_inspection_failed|content_filter|content[ _]policy|sensitive (?:content|words?)|敏感|不合规",
    re.IGNORECASE,
)
_SOON = re.compile(r"retry in|retrydelay|per[ _]?minute|每分钟", re.IGNORECASE)
"""A quota that is there again in a moment; Gemini calls it a matter of billing."""
_REFUSING = frozenset({401, 403})
_PASSING = frozenset({408, 409, 425, 429})
_STATUS_OF = {
    "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
    "rate_limit_error": 429, "api_error": 500, "server_error": 500, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
"""Error kinds that a stream sends after its status was 200, and their statuses."""
_KIND = re.compile(r"[a-zA-Z][a-zA-Z_.]{2,59}")


class CallFailed(Exception):
    """One call failed. `error` is what the caller may see; `retry_after` are the seconds that the provider
    asks for. `reason` is the provider's own text: it may repeat the prompt and belongs in no log. With
    `is_address` the address alone may be wrong."""

    def __init__(
        self, error: PlatformError, status: int | None = None, retry_after: float | None = None,
        reason: str = "", *, is_address: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(error.message)
        self.error = error
        self.status = status
        self.retry_after = retry_after
        self.reason = reason
        self.is_address = is_address


class WebPage(Exception):
    """An address answered with a web page."""


async def refuse_page(response: Any) -> None:
    """A hook of the HTTP client. Raises WebPage; errors of the provider pass, whatever their form."""
    if response.is_success and "text/html" in response.headers.get("content-type", ""):
        raise WebPage


def is_page(text: str) -> bool:
    return text[:15].lower().startswith(("<!doctype", "<html"))


def page(provider_name: str) -> CallFailed:
    return CallFailed(
        WrongName(f"{provider_name}: the address answers with a web page", source=provider_name), 404,
        is_address=True,
    )  # fmt: skip


def cut(provider_name: str) -> CallFailed:
    return CallFailed(Transient(f"{provider_name}: the answer was cut in the middle", source=provider_name))


def unreadable(provider_name: str) -> CallFailed:
    return CallFailed(PayloadError(f"{provider_name}: the answer cannot be read", source=provider_name))


def declined(provider_name: str) -> CallFailed:
    return CallFailed(Declined(f"{provider_name}: the model declined to answer", source=provider_name))


def failure(error: Exception, library: Any, provider_name: str) -> CallFailed:
    """`error` is one of the library's, of its transport's, a TimeoutError or a ValueError of its parser."""
    # Loaded with the first model, as the libraries of the providers are.
    import httpx2  # noqa: PLC0415

    if isinstance(error, WebPage) or isinstance(error.__cause__, WebPage):
        return page(provider_name)
    if isinstance(error, TimeoutError | library.APITimeoutError | httpx2.TimeoutException):
        return CallFailed(Transient(f"{provider_name}: timeout", source=provider_name))
    if isinstance(error, library.APIConnectionError | httpx2.HTTPError):
        cause = type(error.__cause__ or error).__name__
        return CallFailed(
            Transient(f"{provider_name}: the connection failed ({cause})", source=provider_name)
        )
    if isinstance(error, library.APIResponseValidationError) or not isinstance(error, library.APIError):
        return unreadable(provider_name)
    response = getattr(error, "response", None)
    return _answered(error.body, getattr(error, "status_code", None), response, provider_name)


def failed_inside(error: Any, provider_name: str) -> CallFailed:
    """An error inside an answer whose status was 200: an object, or a text."""
    return _answered({"error": error}, None, None, provider_name)


def _answered(body: Any, status: int | None, response: Any, provider_name: str) -> CallFailed:
    if isinstance(body, list) and body:
        body = body[0]
    inner = body.get("error", body) if isinstance(body, dict) else body
    of = inner if isinstance(inner, dict) else {"message": inner}
    kind = _kind(of)
    if status is None or status < 300:
        code = of.get("code")
        status = _STATUS_OF.get(kind) or (code if isinstance(code, int) and 400 <= code < 600 else 500)
    text = _text(of)
    named = f"{provider_name}: HTTP {status}" + (f" ({kind})" if kind else "")
    family, more = _family(status, f"{kind} {text}")
    retry_after = _retry_after(response)
    is_address = family is WrongName and not _MODEL.search(text)
    return CallFailed(
        family(named + more, source=provider_name), 404 if family is WrongName else status, retry_after, text,
        is_address=is_address,
    )  # fmt: skip


def _family(status: int, text: str) -> tuple[type[UpstreamError], str]:
    """(error, what it means) of a status and of what the provider says."""
    if status == 402 or (_QUOTA.search(text) and not _SOON.search(text)):
        return QuotaExhausted, ", the account has nothing left"
    if status == 401 or _CREDENTIALS.search(text):
        return Refused, ", the credentials are refused"
    if status == 404 or (status < 500 and status != 429 and _MODEL.search(text)):
        return WrongName, ", no such model or address"
    if status < 500 and _DECLINED.search(text):
        return Declined, ", the model declined to answer"
    if status in _REFUSING:
        return Refused, ", the credentials are refused"
    return (Transient if status in _PASSING or status >= 500 else Permanent), ""


def _kind(error: dict[str, Any]) -> str:
    """The kind of the error in the provider's own list, '' where it says none in plain form."""
    kinds = [value for name in ("code", "type", "status") if isinstance(value := error.get(name), str)]
    plain = [kind for kind in kinds if _KIND.fullmatch(kind)]
    return next(
        (kind for kind in plain if kind in _STATUS_OF or _QUOTA.search(kind)), plain[0] if plain else ""
    )


def _text(error: dict[str, Any]) -> str:
    """All texts of an error: message, parameter, code, what a server in between passes on."""
    parts = (
        error.get(name)
        for name in ("message", "msg", "status_msg", "param", "code", "type", "metadata", "detail")
    )
    return " ".join(str(part) for part in parts if part)[:2000]


def _retry_after(response: Any) -> float | None:
    text = response.headers.get("retry-after", "") if response is not None else ""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
