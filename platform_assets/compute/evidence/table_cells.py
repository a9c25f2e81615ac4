"""Tables in a text: what head and row say of a cell."""


class TableHead:
    """Reads a text line by line and keeps the head of the table that a line is in."""

    def __init__(self) -> None:
        self._head: list[str] | None = None

    def before(self, line: str) -> list[str]:
        """Cells of the head above this line; [] for the head itself and outside a table."""
        if not line.lstrip().startswith("|"):
            self._head = None
            return []
        if self._head is None:
            self._head = cells(line)
            return []
        return self._head


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def words_of_cell(head: list[str], line_before: str) -> tuple[str, str]:
    """(first cell of the row, cell of the head) for the text after `line_before`; '' where there is
    none."""
    column = line_before.count("|") - 1
    if not 0 < column < len(head):
        return "", ""
    return cells(line_before)[0], head[column]
