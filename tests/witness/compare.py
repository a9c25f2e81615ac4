"""Whether two tables say the same, row by row."""

import re
from typing import Any

import numpy as np
import pandas as pd

from tests.witness.cases import IN_ORDER, ITEMS, Case

_PAIR = re.compile(r"(?P<theirs>.+?)=(?P<ours>[^*~=]+)(?:\*(?P<factor>[\d.e+-]+))?(?:~(?P<decimals>\d))?")
_MISSING = {"", "-", "nan", "None", "NaT", "<NA>"}


def text_of(value: Any) -> str:
    """Codes without market, dates as ISO, whole numbers without a point."""
    if isinstance(value, float) and np.isfinite(value) and value == int(value):
        return str(int(value))
    text = re.sub(r"^(?:sh|sz|bj)(?=\d{6})|\.(?:SH|SZ|BJ|SI)$", "", str(value).strip(), flags=re.IGNORECASE)
    if re.fullmatch(r"(?:19|20)\d{6}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return text.removesuffix(" 00:00:00") if text not in _MISSING else ""


def keys_of(table: pd.DataFrame, names: str) -> list[str]:
    return ["|".join(map(text_of, row)) for row in table[names.split("+")].to_numpy(dtype=object)]


def matched(case: Case, theirs: pd.DataFrame, ours: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of both that are about the same."""
    if case.theirs == ITEMS:
        pairs = theirs.set_index(theirs.columns[0])[theirs.columns[1]]
        return pd.DataFrame([pairs.to_dict()]), ours.iloc[:1]
    if case.theirs == IN_ORDER:
        assert len(theirs) == len(ours), f"{len(theirs)} rows of theirs, {len(ours)} of ours"
        return theirs, ours
    place = {key: at for at, key in reversed(list(enumerate(keys_of(ours, case.ours))))}
    found = [(at, place[key]) for at, key in enumerate(keys_of(theirs, case.theirs)) if key in place]
    missing = len(theirs) - len(found)
    assert found, f"none of {keys_of(theirs, case.theirs)[:3]} in {keys_of(ours, case.ours)[:3]}"
    assert case.some or not missing, f"{missing} of {len(theirs)} rows are not among ours"
    return theirs.iloc[[at for at, _ in found]], ours.iloc[[at for _, at in found]]


def differences(case: Case, theirs: pd.DataFrame, ours: pd.DataFrame) -> list[str]:
    """What is not equal, in words; and how much was compared."""
    left, right = matched(case, theirs, ours)
    wrong = []
    for pair in case.columns.split():
        reported = _PAIR.fullmatch(pair)
        assert reported is not None, pair
        mine = right[reported["ours"]]
        their = left.loc[:, reported["theirs"]]
        their = their.iloc[:, 0] if isinstance(their, pd.DataFrame) else their
        same = (
            numbers_agree(their, mine, float(reported["factor"] or 1), reported["decimals"])
            if pd.api.types.is_numeric_dtype(mine)
            else [text_of(one) == text_of(other) for one, other in zip(their, mine, strict=True)]
        )
        if all(text_of(one) == "" for one in mine) and any(text_of(one) != "" for one in their):
            wrong.append(f"{pair}: ours has no value at all")
        at = next((at for at, equal in enumerate(same) if not equal), None)
        if at is not None:
            wrong.append(f"{pair}: row {at}: theirs {their.iloc[at]!r}, ours {mine.iloc[at]!r}")
    return wrong


def numbers_agree(their: pd.Series, mine: pd.Series, factor: float, decimals: str | None) -> list[bool]:
    left = pd.to_numeric(their.replace(["-", ""], None), errors="coerce").to_numpy(dtype=float) / factor
    right = mine.to_numpy(dtype=float)
    # Our parsers keep four decimals where no other number is given.
    slack = 0.51 * 10 ** -int(decimals or 4) + np.abs(right) * 1e-9
    # A value that one of them leaves out is no difference; a table of such is, see the test.
    return list((np.abs(left - right) <= slack) | np.isnan(left) | np.isnan(right))


def compared(case: Case, theirs: pd.DataFrame, ours: pd.DataFrame) -> int:
    """Pairs of values that both have."""
    left, right = matched(case, theirs, ours)
    count = 0 if case.columns else len(left)
    for pair in case.columns.split():
        reported = _PAIR.fullmatch(pair)
        assert reported is not None, pair
        their = left.loc[:, reported["theirs"]]
        their = their.iloc[:, 0] if isinstance(their, pd.DataFrame) else their
        count += sum(
            text_of(one) != "" and text_of(other) != ""
            for one, other in zip(their, right[reported["ours"]], strict=True)
        )
    return count
