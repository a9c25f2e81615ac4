"""Every route of /chat on the embedded default: no key, no model, answers by rules."""

import re
import statistics
from typing import Any

import pytest

from tests.serving_api.chat import rows
from tests.serving_api.chat.served import Served, events, texts

LABEL = "规则预填，非模型生成"


@pytest.fixture(scope="module")
def who(plain: Served) -> dict[str, str]:
    return plain.admin()


def post(plain: Served, path: str, who: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
    answer = plain.http.post(path, json=body, headers=who)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_question_is_answered_with_cited_values(plain: Served, who: dict[str, str]) -> None:
    told = plain.ask("贵州茅台现在估值如何？", who)
    assert (told["provenance"], told["label"], told["model"], told["unbound"]) == (
        "quant_prefill", LABEL, None, 0,
    )  # fmt: skip
    assert told["answer"].startswith(f"（{LABEL}）")
    for text in ("最新价1432.50元", "市盈率TTM 21.53倍", "净资产收益率17.91%", "主力资金净流入3.12亿元"):
        assert re.search(rf"{re.escape(text)}\[E\d+\]", told["answer"]), text
    cited = set(re.findall(r"\[(E\d+)\]", told["answer"]))
    assert {one["id"] for one in told["evidence"]} >= cited - {"E1"}
    pe = next(one for one in told["evidence"] if one["field"] == "pe_ttm")
    assert (pe["source"], pe["value"], pe["as_of"]) == ("fusion_valuation", 21.53, rows.DAY)
    assert pe["batch_id"]


def test_the_market_and_the_economy_are_told(plain: Served, who: dict[str, str]) -> None:
    told = plain.ask("大盘和CPI怎么样", who)["answer"]
    assert "上证指数报3825.76点" in told
    assert "涨停71家" in told
    assert "居民消费价格同比 0.40%" in told
    assert "—" not in told


def test_a_company_of_the_conversation_before_is_meant(plain: Served, who: dict[str, str]) -> None:
    history = [{"role": "user", "content": "工商银行怎么样"}, {"role": "assistant", "content": "……"}]
    assert "工商银行最新价7.31元" in plain.ask("那它的分红呢？", who, history=history)["answer"]
    old = [*history, *[{"role": "user", "content": "好"}] * 16]
    assert "工商银行最新价" not in plain.ask("那它的分红呢？", who, history=old)["answer"]  # 16 turns count


def test_what_is_not_stored_is_said(plain: Served, who: dict[str, str]) -> None:
    assert "贵州茅台的商誉" in plain.ask("贵州茅台", who)["answer"]
    told = plain.ask("它怎么样", who, code="999999")
    assert "证券列表中的999999" in told["answer"]
    assert told["evidence"] == []


def test_the_stream_tells_the_same(plain: Served, who: dict[str, str]) -> None:
    told = events(plain.stream("贵州茅台现在估值如何？", who))
    assert next(one["type"] for one in told) == "thinking"
    assert texts(told).strip() == plain.ask("贵州茅台现在估值如何？", who)["answer"].strip()
    last = told[-1]
    assert (last["type"], last["provenance"], last["label"]) == ("evidence", "quant_prefill", LABEL)


def test_an_analysis_has_sections_and_a_conclusion(plain: Served, who: dict[str, str]) -> None:
    told = post(plain, "/chat/analyze-stock", who, {"code": "600519"})
    assert told["name"] == "贵州茅台"
    assert told["provenance"] == "quant_prefill"
    assert told["report"]["sections"]
    assert 0 < len(told["conclusion"]) <= 2000
    assert {one["key"] for one in told["report"]["sections"]} > set(told["scores"])
    assert set(told["scores"]) == {"national_will", "era_trend", "industry_turning", "competition", "stage"}
    known = {one["id"] for one in told["evidence"]}
    texts_of = [line for one in told["report"]["sections"] for line in one["lines"]]
    assert set(re.findall(r"\[(E\d+)\]", "".join(texts_of))) <= known
    again = post(plain, "/chat/analyze-stock", who, {"code": "600519"})
    assert (told["cached"], again["cached"]) == (False, True)
    assert post(plain, "/chat/analyze-stock", who, {"code": "600519", "refresh": True})["cached"] is False
    assert plain.http.post("/chat/analyze-stock", json={"code": "999999"}, headers=who).status_code == 404


def test_a_title_is_the_beginning_of_the_question(plain: Served, who: dict[str, str]) -> None:
    long = "贵州茅台的估值和同行业其他公司相比处在什么位置？"
    assert post(plain, "/chat/generate-title", who, {"message": long})["title"] == long[:20]


def test_a_comparison_ranks_and_explains(plain: Served, who: dict[str, str]) -> None:
    codes = ["600519", "601398", "000858"]
    told = post(plain, "/chat/batch-compare", who, {"codes": codes, "focus": "估值"})
    assert [one["key"] for one in told["dimensions"]] == ["pe_ttm", "pb"]
    by_pe = sorted(codes, key=lambda code: rows.FIGURES[code]["pe"])
    by_pb = sorted(codes, key=lambda code: rows.FIGURES[code]["pb"])
    means = {code: statistics.mean((by_pe.index(code), by_pb.index(code))) for code in codes}
    assert [one["code"] for one in told["items"]] == sorted(codes, key=lambda code: means[code])
    assert [one["rank"] for one in told["items"]] == [1, 2, 3]
    assert "市盈率TTM 7.12" in told["conclusion"]
    assert "—" not in told["conclusion"]


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        ([f"60000{at}" for at in range(10)] + ["000001"], "codes"),
        (["600519"], "codes"),
        (["600519", "600519"], "codes"),
        (["600519", "60051"], "codes"),
    ],
)
def test_a_comparison_refuses_a_wrong_list(
    plain: Served, who: dict[str, str], codes: list[str], said: str
) -> None:
    answer = plain.http.post("/chat/batch-compare", json={"codes": codes}, headers=who)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_receipt_is_for_its_asker(plain: Served, who: dict[str, str]) -> None:
    told = plain.ask("贵州茅台现在估值如何？", who)
    path = f"/chat/receipts/{told['receipt_id']}"
    receipt = plain.http.get(path, headers=who).json()
    assert receipt["answer"]["answer"] == told["answer"]
    facts = {one["id"]: one for one in receipt["pack"]}
    bound = next(one for one in receipt["bindings"] if one["text"] == "21.53倍")
    assert facts[bound["facts"][0]]["value"] == 21.53
    assert plain.http.get(path, headers=plain.member("other")).status_code == 404
    assert plain.http.get(path).status_code == 401
    plain.ticks.advance(8 * 86_400)
    try:
        assert plain.http.get(path, headers=plain.admin()).status_code == 404
    finally:
        plain.ticks.advance(-8 * 86_400)


def test_the_newest_fifty_receipts_stay(plain: Served) -> None:
    who = plain.admin()
    first = plain.ask("工商银行", who)["receipt_id"]
    for _ in range(51):
        plain.ticks.advance(1)
        newest = plain.ask("你好", who)["receipt_id"]
    statuses = [plain.http.get(f"/chat/receipts/{one}", headers=who).status_code for one in (first, newest)]
    assert statuses == [404, 200]
