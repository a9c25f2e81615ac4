"""Request and response models of /chat."""

from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from serving_api.chat.limits import COMPARED, MESSAGE_CHARS, TITLE_CHARS, TURN_CHARS
from serving_api.framework.openapi import example
from serving_api.framework.parameters import Code

_FACTOR = "provisional: adjusted prices behind it rest on a provisional factor; final; null: there are none"


class Turn(BaseModel):
    """One turn of the conversation."""

    role: Literal["user", "assistant"]
    content: str = Field(max_length=TURN_CHARS, description="its text")


class Ask(BaseModel):
    model_config = example(message="贵州茅台现在估值如何？", history=[], code="600519", mode="chat")

    message: str = Field(min_length=1, max_length=MESSAGE_CHARS, pattern=r"\S", description="the question")
    history: list[Turn] = Field(
        default_factory=list,
        max_length=200,
        description="the conversation so far; the last 16 turns are used",
    )
    code: Code | None = Field(default=None, description="the company of the question, 6 digits")
    mode: Literal["chat", "sop"] = Field(default="chat", description="sop: a structured analysis")
    model: str | None = Field(default=None, max_length=64, description="one of the configured models")
    web_search: bool | None = Field(
        default=None, description="search the web; default: as MODEL_WEB_SEARCH says. Only with a model"
    )
    skills: list[str] = Field(default_factory=list, max_length=10, description="keys of skills to be used")


class EvidenceItem(BaseModel):
    """A stored value that the answer states."""

    id: str = Field(description="as the text cites it")
    source: str = Field(description="table")
    field: str = Field(description="column")
    subject: str = Field(description="the company that it belongs to; empty: the market")
    label: str
    value: float | str | None
    unit: str = Field(description="as the table declares it; count: a number of things")
    as_of: str = Field(description="the day or time of the value")
    key: dict[str, Any] = Field(description="key of the row")
    quality: str | None
    batch_id: str | None = Field(description="the batch that wrote it")
    link: str | None = Field(description="route of its lineage")


class Reported(BaseModel):
    """How an answer was made."""

    provenance: str = Field(description="ai: a model; quant_prefill: rules")
    label: str | None = Field(default=None, description="规则预填，非模型生成, where rules answered")
    model: str | None = Field(default=None, description="the model that answered")
    llmError: str | None = Field(default=None, description="why no model answered")
    fallbackOf: str | None = Field(default=None, description="cached or quant_prefill")


class TokenUsage(BaseModel):
    input_tokens: int
    output_tokens: int


class ToolCalled(BaseModel):
    name: str
    args: Any = Field(description="as they may be shown: a dash replaces what no fact contains")
    ok: bool


class FoundLink(BaseModel):
    title: str
    url: str


class AskAnswer(Reported):
    answer: str = Field(
        description="every number in it is bound to evidence; a dash replaces one that was not"
    )
    title: str | None = Field(default=None, description="of the conversation, with its first answer")
    tool_calls: list[ToolCalled]
    skills: list[str] = Field(description="keys of the skills that were used, at most 3")
    search: list[FoundLink]
    evidence: list[EvidenceItem]
    unbound: int = Field(description="numbers, names and dates that were removed")
    usage: TokenUsage
    incomplete: Literal["length", "filtered"] | None = Field(
        default=None,
        description="why the model's text ends early, as the answer says: its limit of length, or a filter",
    )
    factor: str | None = Field(default=None, description=_FACTOR)
    receipt_id: str | None = Field(default=None, description="for /chat/receipts/{receipt_id}")


class TitleAsk(BaseModel):
    model_config = example(message="贵州茅台现在估值如何？")

    message: str = Field(
        min_length=1, max_length=MESSAGE_CHARS, pattern=r"\S", description="the first question"
    )
    answer: str | None = Field(default=None, max_length=TURN_CHARS, description="its answer")


class ChatTitle(BaseModel):
    title: str = Field(max_length=TITLE_CHARS)


class StockAsk(BaseModel):
    model_config = example(code="600519", refresh=False)

    code: Code = Field(description="6-digit code")
    refresh: bool = Field(default=False, description="make a new one, ignoring stored answers")


class ReportSection(BaseModel):
    key: str
    title: str
    lines: list[str]


class StockReport(BaseModel):
    sections: list[ReportSection]


class Conclusion(BaseModel):
    code: str
    name: str
    total_score: float | None
    conclusion: str


class StockAnalysis(Reported, Conclusion):
    report: StockReport
    scores: dict[str, float | None] = Field(description="five dimensions, 0..5; null: cannot be judged")
    cached: bool
    evidence: list[EvidenceItem]


class CodeAsk(BaseModel):
    model_config = example(code="600519")

    code: Code = Field(description="6-digit code")


class ValuationMethod(BaseModel):
    """Values of one share, CNY."""

    key: Literal["pe", "pb", "peg", "dcf_lite"]
    low: float | None
    mid: float | None
    high: float | None
    inputs: dict[str, Any] = Field(description="figures and parameters of the calculation")
    note: str | None = Field(default=None, description="why there is no value")


class QuickValuation(Reported):
    code: str
    name: str
    methods: list[ValuationMethod]
    price: float | None
    verdict: str = Field(description="低估, 合理, 高估 or 无法判断, with the number of methods behind it")
    elapsed_s: float
    evidence: list[EvidenceItem]


class CompareAsk(BaseModel):
    model_config = example(codes=["600519", "601398"], focus="估值")

    codes: list[Code] = Field(
        min_length=2,
        max_length=COMPARED,
        description="2 to 10 different 6-digit codes",
        json_schema_extra={"uniqueItems": True},
    )
    focus: str | None = Field(default=None, max_length=100, description="criteria in words: 估值, 成长 ...")

    @field_validator("codes")
    @classmethod
    def _differ(cls, codes: list[str]) -> list[str]:
        if len(set(codes)) < len(codes):
            raise ValueError("a code is given twice")
        return codes


class ComparedStock(BaseModel):
    code: str
    name: str
    metrics: dict[str, float | None]
    rank: int | None = Field(
        description="by the mean of the ranks of the dimensions; null: nothing to rank by"
    )


class ComparedDimension(BaseModel):
    key: str
    label: str
    unit: str
    better: Literal["high", "low"]


class StockComparison(Reported):
    items: list[ComparedStock]
    dimensions: list[ComparedDimension]
    conclusion: str
    evidence: list[EvidenceItem]


class Binding(BaseModel):
    text: str
    facts: list[str]
    how: str


class ChatReceipt(BaseModel):
    """The inputs of an answer."""

    receipt_id: str
    kind: str
    provenance: str
    provider: str | None
    model: str | None
    prompt_hash: str | None = Field(description="SHA-256 of the prompt")
    as_of: str
    asked_again: bool
    pack: list[dict[str, Any]]
    missing: list[str]
    bindings: list[Binding]
    unbound: list[str]
    factor: str | None = Field(default=None, description=_FACTOR)
    answer: dict[str, Any]
