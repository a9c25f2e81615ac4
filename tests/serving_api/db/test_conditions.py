"""Conditions of reads from columns and values."""

import pytest

from serving_api.db.sessions import condition


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ({"code": "600519"}, ("code=?", ("600519",))),
        ({"code": "600519", "date>=": "2026-08-03"}, ("code=? AND date>=?", ("600519", "2026-08-03"))),
        ({"code": ["600519", "000001"]}, ("code IN (?, ?)", ("600519", "000001"))),
        ({"code": ["600519"]}, ("code=?", ("600519",))),
        ({"code?": "600519", "date>=?": "2026-08-03"}, ("code=? AND date>=?", ("600519", "2026-08-03"))),
        ({"code?": None, "date>=?": None}, ("", ())),
        ({"code": []}, ("1=0", ())),  # none of the values, and no text that one engine refuses
    ],
)
def test_values_become_a_condition(of: dict[str, object], expected: tuple[str, tuple[object, ...]]) -> None:
    assert condition(of) == expected


@pytest.mark.parametrize("key", ["code", "date>="])
def test_none_is_any_value_only_where_the_key_says_so(key: str) -> None:
    with pytest.raises(TypeError, match=key):
        condition({key: None})


def test_a_condition_of_its_own_comes_last() -> None:
    assert condition({"code": "600519"}, "name LIKE ?", ("%酒%",)) == (
        "code=? AND name LIKE ?",
        ("600519", "%酒%"),
    )
