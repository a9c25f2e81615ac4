"""The order of versions, which one was valid when, and what each changed: pure, on hand-made rows."""

from typing import Any

import pytest

from core.declaration.columns import columns_from
from core.declaration.tables import Layer, Table
from serving_api.admin.lineage.bodies import MAX_SHOWN, shown, whole_word
from serving_api.admin.lineage.queries import asked_text
from serving_api.admin.lineage.revisions import chain, revisions, valid_at
from serving_api.admin.lineage.visited_batches import _CODE

TABLE = Table("fusion_t", Layer.DWD, columns_from("code:code price:px held:bool tags:json"), ("code",))
NINE, TEN, ELEVEN, NOON = (f"2026-08-21 {hour:02d}:00:00.000000" for hour in (9, 10, 11, 12))


def version(
    batch: str, since: str, until: str | None, by: str | None = None, **values: Any
) -> dict[str, Any]:
    base = {"code": "600519", "price": 1.0, "held": 0, "tags": None, "quality": "ok", "quality_flags": None}
    return {
        **base, "batch_id": batch, "valid_from": since, "valid_to": until, "superseded_by": by, **values,
    }  # fmt: skip


def test_versions_of_one_instant_are_ordered_by_who_replaced_whom() -> None:
    current = version("c", TEN, None)
    history = [version("b", TEN, TEN, "c"), version("a", NINE, TEN, "b")]

    assert [row["batch_id"] for row in chain(current, history)] == ["a", "b", "c"]


def test_an_empty_interval_was_never_valid() -> None:
    versions = chain(version("c", TEN, None), [version("b", TEN, TEN, "c"), version("a", NINE, TEN, "b")])

    found = valid_at(versions, TEN)

    assert found is not None
    assert found["batch_id"] == "c"


@pytest.mark.parametrize(
    ("at", "batch"), [(NINE, "a"), (TEN, "b"), (ELEVEN, None), (NOON, None), (None, None)]
)
def test_a_retracted_row_was_valid_until_its_retraction(at: str | None, batch: str | None) -> None:
    versions = chain(None, [version("a", NINE, TEN, "b"), version("b", TEN, ELEVEN, "gone")])

    found = valid_at(versions, at)

    assert (found["batch_id"] if found else None) == batch


def test_before_the_first_version_there_was_nothing() -> None:
    assert valid_at([version("a", TEN, None)], NINE) is None
    assert valid_at([], NINE) is None


def test_each_revision_lists_its_changes() -> None:
    versions = [
        version("a", NINE, TEN, "b"),
        version("b", TEN, ELEVEN, "c", price=2.0, held=1),
        version("c", ELEVEN, None, price=2.0, held=1, tags='["x"]'),
    ]

    found = revisions(TABLE, versions, ["price", "held", "tags"], None)

    assert [item["batch_id"] for item in found] == ["c", "b", "a"]
    assert found[0]["changed"] == {"tags": {"old": None, "new": ["x"]}}
    assert found[1]["changed"] == {"price": {"old": 1.0, "new": 2.0}, "held": {"old": False, "new": True}}
    assert found[2]["changed"] == {}
    assert found[1]["valid_to"] == found[0]["valid_from"] == "2026-08-21T11:00:00+08:00"


def test_what_came_later_was_not_known() -> None:
    versions = [version("a", NINE, TEN, "b"), version("b", TEN, None, price=2.0)]

    assert [item["batch_id"] for item in revisions(TABLE, versions, ["price"], NINE)] == ["a"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("sh600519", True), ("600519,000001", True), ("1600519", False), ("6005190", False), ("60051", False)],
)
def test_a_code_is_found_as_a_whole(text: str, found: bool) -> None:
    assert (whole_word("600519").search(text) is not None) is found


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ("GET /get?filter=(DATE%3E%3D%272026-08-21%27)", None),  # a quote before a date is no digit of a code
        ("GET /get?filter=(SECURITY_CODE%3D%22600519%22)", "600519"),
        ("GET /get?secid=1.600519", "600519"),
        (None, None),
    ],
)
def test_codes_of_a_request_are_read_from_its_plain_characters(
    request_: str | None, found: str | None
) -> None:
    reported = _CODE.search(asked_text({"request": request_, "codes_or_page": ""}))
    assert (reported and reported[0]) == found


def test_bodies_are_shown_as_text_where_they_are_text() -> None:
    assert shown("茅台".encode())["content"] == "茅台"
    assert shown("贵州茅台".encode("gbk")) == {
        "encoding": "text", "content": "贵州茅台", "bytes": 8, "truncated": False,
    }  # fmt: skip
    assert shown(b"\x00\x01")["encoding"] == "base64"


def test_a_large_body_is_cut() -> None:
    found = shown(b"x" * (MAX_SHOWN + 1))

    assert (len(found["content"]), found["bytes"], found["truncated"]) == (MAX_SHOWN, MAX_SHOWN + 1, True)
