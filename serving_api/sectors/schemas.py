"""Response models of the portal's boards, for the document."""

from pydantic import BaseModel, ConfigDict, Field


class BoardMinute(BaseModel):
    """Net flows since the open, CNY."""

    time: str
    main_net: float | None
    super_net: float | None
    large_net: float | None
    medium_net: float | None
    small_net: float | None
    change_pct: float | None = Field(description="null: the source of the flows does not have it")


class BoardFlow(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    board_code: str
    name: str | None
    items: list[BoardMinute]
    source: str | None = Field(alias="_source")
