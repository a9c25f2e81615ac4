"""The HTTP response of every error: one status, one text, the headers that go with it.

Bodies are {detail} alone; 422 adds errors[{loc, msg, type}], and of a query or formula error{}. The header
X-Error-Code is for programs: texts may change, an `ErrorCode` does not. No text of a
driver, an address or a traceback ever reaches a client: what is not one of ours answers 'internal error'.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson
from starlette.responses import Response

from core.errors import (
    ConflictError,
    DamagedStorage,
    DiskFull,
    Forbidden,
    InputError,
    NotFound,
    PayloadError,
    PlatformError,
    StorageError,
    Unavailable,
    UpstreamError,
)

NOT_LOGGED_IN = "未登录或登录已失效"
NOT_ADMIN = "需要管理员权限"
WRONG_PAIR = "用户名或密码错误"
NOT_ACTIVE = "账号未启用"
LOCKED = "登录失败次数过多，请 300 秒后再试"
QUOTA_USED_UP = "今日免费次数已用完，购买会员后可继续使用"
TOO_FAST = "请求过于频繁，请稍后再试"
STORE_BUSY = "数据库繁忙或暂不可用，请稍后再试"
DISK_FULL = "磁盘已满，暂时无法写入，请联系管理员清理空间"
DAMAGED = "数据库文件已损坏，请联系管理员恢复备份"
SOURCE_AWAY = "数据源暂不可用，请稍后再试"
INTERNAL = "internal error"

BUSY_RETRY_S = 5
FULL_RETRY_S = 60
BEARER = {"WWW-Authenticate": "Bearer"}
ERROR_CODE = "X-Error-Code"
_SOON = {"Retry-After": str(BUSY_RETRY_S)}


class NotAuthenticated(Forbidden):
    """No token, a bad one, or a wrong pair at login (401)."""


class TooManyAttempts(Unavailable):
    """A limit of ours was reached (429); `retry_after` in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BadRequest(PlatformError):
    """A well-formed request that a rule refuses: upload, old password, dead link (400)."""


class BadExpression(InputError):
    """A text that is no query or no formula; `reported` holds where, and what was expected."""

    def __init__(self, parameter: str, problem: str, reported: Mapping[str, Any]) -> None:
        super().__init__(parameter, problem)
        self.reported = reported


class UnknownQueryParameter(InputError):
    """A query parameter that a route does not have (422)."""

    place = "query"

    def __init__(self, parameter: str, allowed: Sequence[str]) -> None:
        reported = f"allowed: {', '.join(allowed)}" if allowed else "it has none"
        super().__init__(parameter, f"is no query parameter of this route; {reported}")


class ErrorCode(StrEnum):
    """Why a request was refused, for programs."""

    BAD_REQUEST = "bad_request"
    NOT_AUTHENTICATED = "not_authenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    WRONG_HOST = "wrong_host"
    INVALID_INPUT = "invalid_input"
    TOO_MANY_REQUESTS = "too_many_requests"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"
    STORAGE_BUSY = "storage_busy"
    STORAGE_DAMAGED = "storage_damaged"
    DISK_FULL = "disk_full"
    SOURCE_AWAY = "source_away"
    OTHER = "other"


CODES = {
    400: ErrorCode.BAD_REQUEST,
    401: ErrorCode.NOT_AUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: ErrorCode.NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    409: ErrorCode.CONFLICT,
    421: ErrorCode.WRONG_HOST,
    422: ErrorCode.INVALID_INPUT,
    429: ErrorCode.TOO_MANY_REQUESTS,
    500: ErrorCode.INTERNAL,
    503: ErrorCode.UNAVAILABLE,
}
"""The code of a status, where nothing closer is known."""


@dataclass(frozen=True)
class ErrorResponse:
    """What a client sees of an error. `code`: closer than that of the status."""

    status: int
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    errors: Sequence[Mapping[str, Any]] | None = None
    error: Mapping[str, Any] | None = None
    code: ErrorCode | None = None

    def response(self) -> Response:
        body: dict[str, Any] = {"detail": self.detail}
        if self.errors is not None:
            body["errors"] = list(self.errors)
        if self.error is not None:
            body["error"] = dict(self.error)
        code = self.code or CODES.get(self.status, ErrorCode.OTHER)
        headers = {"Cache-Control": "no-store", ERROR_CODE: code, **self.headers}
        return Response(orjson.dumps(body), self.status, headers, media_type="application/json")


def _wrong(error: InputError) -> dict[str, Any]:
    return {"loc": [error.parameter], "msg": error.problem, "type": "value_error"}


def error_response_of(error: BaseException) -> ErrorResponse:
    """The response of any exception; an unknown one is 500 and says nothing about its cause."""
    match error:
        case NotAuthenticated():
            response = ErrorResponse(401, error.message, BEARER)
        case TooManyAttempts():
            response = ErrorResponse(429, error.message, {"Retry-After": str(error.retry_after)})
        case BadRequest():
            response = ErrorResponse(400, error.message)
        case BadExpression():
            response = ErrorResponse(422, error.message, errors=[_wrong(error)], error=error.reported)
        case InputError():
            response = ErrorResponse(422, error.message, errors=[_wrong(error)])
        case Forbidden():
            response = ErrorResponse(403, error.message)
        case NotFound():
            response = ErrorResponse(404, error.message)
        case ConflictError():
            response = ErrorResponse(409, error.message)
        case DiskFull() | DamagedStorage():
            full = isinstance(error, DiskFull)
            detail, code = (DISK_FULL, ErrorCode.DISK_FULL) if full else (DAMAGED, ErrorCode.STORAGE_DAMAGED)
            response = ErrorResponse(503, detail, {"Retry-After": str(FULL_RETRY_S)}, code=code)
        case StorageError():
            response = ErrorResponse(503, STORE_BUSY, _SOON, code=ErrorCode.STORAGE_BUSY)
        case UpstreamError() | PayloadError() | Unavailable():
            response = ErrorResponse(503, SOURCE_AWAY, _SOON, code=ErrorCode.SOURCE_AWAY)
        case _:
            response = ErrorResponse(500, INTERNAL)
    return response
