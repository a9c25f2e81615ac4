"""Response rows that take their fields from the columns of a declared table."""

import orjson
from pydantic import BaseModel, Field

from platform_assets.datasets.fund_flow import FundFlow
from serving_api.framework.responses import Answer, render_answer
from serving_api.framework.row_models import columns, with_columns


@with_columns(
    FundFlow.date.label("day"), FundFlow.main_net.or_null(), FundFlow.close.not_null(),
    FundFlow.super_net.or_missing(),
)  # fmt: skip
class Flow(BaseModel):
    """One day."""

    share: float = Field(description="of all")
    close: float = Field(description="own words")


@with_columns(*columns(FundFlow))
class Whole(BaseModel):
    """Every column."""


def test_columns_come_first_with_type_unit_and_title() -> None:
    document = Flow.model_json_schema(mode="serialization")
    fields = document["properties"]
    assert list(fields) == ["day", "main_net", "close", "super_net", "share"]
    assert document["title"] == "Flow"
    assert document["description"] == "One day."
    assert document["required"] == ["day", "main_net", "close", "share"]
    assert fields["day"]["type"] == "string"
    assert fields["main_net"]["description"].endswith(", CNY")


def test_null_in_the_response_and_own_fields_win_over_the_declaration() -> None:
    fields = Flow.model_json_schema(mode="serialization")["properties"]
    assert fields["main_net"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert fields["close"] == {"title": "Close", "type": "number", "description": "own words"}


def test_without_a_choice_the_whole_row() -> None:
    assert "main_net" in Whole.model_fields


def test_an_answer_holds_what_was_read_from_the_stored_row_under_the_names_of_the_response() -> None:
    stored = {"code": "600519", "date": "2026-08-21", "main_net": None, "close": 1.5, "share": 0.25}
    answer = Answer({"items": [Flow.model_validate(stored)]})
    sent = render_answer(answer, "/api/v1/plain", query_time="", headers={})
    assert orjson.loads(bytes(sent.body)) == {
        "items": [{"day": "2026-08-21", "main_net": None, "close": 1.5, "share": 0.25}]
    }
