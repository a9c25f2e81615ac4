"""Keys of block deals: equal lines are distinguished, sources that round are not."""

import pandas as pd

from core.text_keys import hash_key
from platform_assets.compute.deals import LINE, deal_key, with_deal_keys, with_numbers


def lines(*volumes: float, buyer: str | None = "机构专用") -> pd.DataFrame:
    rows = [("600000", "2026-08-20", 10.5, volume, buyer, "甲证券（山东）营业部") for volume in volumes]
    return pd.DataFrame(rows, columns=LINE)


def test_full_width_letters_and_blanks_make_no_difference() -> None:
    assert hash_key("甲证券（山东） 营业部") == hash_key("甲证券(山东)营业部")
    assert hash_key("a", "b") != hash_key("ab")
    assert len(hash_key("x")) == 16


def test_equal_lines_of_a_day_are_numbered_and_others_are_not() -> None:
    made = with_deal_keys(lines(100, 200, 100, 100))

    assert made["seq"].tolist() == [1, 1, 2, 3]
    assert made["row_key"].is_unique
    other = lines(100)
    other["date"] = "2026-08-21"
    assert with_deal_keys(other)["row_key"].tolist() == made["row_key"].tolist()[:1]
    assert with_deal_keys(lines()).empty


def test_a_source_that_tells_hundreds_of_shares_gives_the_same_key() -> None:
    assert deal_key(10.5, 1_234_567, "a", "b", 1) == deal_key(10.5, 1_234_600, "a", "b", 1)
    assert deal_key(10.5, 131_450, "a", "b", 1) == deal_key(10.5, 131_500, "a", "b", 1)  # half up
    assert deal_key(10.5, 1_234_567, "a", None, 1) != deal_key(10.5, 1_234_567, "a", "b", 1)


def test_numbers_follow_from_the_keys_in_any_order() -> None:
    made = with_deal_keys(lines(100, 100, 100, 250)).sample(frac=1, random_state=3)

    assert with_numbers(made.drop(columns="seq"))["seq"].tolist() == made["seq"].tolist()
    assert with_numbers(made.iloc[:0]).empty
