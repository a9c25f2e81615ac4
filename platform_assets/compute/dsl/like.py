"""Patterns of `like`: % is any text, _ one character; one without either is looked for anywhere in the text.

Read from left to right, each piece between two % at its first place: no text or pattern makes it go back.
"""


class Pattern:
    """Case does not matter."""

    def __init__(self, pattern: str) -> None:
        folded = _folded(pattern)
        is_plain = not set(folded) & {"%", "_"}
        # Of `a%b` the first piece is tied to the start, the last one to the end.
        self._pieces = ["", folded, ""] if is_plain else folded.split("%")
        self._shortest = sum(map(len, self._pieces))

    def fits(self, text: str) -> bool:
        """Whether the whole text is such a one."""
        text = _folded(text)
        if len(text) < self._shortest:
            return False
        first, *between = self._pieces
        if not between:
            return len(text) == len(first) and _stands(first, text, 0)
        *between, last = between
        end = len(text) - len(last)
        if not (_stands(first, text, 0) and _stands(last, text, end)):
            return False
        at = len(first)
        for piece in between:
            found = _place(piece, text, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True


def _place(piece: str, text: str, at: int, end: int) -> int:
    """Position of a piece's first occurrence in text[at:end], -1 where there is none."""
    if "_" not in piece:
        return text.find(piece, at, end)
    last = end - len(piece)
    return next((one for one in range(at, last + 1) if _stands(piece, text, one)), -1)


def _stands(piece: str, text: str, at: int) -> bool:
    return all(char in {"_", text[at + place]} for place, char in enumerate(piece))


def _folded(text: str) -> str:
    """In small letters, one character for one."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)
