"""Response models of contracts."""

from typing import Literal

from pydantic import BaseModel, Field

ContractStatus = Literal["ok", "late", "failing"]


class ContractTables(BaseModel):
    """Tables of one dataset, in the order in which data passes them."""

    raw: list[str]
    stg: str | None
    ref: str | None
    dwd: str | None
    calc: str | None


class Cadence(BaseModel):
    partition: str = Field(description="trade_date, event_date, snapshot or code")
    task: str | None = Field(description="the scheduled task that loads it")
    time: str | None = Field(description="HH:MM local exchange time, as it is in force")


class LastSuccess(BaseModel):
    batch_id: str
    partition: str | None
    at: str


class ContractItem(BaseModel):
    """`failing`: its newest batch failed; `late`: older than its rule allows, or never loaded."""

    dataset: str
    tables: ContractTables
    cadence: Cadence
    status: ContractStatus
    last_success: LastSuccess | None


class ContractColumn(BaseModel):
    name: str
    type: str
    unit: str | None
    nullable: bool
    description: str
    checks: list[str] = Field(description="hard limits; a row that breaks one is rejected")
    no_source: str | None = Field(description="why the column stays empty")


class ContractSource(BaseModel):
    name: str
    table: str | None = Field(description="RAW table that it fills; null: fetched for the table itself")
    priority: int = Field(description="1 = asked or accepted first")
    call: str


class FusionRule(BaseModel):
    mode: Literal["row", "field"]
    order: list[str]
    tolerances: dict[str, float] = Field(description="relative difference from which two sources conflict")


class FreshnessRule(BaseModel):
    kind: Literal["trading", "calendar", "period"]
    max_lag: int
    column: str


class Completeness(BaseModel):
    rule: str
    expected: int | None = Field(description="rows that the newest load was expected to have; null: unknown")
    present: int | None = Field(description="rows that the newest successful load accepted")


class Contract(ContractItem):
    """The declared properties of one dataset: schema, units, sources, rules, and whether its loads meet
    them."""

    description: str
    columns: list[ContractColumn]
    key: list[str]
    sources: list[ContractSource]
    fusion: FusionRule | None
    freshness: FreshnessRule | None
    retention: str
    completeness: Completeness
    checks: dict[str, str]
    interfaces: list[str]
