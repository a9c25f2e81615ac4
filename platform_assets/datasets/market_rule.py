"""ref_market_rule: the dated trading rules that ship with the project, as a table to read and trace."""

import pandas as pd

from core.declaration.columns import K32, S16, S255, Date, F, Json, Model, col, key
from core.declaration.dataset import Dataset, Source
from core.declaration.frames import canonical_json
from core.declaration.rules import Partition
from core.declaration.scope import Scope
from core.declaration.tables import Layer
from core.market.rules import RULES
from resources.upstreams.fetch_context import FetchContext


class MarketRuleRow(Model):
    """One rule in force from `valid_from` to `valid_to` (null: still in force)."""

    rule: K32 = key("price_limit, unlimited_days, first_day_limit, tick, lot, fee")
    scope: K32 = key("board or security type")
    valid_from: Date = key("first day")
    valid_to: Date = col(title="last day; null while in force")
    value: F = col(title="the rule's number, in `unit`", nullable=False)
    unit: S16 = col(title="pct, days, CNY, shares, …")
    params_json: Json = col(title="further numbers of the rule")
    note: S255 = col(title="where it comes from")


def shipped_rules(ctx: FetchContext, scope: Scope) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "rule": rule.rule, "scope": rule.scope, "valid_from": rule.valid_from, "valid_to": rule.valid_to,
            "value": rule.value, "unit": rule.unit,
            "params_json": canonical_json(dict(rule.params)) if rule.params else None,
            "note": rule.note or None,
        }
        for rule in RULES
    )  # fmt: skip


DATASET = Dataset(
    name="market_rule",
    subject="securities",
    title="Dated market rules",
    layer=Layer.REF,
    model=MarketRuleRow,
    partition=Partition.SNAPSHOT,
    sources=(Source("shipped", shipped_rules),),
    tasks=("eod_core",),
    date_column="",
)
