"""Tables of a streamed answer: the head says what a column is, also once its line was shown."""

from platform_assets.compute.evidence.facts import Pack
from serving_api.chat.checked import Checker, SentenceStream

DAY = "2026-08-21"


def streamed(text: str) -> str:
    pack = Pack(f"{DAY} 16:05:00")
    for subject, label, value in (
        ("瀚棠黄金", "市盈率TTM", 21.5), ("邺源银行", "市盈率TTM", 15.2), ("瀚棠黄金", "市净率", 7.8),
    ):  # fmt: skip
        pack.add(subject, label, value, "", table="fusion_valuation", column="c", as_of=DAY)
    stream = SentenceStream(Checker(pack))
    return "".join(stream.feed(text[at : at + 3]) for at in range(0, len(text), 3)) + stream.finish()


def test_the_head_of_a_streamed_table_names_whom_a_column_is_of() -> None:
    table = "| 指标 | 瀚棠黄金 | 邺源银行 |\n|---|---|---|\n| 市盈率TTM | {} | {} |\n以上。\n"
    true = table.format("21.5[E1]", "15.2[E2]")
    assert streamed(true) == true
    assert streamed(table.format("15.2[E2]", "21.5[E1]")) == table.format("—[E2]", "—[E1]")


def test_the_head_of_a_streamed_table_names_the_figure() -> None:
    table = "| 名称 | 市盈率TTM | 市净率 |\n|---|---|---|\n| 瀚棠黄金 | {} | {} |\n"
    true = table.format("21.5[E1]", "7.8[E3]")
    assert streamed(true) == true
    assert streamed(table.format("7.8[E3]", "21.5[E1]")) == table.format("—[E3]", "—[E1]")
