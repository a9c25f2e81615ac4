"""Former codes: the shipped table, chains of changes, and numbers of which nothing more is known."""

import pytest

from core.market.renumbering import BEIJING_SINCE, CodeChange, Renumbering, known_changes

TODAY = "2026-08-21"


def test_the_shipped_table_has_the_announced_changes_of_beijing() -> None:
    beijing = {one.code: one.new_code for one in known_changes() if one.new_code.startswith("92")}

    assert beijing == {
        "833819": "920819", "830799": "920799", "831445": "920445", "430489": "920489", "839167": "920167",
        "834682": "920682",
    }  # fmt: skip


def test_a_chain_of_changes_ends_at_the_code_of_today() -> None:
    changes = (CodeChange("430001", "830001", "2014-01-02"), CodeChange("830001", "920001", None))
    known = Renumbering(changes, frozenset(), TODAY)

    assert known.of("430001") == CodeChange("430001", "920001", None)
    assert known.of("920001") is None
    circle = (CodeChange("000001", "000002", None), CodeChange("000002", "000001", None))
    assert known.of("600519") is None
    assert Renumbering(circle, frozenset(), TODAY).of("000001") is not None


@pytest.mark.parametrize("code", ["430999", "830999", "870999"])
def test_a_replaced_number_without_a_follower_is_told(code: str) -> None:
    with pytest.raises(ValueError, match=f"{code} is of a range that Beijing replaced by 920xxx"):
        Renumbering((), frozenset(), TODAY).of(code)
    assert Renumbering((), frozenset({code}), TODAY).of(code) is None  # it is held under this code
    assert Renumbering((), None, TODAY).of(code) is None  # nobody knows what is held
    assert Renumbering((), frozenset(), "2025-10-08").of(code) is None
    assert BEIJING_SINCE == "2025-10-09"
