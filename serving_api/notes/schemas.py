"""Response models of the notes."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from serving_api.framework.history_reach import Reach


class Note(BaseModel):
    date: str
    title: str | None
    content: str | None = Field(
        description="Markdown; every number is a stored value, or computed from stored values"
    )
    sections: list[Any] = Field(description="{key, title, lines[], evidence[ids]}")
    source: str | None = Field(description="local_rule: written by rules; ai: by a model")
    source_summary: dict[str, Any] = Field(
        description="as_of, tables, missing[], unbound[], evidence[] with links; of ai: model, prompt_hash, "
        "bindings[]; of local_rule: label, and llmError where a model was asked in vain"
    )
    created_at: str | None
    updated_at: str | None


class Notes(Reach):
    items: list[Note]
    total: int
    page: int
    page_size: int


class NoteRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{}]})

    date: str | None = Field(
        None, max_length=32, description="the day of the note that would be written now; no other is accepted"
    )


class NoteAsked(BaseModel):
    status: str = Field(description="accepted, or failed")
    date: str
    source: str = Field(description="the author: ai, or local_rule; when a model fails the rules write it")
    runId: str | None
    commandId: int
    message: str
