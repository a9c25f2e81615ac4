"""Request and response models of the skills."""

from typing import Self

from pydantic import BaseModel, Field, model_validator

from serving_api.framework.openapi import example
from serving_api.skills.definitions import Definition


class Skill(BaseModel):
    key: str
    name: str
    description: str
    enabled: bool
    builtin: bool = Field(description="shipped with the platform: cannot be uninstalled")
    triggers: list[str] = Field(description="words that select it")


class Skills(BaseModel):
    items: list[Skill]


class SkillInstall(BaseModel):
    """`key` alone switches a shipped or installed skill on; `definition` installs a new one."""

    model_config = example(extra="forbid", key="dividend_return")

    key: str | None = Field(
        None, max_length=48, description="key of a known skill, or that of the definition"
    )
    definition: Definition | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.definition is None and self.key is None:
            raise ValueError("give key or definition")
        if self.definition is not None and self.key not in (None, self.definition.key):
            raise ValueError("key and definition.key differ")
        return self


class SkillInstalled(BaseModel):
    ok: bool
    key: str


class SkillRemoved(BaseModel):
    ok: bool


class SkillToggle(BaseModel):
    model_config = example(extra="forbid", enabled=True)

    enabled: bool


class SkillToggled(BaseModel):
    key: str
    enabled: bool
