"""track_preset: the 20 best of each preset by trade date, and what became of them after five trade dates.

Definitions: `docs/calculations/scorecards.md`.
"""

from typing import Any

import pandas as pd

from core.declaration.frames import canonical_json
from core.declaration.interfaces import DAY, TEXT, market
from core.declaration.scope import Scope
from platform_assets.compute.factors.definitions import BY_KEY, FACTORS
from platform_assets.compute.factors.presets import COMPOSITE, INDUSTRY_COLUMNS, PRESETS, Preset, apply_preset
from platform_assets.compute.parameters.scorecards import BOARD_SIZE
from platform_assets.datasets._picks import WIDE, pick_dataset, pick_model
from resources.upstreams.fetch_context import FetchContext

SCORES = "calc_factor_score"
GROUP = "preset_key"
TrackPreset = pick_model("TrackPreset", GROUP, "preset", [preset.key for preset in PRESETS])
_SCORE_COLUMNS = ("code", *(factor.column for factor in FACTORS), "composite", "gate_blocked")


def picks(ctx: FetchContext, scope: Scope, day: str) -> pd.DataFrame | None:
    """The best of every preset among the stocks that have a score on the date."""
    scores = ctx.read(SCORES, columns=_SCORE_COLUMNS, since=day, until=day)
    if scores.empty:
        return None
    shown = ("code", "name", "current_price", "amount", *INDUSTRY_COLUMNS)
    scored = scores.merge(ctx.read(WIDE, columns=shown, since=day, until=day), on="code", how="left")
    return pd.concat([_of_preset(scored, preset) for preset in PRESETS], ignore_index=True)


def _of_preset(scored: pd.DataFrame, preset: Preset) -> pd.DataFrame:
    rows = apply_preset(scored, preset, limit=BOARD_SIZE)
    reported = dict.fromkeys([*(one.factor for one in preset.filters), preset.sort])
    keys = [key for key in reported if key != COMPOSITE]
    records = rows.to_dict("records")
    return pd.DataFrame(
        {
            GROUP: preset.key, "code": rows["code"], "rank_no": rows["rank_no"], "name": rows["name"],
            "industry": rows["industry"],
            "score": rows["composite" if preset.sort == COMPOSITE else BY_KEY[preset.sort].column],
            "price_at_pick": rows["current_price"], "reason": [_reason(preset, keys, row) for row in records],
            "detail": [canonical_json(_figures(keys, row)) for row in records],
        }
    )  # fmt: skip


def _figures(keys: list[str], row: dict[Any, Any]) -> dict[str, float]:
    """Scores that the preset looks at, and the composite."""
    reported = {key: row[BY_KEY[key].column] for key in keys} | {COMPOSITE: row["composite"]}
    return {key: round(float(value), 4) for key, value in reported.items() if pd.notna(value)}


def _reason(preset: Preset, keys: list[str], row: dict[Any, Any]) -> str:
    figures = _figures(keys, row)
    parts = [f"{BY_KEY[key].label} {figures[key]:.1f}" for key in keys if key in figures]
    return f"{preset.label}: {', '.join([*parts, f'composite {figures[COMPOSITE]:.1f}'])}"


DATASET = pick_dataset(
    name="track_preset",
    title="Picks of the presets by trade date, and their forward returns",
    model=TrackPreset,
    group=GROUP,
    make=picks,
    reads=(SCORES,),
    task="preset_track",
    interfaces=(
        market("get_preset_picks", "by_date", "picks of the presets", ttl=600).takes(
            trade_date=DAY, preset_key=TEXT
        ),
    ),
)
