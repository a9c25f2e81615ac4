"""Limits an answer to 25 kB of JSON text; the rest is available through a cursor."""

from typing import Any, TypeVar

import orjson

from serving_api.tools.answers import Draft, Page, ToolAnswer
from serving_api.tools.cleaning import clean

MAX_BYTES = 25_000
_ROOM = 400
"""Bytes reserved for the text about the rest."""
HOW = "更多内容：以 page.next_cursor 作为 cursor 再次调用，其余参数不变；或减小 limit、缩小范围"
TOO_LARGE = "单项超过 25 kB，已省略：请减小 limit、periods 或 days，或用 fields 指定列"

R = TypeVar("R", bound=ToolAnswer)


def text_of(answer: ToolAnswer) -> str:
    """The JSON text of an answer."""
    return orjson.dumps(answer.model_dump(mode="json")).decode()


def fitted(kind: type[R], draft: Draft) -> R:
    """As many items as fit, in their order. An item that is too large by itself is replaced by a remark."""
    body: dict[str, Any] = clean(draft.body)
    parts: dict[str, Any] = {"receipts": draft.receipts(), "notice": draft.notice, **body}
    # As they are sent, with the fields that the models add.
    whole = kind(items=clean(list(draft.items)), page=Page(returned=0), **parts).model_dump(mode="json")
    items: list[Any] = whole.pop("items")
    room = MAX_BYTES - _ROOM - len(orjson.dumps(whole))
    kept: list[Any] = []
    how = HOW if draft.more else None
    for item in items:
        size = len(orjson.dumps(item)) + 1
        if size > room and not kept:
            kept.append({"omitted_bytes": size, "why": TOO_LARGE})
            how = TOO_LARGE
            room = 0
            continue
        if size > room:
            how = how or draft.rest or HOW
            break
        kept.append(item)
        room -= size
    reached = draft.offset + len(kept)
    is_cut = len(kept) < len(items) or draft.more
    page = Page(
        returned=len(kept),
        total=draft.total if draft.total is not None else (None if is_cut else reached),
        next_cursor=str(reached) if is_cut and draft.rest is None else None,
        how=how,
    )
    return kind(items=kept, page=page, **parts)
