"""Response models of the agreement of two sources in one field."""

from typing import Literal

from pydantic import BaseModel, Field


class Differing(BaseModel):
    code: str
    a: float
    b: float
    diff: float


class Agreement(BaseModel):
    """One field of one dataset, reported by two independent sources on one trade date. Differences are
    counted beyond the rounding of their formats."""

    dataset: str
    field: str
    source_a: str = Field(description="fused: the stored row; derived: computed from stored rows")
    source_b: str
    tolerance: float
    tolerance_kind: Literal["abs", "pct", "sign_pct"] = Field(description="unit of the differences")
    compared: int
    within: int
    within_pct: float | None
    median_diff: float | None
    max_diff: float | None
    only_a: int = Field(description="values that only the first source has")
    only_b: int
    drift_20d: float | None = Field(description="mean signed difference of 20 trade dates")
    status: Literal["ok", "warning", "no_second_source"]
    worst: list[Differing] = Field(description="the ten that differ most")
