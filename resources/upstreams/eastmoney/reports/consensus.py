"""Mean of the earnings per share that brokers forecast, a report of the data centre (RPT_WEB_RESPREDICT): one
row per company, with columns for four years. The mark of a year says whether it was reported (A) or is
expected (E)."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from core.errors import PayloadError
from resources.upstreams.eastmoney.data_centre import EVERY_COLUMN, Report, of_codes
from resources.upstreams.parsing.frames import frame, numbers, texts
from resources.upstreams.parsing.payload import amount, number, promised, required, whole
from resources.upstreams.parsing.rows import security_code

CONSENSUS_COLUMNS: dict[str, str] = {**texts("code"), **numbers("forecast_year org_count eps_mean")}
_YEARS = (1, 2, 3, 4)
WIDE_COLUMNS: dict[str, str] = {
    **texts("code"),
    **numbers("org_count"),
    **dict.fromkeys((f"{name}{at}" for at in _YEARS for name in ("year", "eps")), "f"),
}
_REPORTED, _EXPECTED = "A", "E"
_LARGEST_EPS = 1000


def consensus_report(codes: Sequence[str] | None = None) -> Report:
    """The companies that brokers follow, or some of them."""
    return Report("RPT_WEB_RESPREDICT", EVERY_COLUMN, of_codes(codes), ("SECURITY_CODE",), ("code",))


def consensus_rows(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Columns `WIDE_COLUMNS`, a row per company, CNY, without the earnings of reported years, which are no
    forecasts. PayloadError when the years are not one after the other."""
    return frame([_row(row) for row in rows], WIDE_COLUMNS)


def by_year(wide: pd.DataFrame) -> pd.DataFrame:
    """Columns `CONSENSUS_COLUMNS`, a row per company and year that something is expected of."""
    parts = [
        wide[["code", "org_count"]].assign(forecast_year=wide[f"year{at}"], eps_mean=wide[f"eps{at}"])
        for at in _YEARS
    ]
    rows_by_year = pd.concat(parts, ignore_index=True)[list(CONSENSUS_COLUMNS)]
    return rows_by_year[rows_by_year["forecast_year"].notna() & rows_by_year["eps_mean"].notna()].reset_index(
        drop=True
    )


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    promised(row, ("SECURITY_CODE", "RATING_ORG_NUM"), "consensus")
    if not any(f"YEAR{at}" in row and f"EPS{at}" in row for at in _YEARS):
        raise PayloadError("consensus: no year with its earnings")
    if not any(f"YEAR_MARK{at}" in row for at in _YEARS):
        raise PayloadError("consensus: no field YEAR_MARK1, which tells a forecast from a result")
    code = security_code(row["SECURITY_CODE"], "consensus")
    what = f"consensus {code}"
    brokers = required(amount(row["RATING_ORG_NUM"], f"{what} RATING_ORG_NUM"), f"{what} RATING_ORG_NUM")
    made: dict[str, Any] = {"code": code, "org_count": brokers}
    first = None
    expected = False
    for at in _YEARS:
        if row.get(f"YEAR{at}") is None:
            continue
        year = whole(number(row[f"YEAR{at}"], f"{what} YEAR{at}"), f"{what} YEAR{at}")
        first = year - at if first is None else first
        if not 2000 <= year <= 2100 or year - at != first:
            raise PayloadError(f"{what}: YEAR{at} is {year}")
        eps = number(row.get(f"EPS{at}"), f"{what} EPS{at}")
        if abs(eps) > _LARGEST_EPS:
            raise PayloadError(f"{what}: EPS{at} {eps} CNY is not plausible")
        mark = row.get(f"YEAR_MARK{at}")
        if mark not in {_REPORTED, _EXPECTED, None} or (expected and mark == _REPORTED):
            raise PayloadError(f"{what}: YEAR_MARK{at} is {mark!r:.20}")
        expected = expected or mark == _EXPECTED
        made |= {f"year{at}": year, f"eps{at}": eps if mark == _EXPECTED else math.nan}
    return made
