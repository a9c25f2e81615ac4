"""The tables of an HTML page as rows of texts."""

from lxml import html


def html_page(text: str) -> html.HtmlElement:
    """The page as a tree; an empty one where the text holds no tags at all."""
    try:
        return html.document_fromstring(text)
    except (ValueError, html.etree.ParserError):
        return html.Element("html")


def html_tables(text: str) -> list[list[list[str]]]:
    """Every table of a page, outer before inner, as rows of cells without blanks. A truncated page gives the
    tables before the break: the caller checks for its end."""
    return [
        [["".join(cell.text_content().split()) for cell in row if cell.tag in {"td", "th"}]
         for row in table.iter("tr") if next(row.iterancestors("table")) is table]
        for table in html_page(text).iter("table")
    ]  # fmt: skip
