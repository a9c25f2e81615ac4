"""Response rows that take their fields from the declaration of a table."""

from pydantic import BaseModel, Field

from serving_api.framework.row_models import columns_of, row_model


@columns_of("fusion_fund_flow", "day=date main_net? close! src")
class Flow(BaseModel):
    """One day."""

    share: float = Field(description="of all")
    close: float = Field(description="own words")


def test_columns_come_first_with_type_unit_and_title() -> None:
    document = Flow.model_json_schema()
    fields = document["properties"]
    assert list(fields) == ["day", "main_net", "close", "src", "share"]
    assert document["title"] == "Flow"
    assert document["description"] == "One day."
    assert document["required"] == list(fields)
    assert fields["day"]["type"] == "string"
    assert fields["main_net"]["description"].endswith(", CNY")


def test_marks_and_own_fields_win_over_the_declaration() -> None:
    fields = Flow.model_json_schema()["properties"]
    assert fields["main_net"]["anyOf"] == [{"type": "number"}, {"type": "null"}]
    assert fields["close"] == {"title": "Close", "type": "number", "description": "own words"}


def test_key_of_a_system_table_is_never_null() -> None:
    fields = row_model("sys_batch", "batch_id status").model_json_schema()["properties"]
    assert fields["batch_id"]["type"] == "string"
    assert "anyOf" in fields["status"]


def test_without_names_the_whole_row() -> None:
    assert "main_net" in row_model("fusion_fund_flow").model_fields
