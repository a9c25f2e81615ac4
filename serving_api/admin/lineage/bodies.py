"""Stored bodies of upstream responses: searched, and shown in a bounded size."""

import base64
import re
from typing import Any

from core.errors import StorageError
from resources.warehouse.payloads import PayloadStore

MAX_SHOWN = 64 * 1024
"""Bytes (base64) or characters (text) of one body in an answer."""
MAX_SEARCHED = 16 * 1024 * 1024
"""Bytes of bodies that one request searches."""
_TEXT_CODES = ("utf-8", "gb18030")
_LAYOUT = {9, 10, 12, 13}


def whole_word(text: str) -> re.Pattern[str]:
    """A pattern for `text` outside of longer numbers: 600519 in sh600519, but not in 1600519."""
    return re.compile(rf"(?<![0-9]){re.escape(text)}(?![0-9])")


class Bodies:
    """The stored bodies of one request; each is read once."""

    def __init__(self, store: PayloadStore) -> None:
        self._store = store
        self._known: dict[str, bytes | None] = {}
        self._searched = 0

    def get(self, path: str | None) -> bytes | None:
        """None when its retention is over, or the file cannot be read."""
        if path is None:
            return None
        if path not in self._known:
            try:
                self._known[path] = self._store.get(path)
            except StorageError:
                self._known[path] = None
        return self._known[path]

    def names(self, path: str | None, word: str) -> bool:
        """Whether the body contains `word`, in text not as part of a longer number; False once the request
        has searched `MAX_SEARCHED` bytes."""
        if self._searched > MAX_SEARCHED:
            return False
        body = self.get(path)
        if body is None:
            return False
        self._searched += len(body)
        if word.encode() not in body:
            return False
        text = text_of(body)
        return text is None or whole_word(word).search(text) is not None


def shown(body: bytes) -> dict[str, Any]:
    """{encoding 'text' or 'base64', content, bytes, truncated}."""
    text = text_of(body)
    if text is None:
        encoding, content = "base64", base64.b64encode(body[:MAX_SHOWN]).decode()
    else:
        encoding, content = "text", text[:MAX_SHOWN]
    truncated = len(body if text is None else text) > MAX_SHOWN
    return {"encoding": encoding, "content": content, "bytes": len(body), "truncated": truncated}


def text_of(body: bytes) -> str | None:
    """The body as text; None when it is binary."""
    if any(byte < 32 and byte not in _LAYOUT for byte in body[:4096]):
        return None
    for code in _TEXT_CODES:
        try:
            return body.decode(code)
        except UnicodeDecodeError:
            continue
    return None
