"""Request and response models of gaps and of the cost of filling them."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool

from serving_api.framework.openapi import example


class Repair(BaseModel):
    """The repair of a gap: the sensor `gaps` has it loaded, three times at most."""

    status: Literal["open", "queued", "repaired", "given_up"]
    attempts: int = Field(description="repairs that were tried, else failed batches of this date")
    run_id: str | None = Field(description="run of a failed batch")
    next_at: str | None = Field(default=None, description="not before this time")
    note: str | None = Field(default=None, description="why the last repair loaded nothing")


class Budget(BaseModel):
    """Upstream calls that repairs may still use today."""

    calls_left: int
    resets_at: str


class Gap(BaseModel):
    """A trade date of the loaded range that is missing, or loaded only in part."""

    dataset: str
    partition: str = Field(description="trade date")
    expected: int | None = Field(description="rows of a usual date; null: the number varies by date")
    present: int = Field(description="rows of its fullest successful batch")
    missing: int | None
    codes: list[str] = Field(description="missing codes, at most 100; of a date that was loaded in part")
    reason: Literal["never_run", "failed", "partial"]
    repair: Repair


class PlanRequest(BaseModel):
    """`only_missing` false plans every trade date of the range."""

    model_config = example(extra="forbid", **{"dataset": "margin", "from": "2026-08-03", "to": "2026-08-21"})
    dataset: Annotated[str, Field(min_length=1, max_length=64)]
    since: Annotated[str, Field(alias="from", max_length=32, description="first day")]
    until: Annotated[str, Field(alias="to", max_length=32, description="last day")]
    only_missing: StrictBool = True


class Plan(BaseModel):
    """The estimated cost of loading a range, from the newest recorded loads. Nothing is started."""

    dataset: str
    since: str = Field(alias="from")
    until: str = Field(alias="to")
    partitions: int = Field(description="trade dates that would be loaded")
    complete: int = Field(description="trade dates of the range that are loaded already")
    calls: dict[str, int] = Field(description="calls by upstream")
    minutes: float = Field(description="under the pacing of the upstreams")
    rows: int | None = Field(description="rows of the main table; null: nothing is recorded yet")
    tables: list[str]
    warnings: list[str]
