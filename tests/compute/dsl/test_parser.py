"""What is a query, what its normalised form is, and what is said of texts that are none."""

from typing import Any

import pytest

from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.parser import parse
from platform_assets.compute.dsl.tree import Query, fields_of
from platform_assets.compute.dsl.values import NUMERIC_START
from platform_assets.compute.dsl.written import query_json, written
from platform_assets.compute.language import LanguageError
from tests.compute.dsl.grown import Grower

RANDOM = 10_000
CODES = {"unknown_field", "syntax", "type", "limit"}


def tried(text: str) -> Query | LanguageError:
    try:
        return parse(text)
    except LanguageError as wrong:
        return wrong


def error(text: str) -> LanguageError:
    with pytest.raises(LanguageError) as caught:
        parse(text)
    return caught.value


def test_every_grown_query_parses_and_its_normalised_form_is_the_same_tree() -> None:
    grower = Grower(20260821)
    parsed = 0
    for _ in range(RANDOM // 2):
        text = grower.query()
        query = tried(text)
        if isinstance(query, LanguageError):
            assert query.code == "limit", (text, query.reported())
        else:
            parsed += 1
            assert parse(written(query)) == query, text
    assert parsed > 0.99 * RANDOM // 2


def test_random_texts_parse_or_say_where_they_are_wrong() -> None:
    grower = Grower(19901219)
    refused = 0
    for _ in range(RANDOM // 2):
        text = grower.broken()
        found = tried(text)
        if isinstance(found, LanguageError):
            refused += 1
            assert found.code in CODES
            assert 0 <= found.position <= len(text), text
            assert text[found.position :].startswith(found.token), text
            before = text[: found.position].split("\n")
            assert (found.line, found.column) == (len(before), len(before[-1]) + 1)
        else:
            assert parse(written(found)) == found, text
    assert refused > RANDOM // 10


def test_every_example_of_the_catalogue_is_a_query_about_its_field() -> None:
    for name, field in catalogue().fields.items():
        assert name in fields_of(parse(field.example)), field.example


def test_every_chinese_name_is_read_where_it_stands() -> None:
    for name, field in catalogue().names.items():
        if not name[0].isascii() and name.isalnum():
            assert fields_of(parse(f"{name} is null且{name} is not null")) == [field.name]


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        (
            "pe_ttm between 0 and 20 and roe >= 15% and industry in ('银行','白酒') "
            "order by composite desc limit 50",
            "pe_ttm between 0 and 20 and roe >= 15% and industry in ('银行', '白酒') "
            "order by composite desc limit 50",
        ),
        ("rsi6 < 20 and price > ma60 and not st", "rsi6 < 20 and price > ma60 and not st"),
        ("double_bottom=100.0 and 市值>=50亿", "double_bottom = 100 and total_market_cap >= 50亿"),
        ("price>hhv(high,20)*0.98 AND 量比>=1.50", "price > hhv(high, 20) * 0.98 and volume_ratio >= 1.5"),
        ("市盈率＜20且（换手率≥3 或 非 ST）", "pe_ttm < 20 and (turnover_pct >= 3 or not st)"),
        ("((pe + 1)) * 2 <> 3 or name == \"A'B\"", "(pe_ttm + 1) * 2 != 3 or name = 'A''B'"),
        ("name like “’” or name = ‘a\"b’", "name like '’' or name = 'a\"b'"),
        ("name in ('’', “”””, '（')", "name in ('’', '”', '（')"),
        ("pb - (1 - 2) - 3 < 4", "pb - (1 - 2) - 3 < 4"),
        ("(st and (pb<1 or pb>9)) and not not st", "(st and (pb < 1 or pb > 9)) and not not st"),
        ("SHORTTERM > 80 order by short_term, CODE desc", "shortTerm > 80 order by shortTerm asc, code desc"),
        ("count(close > open, 10) >= 7", "count(close > open, 10) >= 7"),
    ],
)  # fmt: skip
def test_the_normalised_form(text: str, normalised: str) -> None:
    assert written(parse(text)) == normalised


