"""Closed days beside weekends: the section [Holiday] of `needini.dat` in the package `zhb.zip`.

`NUM=36`, then a line for each year: `Y36=2026,0101,0102,0216,` (place, year, MMDD, often a comma at the end).
Years before the announcement of their arrangement may be listed with few of their days.
"""

import re

from core.errors import PayloadError
from resources.rejections import accepted_rows
from resources.upstreams.parsing.payload import iso_day
from resources.upstreams.tdx.primitives import SOURCE, Columns, accepted, require

MEMBER = "needini.dat"
SCHEMA = {"year": "int64", "date": "str"}
_SECTION = "[holiday]"
_YEAR_LINE = re.compile(r"Y[0-9]{1,3}\s*=\s*([0-9]{4})\s*,([0-9,\s]*)")
_FIRST_YEAR, _LAST_YEAR = 1990, 2100


@accepted("closed days")
def parse_closed_days(content: bytes) -> Columns:
    """One row per closed day, ascending. A damaged line costs its year."""
    lines = _section(content.decode("gb18030"))
    require(bool(lines), f"{MEMBER} has no section {_SECTION}")
    found: dict[int, list[str]] = {}
    for year, days in accepted_rows(lines, _year, MEMBER, lambda line: line.partition("=")[0]):
        require(year not in found, f"{year} twice")
        found[year] = days
    require(bool(found), f"{MEMBER} has no year")
    columns: Columns = {name: [] for name in SCHEMA}
    for year in sorted(found):
        columns["year"] += [year] * len(found[year])
        columns["date"] += found[year]
    return columns


def _section(text: str) -> list[str]:
    """The lines `Y…` of the section."""
    inside, lines = False, []
    for line in (raw.strip() for raw in text.splitlines()):
        if line.startswith("["):
            inside = line.lower() == _SECTION
        elif inside and line.startswith("Y"):
            lines.append(line)
    return lines


def _year(line: str) -> tuple[int, list[str]]:
    match = _YEAR_LINE.fullmatch(line)
    if match is None or not _FIRST_YEAR <= int(match[1]) <= _LAST_YEAR:
        raise PayloadError(f"{line[:40]!r} is no year of the exchanges", source=SOURCE)
    named = [text.strip() for text in match[2].split(",") if text.strip()]
    return int(match[1]), sorted({iso_day(f"{match[1]}{text}", MEMBER) for text in named})
