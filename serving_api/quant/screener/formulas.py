"""Formulas over the bars of the market."""

from typing import Any

import anyio.to_thread
import numpy as np

from platform_assets.compute.formulas import tree
from platform_assets.compute.formulas.bars import columns_needed
from platform_assets.compute.formulas.evaluate import newest, output_of
from platform_assets.compute.formulas.parser import parse
from platform_assets.compute.language import LanguageError
from serving_api.framework.error_responses import BadExpression
from serving_api.framework.state import State
from serving_api.quant.screener.service import Screener, When


def parsed_formula(text: str) -> tree.Formula:
    """Raises BadExpression."""
    try:
        return parse(text)
    except LanguageError as error:
        raise BadExpression("formula", error.sentence(), error.reported()) from None


async def evaluated(
    state: State, formula: tree.Formula, asked: When, codes: list[str] | None, limit: int
) -> dict[str, Any]:
    """Values of the stocks with a bar on the date, largest first. For a selection only those for which it
    holds, unless codes were requested."""
    screener = state.part(Screener)
    market = await screener.market(asked)
    if market is None:
        return {"date": None, "items": [], "total": 0}
    # The close shows which stocks have a bar.
    needs = dict.fromkeys(("close", *columns_needed(formula)), formula.result.bars)
    block = await screener.bars(market, needs)
    if needs.keys() - block.keys():
        return {"date": market.date, "items": [], "total": 0}
    values = await anyio.to_thread.run_sync(newest, formula, block, len(market.table))
    values = np.where(np.isfinite(values) & ~np.isnan(block["close"][:, -1]), values, np.nan)
    is_selection = output_of(formula) == "bool"
    there = ~np.isnan(values) if codes is not None or not is_selection else values == 1
    if codes is not None:
        there &= np.isin(market.table.codes.astype(str), codes)
    rows = np.flatnonzero(there)
    rows = rows[np.argsort(-values[rows], kind="stable")]
    names = market.table.texts("name")
    items = [
        {
            "code": str(market.table.codes[at]),
            "name": names[at],
            "value": bool(values[at]) if is_selection else float(values[at]),
        }
        for at in rows[:limit].tolist()
    ]
    return {"date": market.date, "items": items, "total": len(rows)}
