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
    reported: dict[str, Any] = answer.json()
    return reported


def test_a_question_is_answered_with_cited_values(plain: Served, who: dict[str, str]) -> None:
    reported = plain.ask("贵州茅台现在估值如何？", who)
    assert (reported["provenance"], reported["label"], reported["model"], reported["unbound"]) == (
        "quant_prefill", LABEL, None, 0,
    )  # fmt: skip
    assert reported["answer"].startswith(f"（{LABEL}）")
    for text in ("市盈率TTM 21.53倍", "市净率7.25倍", "市盈率3年分位22.40%"):
        assert re.search(rf"{re.escape(text)}\[E\d+\]", reported["answer"]), text
    cited = set(re.findall(r"\[(E\d+)\]", reported["answer"]))
    assert {one["id"] for one in reported["evidence"]} >= cited - {"E1"}
    pe = next(one for one in reported["evidence"] if one["field"] == "pe_ttm")
    assert (pe["source"], pe["value"], pe["as_of"]) == ("fusion_valuation", 21.53, rows.DAY)
    assert pe["batch_id"]


def test_the_market_and_the_economy_are_described(plain: Served, who: dict[str, str]) -> None:
    reported = plain.ask("大盘和CPI怎么样", who)["answer"]
    assert "上证指数报3825.76点" in reported
    assert "涨停71家" in reported
    assert "居民消费价格同比 0.40%" in reported
    assert "—" not in reported
    assert reported.count("央行开展1500亿元逆回购操作") == 1  # two sites told it


def test_a_company_of_the_conversation_before_is_meant(plain: Served, who: dict[str, str]) -> None:
    history = [{"role": "user", "content": "工商银行怎么样"}, {"role": "assistant", "content": "……"}]
    assert "工商银行股息率3.62%" in plain.ask("那它的分红呢？", who, history=history)["answer"]
    old = [*history, *[{"role": "user", "content": "好"}] * 16]
    assert "工商银行" not in plain.ask("那它的分红呢？", who, history=old)["answer"]  # 16 turns count


def test_what_is_not_stored_is_said(plain: Served, who: dict[str, str]) -> None:
    assert "贵州茅台的商誉" in plain.ask("贵州茅台", who)["answer"]
    reported = plain.ask("它怎么样", who, code="999999")
    assert "证券列表中的999999" in reported["answer"]
    assert reported["evidence"] == []
    reported = plain.ask("比较600519和600999", who)
    assert "证券列表中的600999" in reported["answer"]
    assert "贵州茅台最新价" in reported["answer"]
    reported = plain.ask("600999股可以吗", who)
    assert "证券列表中的600999" not in reported["answer"]


def test_the_stream_has_the_same_content(plain: Served, who: dict[str, str]) -> None:
    reported = events(plain.stream("贵州茅台现在估值如何？", who))
    assert next(one["type"] for one in reported) == "thinking"
    assert texts(reported).strip() == plain.ask("贵州茅台现在估值如何？", who)["answer"].strip()
    last = reported[-1]
    assert (last["type"], last["provenance"], last["label"]) == ("evidence", "quant_prefill", LABEL)


def test_an_analysis_has_sections_and_a_conclusion(plain: Served, who: dict[str, str]) -> None:
    reported = post(plain, "/chat/analyze-stock", who, {"code": "600519"})
    assert reported["name"] == "贵州茅台"
    assert reported["provenance"] == "quant_prefill"
    assert reported["report"]["sections"]
    assert 0 < len(reported["conclusion"]) <= 2000
    assert {one["key"] for one in reported["report"]["sections"]} > set(reported["scores"])
    assert set(reported["scores"]) == {
        "national_will",
        "era_trend",
        "industry_turning",
        "competition",
        "stage",
    }
    known = {one["id"] for one in reported["evidence"]}
    texts_of = [line for one in reported["report"]["sections"] for line in one["lines"]]
    assert set(re.findall(r"\[(E\d+)\]", "".join(texts_of))) <= known
    again = post(plain, "/chat/analyze-stock", who, {"code": "600519"})
    assert (reported["cached"], again["cached"]) == (False, True)
    assert post(plain, "/chat/analyze-stock", who, {"code": "600519", "refresh": True})["cached"] is False
    assert plain.http.post("/chat/analyze-stock", json={"code": "999999"}, headers=who).status_code == 404


def test_a_title_is_the_beginning_of_the_question(plain: Served, who: dict[str, str]) -> None:
    long = "贵州茅台的估值和同行业其他公司相比处在什么位置？"
    assert post(plain, "/chat/generate-title", who, {"message": long})["title"] == long[:20]


def test_a_comparison_ranks_and_explains(plain: Served, who: dict[str, str]) -> None:
    codes = ["600519", "601398", "000858"]
    reported = post(plain, "/chat/batch-compare", who, {"codes": codes, "focus": "估值"})
    assert [one["key"] for one in reported["dimensions"]] == ["pe_ttm", "pb"]
    by_pe = sorted(codes, key=lambda code: rows.FIGURES[code]["pe"])
    by_pb = sorted(codes, key=lambda code: rows.FIGURES[code]["pb"])
    means = {code: statistics.mean((by_pe.index(code), by_pb.index(code))) for code in codes}
    assert [one["code"] for one in reported["items"]] == sorted(codes, key=lambda code: means[code])
    assert [one["rank"] for one in reported["items"]] == [1, 2, 3]
    assert "市盈率TTM 7.12" in reported["conclusion"]
    assert "—" not in reported["conclusion"]


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
    reported = plain.ask("贵州茅台现在估值如何？", who)
    path = f"/chat/receipts/{reported['receipt_id']}"
    receipt = plain.http.get(path, headers=who).json()
    assert receipt["answer"]["answer"] == reported["answer"]
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


def test_an_answer_of_a_provisional_factor_says_so_for_good(plain: Served, who: dict[str, str]) -> None:
    """In the answer, in the stream and in the receipt; that of another company does not."""
    item = {"code": "600519", "date": rows.DAY, "status": "open", "opened_on": rows.DAY, "quoted": 6.59,
            "factor": 1.2}  # fmt: skip
    plain.put("ref_exright_item", [item])
    plain.ticks.advance(2.0)
    try:
        told = plain.ask("贵州茅台走势如何", who)
        streamed = events(plain.stream("贵州茅台走势如何", who))[-1]
        other = plain.ask("工商银行走势如何", who)
    finally:
        plain.put("ref_exright_item", [{**item, "status": "closed", "closed_on": rows.DAY}])
        plain.ticks.advance(2.0)

    assert [one["factor"] for one in (told, streamed, other)] == ["provisional", "provisional", "final"]
    for one in (told, streamed):
        stored = plain.http.get(f"/chat/receipts/{one['receipt_id']}", headers=who).json()
        assert stored["factor"] == "provisional"
    assert plain.ask("贵州茅台走势如何", who)["factor"] == "final"
