"""Keys made of text: the same for spellings that a reader would call the same."""

import hashlib
import unicodedata
from collections.abc import Iterable

KEY_LENGTH = 16


def plain_form(text: str) -> str:
    """NFKC-normalised (full width becomes half width) without any white space."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def search_key(text: str) -> str:
    """Text as a search compares it: the plain form without case."""
    return plain_form(text).casefold()


def text_key(text: str) -> str:
    """The first 16 hex digits of SHA-1 over the plain form. Equal for `公告（2026）` and `公告 (2026)`."""
    plain = plain_form(text).encode("utf-8", "surrogatepass")
    return hashlib.sha1(plain, usedforsecurity=False).hexdigest()[:KEY_LENGTH]


def hash_key(*parts: str) -> str:
    """`text_key` of several values that identify a row together (column type `K16`)."""
    return text_key("|".join(parts))


def text_keys(texts: Iterable[str | None]) -> list[str | None]:
    """`text_key` of each text; None where there is none."""
    return [text_key(text) if isinstance(text, str) and text.strip() else None for text in texts]