@pytest.mark.parametrize(
    ("text", "code", "position", "reported"),
    [
        ("total_market_cap >= 100亿 and pe_ttm < ", "syntax", 38, {"expected": [*NUMERIC_START]}),
        ("", "syntax", 0, {"token": ""}),
        ("pe_tm > 3", "unknown_field", 0, {"token": "pe_tm", "suggestion": "pe_ttm", "column": 1}),
        ("roe > 3 and\nmaa(close, 5) > 1", "unknown_field", 12, {"suggestion": "ma", "line": 2, "column": 1}),
        ("换率 > 3", "unknown_field", 0, {"suggestion": "turnover_pct"}),
        ("pe_ttm and st", "syntax", 7, {"token": "and"}),
        ("((pe_ttm > 1)", "syntax", 13, {"expected": ["and", "or", ")"]}),
        ("pe_ttm > 3 > 2", "syntax", 11, {"token": ">"}),
        ("pe_ttm > 3 roe", "syntax", 11, {"expected": ["and", "or", "order by", "limit", "end of input"]}),
        ("name = 'x", "syntax", 7, {"expected": ["'"]}),
        ("name = “x'", "syntax", 7, {"expected": ["”"]}),
        ("name = 'x’", "syntax", 7, {"expected": ["'"]}),
        ("pe_ttm ! 3", "syntax", 7, {"token": "!"}),
        ("name > 3", "type", 5, {"expected": ["=", "!=", "in", "like"]}),
        ("name = 3", "type", 7, {"token": "3"}),
        ("pe_ttm > '3'", "type", 9, {}),
        ("st > 1", "type", 0, {}),
        ("(pe_ttm > 3) + 1 > 2", "type", 0, {}),
        ("ma(pe_ttm, 5) > 3", "type", 3, {}),
        ("rank(close) > ref(rank(close), 1)", "type", 18, {}),
        ("ma(close, 2.5) > 3", "type", 10, {"token": "2.5"}),
        ("close * 105% > 3", "type", 8, {}),
        ("total_market_cap > 15%", "type", 19, {}),
        ("roe > 15亿", "type", 6, {}),
        ("ma(close, 501) > 3", "limit", 10, {"expected": ["1..500"]}),
        ("pb < 1 limit 501", "limit", 13, {"expected": ["1..500"]}),
        ("ma(ma(ma(close,500),500),500) > 1", "limit", 0, {}),
        ("pb > " + "1" * 21, "limit", 5, {}),
        (" or ".join(["ema(close,75)>1"] * 50), "limit", 0, {}),
        ("(" * 33 + "pb > 1", "limit", 32, {}),
        ("-" * 40 + "pb > 1", "limit", 32, {}),
        (" and ".join(["pb>1"] * 80), "limit", 596, {}),
        ("pb in (" + ",".join("1" * 501) + ")", "limit", 1007, {}),
        ("code in ('" + "1" * 2000, "limit", 2000, {}),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_text(text: str, code: str, position: int, reported: Any) -> None:
    wrong = error(text)
    assert wrong.code == code
    assert wrong.position == position
    assert wrong.reported() | reported == wrong.reported()
    assert f"line {wrong.line}, column {wrong.column}" in wrong.sentence()


def test_a_text_that_would_be_too_long_written_out_is_refused() -> None:
    # Each name of three characters is written out with eighteen.
    text = "股息率 in (" + ",".join(["1"] * 480) + ") and 主力净占比>1 and " + "市净率>1 and " * 60 + "pb>1"
    assert len(text) <= 2000
    assert error(text).code == "limit"


def test_the_tree_of_an_answer_knows_places() -> None:
    reported = query_json(parse("not st and ma(close, 5) > 1亿 order by pb desc limit 3"))
    assert reported["order_by"] == [{"field": "pb", "descending": True}]
    assert reported["limit"] == 3
    no_st, above = reported["where"]["parts"]
    assert (no_st["kind"], no_st["parts"][0]["parts"][0]) == ("not", {"kind": "field", "at": 4, "name": "st"})
    assert above["operator"] == ">"
    assert above["parts"][0] == {
        "kind": "call",
        "at": 11,
        "function": "ma",
        "period": 5,
        "parts": [{"kind": "field", "at": 14, "name": "close"}],
    }
    assert above["parts"][1] == {"kind": "number", "at": 26, "value": 1.0, "unit": "亿"}
