"""app_ai_chat: a question to the chat, whose numbers are bound to stored values; one AI call of the user."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from core.clock import local_iso
from serving_api.chat.answering import Conversation
from serving_api.chat.limits import HISTORY, MESSAGE_CHARS
from serving_api.chat.schemas import EvidenceItem, Turn
from serving_api.chat.wording import Asked
from serving_api.framework.parameters import Code
from serving_api.settings.language_model import model_of
from serving_api.tools.answers import Draft, ToolAnswer
from serving_api.tools.cleaning import NOTICE, OUTSIDE, is_fenced, shortened
from serving_api.tools.model import Arguments, Call, Tool

MOST_ANSWER = 5000
"""Characters of an answer: with the same amount of evidence it is below the size limit of tools."""
REST = "其余证据与完整回答：GET /api/v1/chat/receipts/{receipt_id}"


class ChatArguments(Arguments):
    message: str = Field(min_length=1, max_length=MESSAGE_CHARS, pattern=r"\S", description="问题")
    code: Code | None = Field(default=None, description="所问证券的代码")
    mode: Literal["chat", "sop"] = Field(default="chat", description="sop：按步骤的结构化分析")
    history: list[Turn] = Field(default_factory=list, max_length=HISTORY, description="此前的对话")
    web_search: bool | None = Field(default=None, description="是否联网检索；默认依设置，仅在配置模型时有效")
    skills: list[str] = Field(default_factory=list, max_length=10, description="指定使用的技能")


class OutsideLink(BaseModel):
    untrusted: dict[str, str] = Field(description="title and url of a page that was found")


class Evidence(EvidenceItem):
    untrusted: dict[str, str] | None = Field(
        default=None, description="the value, when it is a text from outside"
    )


class ChatAnswer(ToolAnswer):
    items: list[Evidence] = Field(description="stored values that the answer states")
    answer: str
    provenance: str = Field(description="ai: a model; quant_prefill: rules")
    label: str | None
    model: str | None
    tool_calls: list[dict[str, Any]] = Field(description="{name, ok} of the reads that a model requested")
    skills: list[str]
    search: list[OutsideLink]
    unbound: int = Field(description="numbers, names and dates that were removed")
    receipt_id: str | None = Field(description="for /api/v1/chat/receipts/{receipt_id}")
    llmError: str | None = None
    fallbackOf: str | None = None


async def chat(call: Call, asked: ChatArguments) -> Draft:
    """The answer of /chat/ask. Raises StorageError, InputError (an unknown model or skill)."""
    state = call.state
    conversation = Conversation(state, call.subject.member, Asked.of(asked), await model_of(state))
    await conversation.prepare()
    await call.progress(1, 2, "已整理证据")
    reported = await conversation.answer()
    await call.progress(2, 2, "已作答")
    facts = [_fact(fact) for fact in reported["evidence"]]
    links = [{"untrusted": {"title": one["title"], "url": one["url"]}} for one in reported["search"]]
    return Draft(
        facts,
        total=len(facts),
        body={
            **{name: reported.get(name) for name in _SAME},
            "answer": shortened(reported["answer"], MOST_ANSWER),
            "search": links,
            "tool_calls": [{"name": one["name"], "ok": one["ok"]} for one in reported["tool_calls"]],
        },
        sources=[fact["source"] for fact in facts],
        batch_ids=[fact["batch_id"] for fact in facts if fact["batch_id"]],
        as_of=local_iso(datetime.fromisoformat(conversation.pack.as_of)),
        live=bool(links),
        notice=NOTICE if links or is_fenced(facts) else None,
        rest=REST,
    )


def _fact(fact: dict[str, Any]) -> dict[str, Any]:
    if fact["field"] not in OUTSIDE or fact["value"] is None:
        return fact
    return {**fact, "value": None, "untrusted": {"value": shortened(str(fact["value"])) or ""}}


_SAME = ("provenance", "label", "model", "skills", "unbound", "receipt_id", "llmError", "fallbackOf")

TOOL = Tool(
    name="app_ai_chat",
    title="研究问答",
    description=(
        "向本平台的研究助手提问，用一句话问为什么涨、关注什么，或做五维分析：回答中的每个数字都对应已入库的数据。"
        "需要登录，每次计入当日 AI 次数"
    ),
    arguments=ChatArguments,
    answer=ChatAnswer,
    work=chat,
    login=True,
    counted=True,
    open_world=True,
)
