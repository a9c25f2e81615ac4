"""One hit of a search, as every provider's client gives it."""

from typing import Any, TypedDict

from resources.upstreams.parsing.texts import plain_text, web_address

TITLE_CHARS, CONTENT_CHARS = 200, 600


class Hit(TypedDict):
    """`content` are a few lines of the page, or what the provider made of it."""

    title: str
    url: str
    content: str


def hit_of(title: Any, url: Any, content: Any, what: str) -> Hit | None:
    """None for a hit without a title or without an address that may be shown. Raises PayloadError."""
    address = web_address(url)
    text = plain_text(title or "", f"{what} title", TITLE_CHARS)
    if address is None or not text:
        return None
    return Hit(title=text, url=address, content=plain_text(content or "", f"{what} content", CONTENT_CHARS))
