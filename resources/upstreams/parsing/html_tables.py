"""The tables of an HTML page as rows of texts."""

from html.parser import HTMLParser

_CELLS = frozenset({"td", "th"})


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self._open: list[list[list[str]]] = []
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._open.append([])
            self.tables.append(self._open[-1])
        elif tag == "tr" and self._open:
            self._close_cell()
            self._open[-1].append([])
        elif tag in _CELLS and self._open:
            self._close_cell()
            if not self._open[-1]:
                self._open[-1].append([])
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in _CELLS or tag == "tr":
            self._close_cell()
        elif tag == "table" and self._open:
            self._close_cell()
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def _close_cell(self) -> None:
        if self._cell is not None and self._open and self._open[-1]:
            self._open[-1][-1].append("".join("".join(self._cell).split()))
        self._cell = None


def html_tables(text: str) -> list[list[list[str]]]:
    """Every table of a page, outer before inner, as rows of cells without blanks. A truncated page gives the
    tables before the break: the caller checks for its end."""
    reader = _Reader()
    reader.feed(text)
    return reader.tables
