"""An answer on its way out: what a route returns, and the one place that makes bytes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from serving_api.framework.envelope import is_enveloped, wrap


class Answer(Response):
    """A payload before its envelope; it may hold models. `top` holds keys next to `results` (as_of,
    page_info, data_availability); on plain paths they join the object. `headers` win over those of the route.
    Serialised once, by `render_answer`."""

    def __init__(
        self,
        payload: Any,
        *,
        top: Mapping[str, Any] | None = None,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status_code=status_code)
        self.own_headers = dict(headers or {})
        self.payload = payload
        self.top = {key: value for key, value in (top or {}).items() if value is not None}


class EarlyAnswer(Exception):
    """Raised where an answer is known before the work is done; the route answers with it."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status_code)
        self.answer = answer


def render_answer(answer: Answer, path: str, *, query_time: str, headers: Mapping[str, str]) -> Response:
    """Bytes of the answer: in the envelope where `path` carries it, as it is elsewhere."""
    payload = answer.payload
    if isinstance(payload, BaseModel):
        payload = _plain(payload)
    if is_enveloped(path):
        content = wrap(payload, query_time=query_time, top=answer.top)
    elif answer.top and isinstance(payload, Mapping):
        content = {**payload, **answer.top}
    else:
        content = payload
    response = Response(
        orjson.dumps(content, _plain),
        answer.status_code,
        {**headers, **answer.own_headers},
        media_type="application/json",
    )
    response.background = answer.background
    return response


def _plain(value: object) -> dict[str, Any]:
    """A model as JSON: what was read or set, under the names of the document."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    raise TypeError(f"{type(value).__name__} is no JSON")


@dataclass(frozen=True)
class KeptAnswer:
    """The bytes of an answer around its query time, which alone changes until its tables do, and its own
    headers. Without such a time all bytes are in `head`."""

    head: bytes
    tail: bytes
    own_headers: Mapping[str, str]

    @classmethod
    def of(cls, body: bytes, query_time: str, own_headers: Mapping[str, str]) -> "KeptAnswer":
        head, found, tail = body.partition(f'"query_time":"{query_time}"'.encode())
        return cls(head, tail, own_headers) if found else cls(body, b"", own_headers)

    @property
    def size(self) -> int:
        """Bytes, about."""
        return len(self.head) + len(self.tail) + 500

    def response(self, query_time: str, headers: Mapping[str, str]) -> Response:
        time = f'"query_time":"{query_time}"'.encode()
        body = b"".join((self.head, time, self.tail)) if self.tail else self.head
        return Response(body, headers={**headers, **self.own_headers}, media_type="application/json")
