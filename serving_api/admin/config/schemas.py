"""Models of the configuration routes. Values are text; `valueType` says how to read them."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from serving_api.framework.openapi import example


class ConfigItem(BaseModel):
    key: str
    value: str = Field(description="in force: environment, else stored, else default; '***' when secret")
    valueType: Literal["str", "int", "float", "bool", "json"]
    group: str
    default: str
    note: str
    isSecret: bool
    updatedAt: str | None


class ConfigChange(BaseModel):
    model_config = example(extra="forbid", key="data.cleanup.retention_days", value="1095")
    key: Annotated[str, Field(min_length=1, max_length=128)]
    value: Annotated[str, Field(max_length=2000)]


class ConfigChanged(BaseModel):
    key: str
    value: str
    previous: str
    restartRequired: bool
    message: str
