"""/screener, /quant/screener and /quant/formulas: anyone."""

from typing import Any

import anyio.to_thread
import numpy as np

from platform_assets.compute.dsl.field_words import GROUPS, Field
from platform_assets.compute.dsl.fields import catalogue
from platform_assets.compute.dsl.natural import translated
from platform_assets.compute.dsl.presets import PRESETS
from platform_assets.compute.dsl.tree import fields_of
from platform_assets.compute.dsl.written import query_json, written
from platform_assets.compute.formulas import tree
from platform_assets.compute.formulas.bars import columns_needed
from platform_assets.compute.formulas.builtin import BUILTINS
from platform_assets.compute.formulas.evaluate import newest, output_of
from platform_assets.compute.formulas.parser import parse
from platform_assets.compute.language import LanguageError
from serving_api.framework.envelope import PREFIX
from serving_api.framework.error_responses import BadExpression
from serving_api.framework.parameters import echo_of
from serving_api.framework.permissions import Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.quant.screener import schemas
from serving_api.quant.screener.conditions import query_of
from serving_api.quant.screener.market import TABLES, Market
from serving_api.quant.screener.queries import BARS
from serving_api.quant.screener.service import (
    NOTHING,
    Screener,
    When,
    found_page,
    parsed,
    reached,
    warnings,
    when,
)


def industries_of(market: Market | None) -> frozenset[str]:
    """Names of the industries of the date's stocks, as stored."""
    if market is None:
        return frozenset()
    return frozenset(str(name) for name in market.table.texts("industry") if name)


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
    screener.note(market, (), columns_needed(formula), market.table.codes[rows[:limit]])
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


router = area_router(f"{PREFIX}/screener", "screener")
quant_router = area_router(f"{PREFIX}/quant/screener", "screener")
formula_router = area_router(f"{PREFIX}/quant/formulas", "formulas")
_READ = (*TABLES, BARS)


def _shown(field: Field) -> dict[str, Any]:
    return {
        "field": field.name, "label": field.label, "type": field.kind, "unit": field.unit,
        "ops": field.operators, "table": field.table, "column": field.column,
    }  # fmt: skip


def _filter(field: Field) -> dict[str, Any]:
    return _shown(field) | ({"options": field.options} if field.options else {})


@router.post("/find", response_model=schemas.SearchResult)
@serves(tables=_READ)
async def find(call: Anyone, body: schemas.Search) -> Answer:
    """Stocks that meet a query, in its order."""
    asked = when(call.state, body.date, body.as_of)
    reported = await found_page(call.state, parsed(body.dsl), asked, body.page, body.pageSize)
    return Answer(reported, top=echo_of(asked.as_of))


@router.get("/filters", response_model=schemas.Filters)
async def filters(call: Anyone) -> Answer:
    """Every field that a condition may name, by group."""
    known = catalogue().groups.items()
    groups = [{"key": key, "name": GROUPS[key], "fields": list(map(_filter, own))} for key, own in known]
    return Answer({"groups": groups})


@router.get("/presets", response_model=schemas.ScreenerPresets)
async def presets(call: Anyone) -> Answer:
    """Example queries."""
    items = [{"key": one.key, "label": one.name, "desc": one.description, "dsl": one.text} for one in PRESETS]
    return Answer({"items": items})


@router.post("/parse-dsl", response_model=schemas.ParsedQuery)
async def parse_dsl(call: Anyone, body: schemas.QueryText) -> Answer:
    """The meaning of a query, without running it."""
    query = parsed(body.dsl)
    reported = {"ast": query_json(query), "normalized": written(query), "fields": fields_of(query)}
    return Answer({**reported, "warnings": warnings(query)})


@router.post("/nl-find", response_model=schemas.SentenceResult)
@serves(tables=_READ)
async def nl_find(call: Anyone, body: schemas.Sentence) -> Answer:
    """Stocks that a sentence describes; `source` says that rules translated it."""
    state = call.state
    asked = when(state, body.date, None)
    market = await state.part(Screener).market(asked)
    meant = translated(body.query, industries_of(market))
    reported: dict[str, Any] = {
        **NOTHING,
        "page": body.page,
        "pageSize": body.pageSize,
        "normalized": "",
        "explain": [],
        **await reached(state, asked, is_there=market is not None),
    }
    if meant.query:
        reported = await found_page(state, parsed(meant.query, "query"), asked, body.page, body.pageSize)
    return Answer({**reported, "dsl": meant.query, "source": "rule", "unmatched": list(meant.unmatched)})


@quant_router.post("", response_model=schemas.ScreenResult)
@serves(tables=_READ)
async def screen(call: Anyone, body: schemas.ConditionList) -> Answer:
    """Stocks that meet all conditions of a list."""
    state = call.state
    asked = when(state, body.date, body.as_of)
    found = await state.part(Screener).find(query_of(body.conditions, body.sort), asked)
    history = await reached(state, asked, is_there=found is not None)
    if found is None:
        return Answer({**NOTHING, "explain": [], **history}, top=echo_of(asked.as_of))
    return Answer(
        {**found.page(0, body.limit), "explain": found.explain(), **history}, top=echo_of(asked.as_of)
    )


@quant_router.get("/fields", response_model=schemas.ScreenerFields)
async def fields(call: Anyone) -> Answer:
    """Every field that a condition may name."""
    items = [{**_shown(one), "group": key} for key, group in catalogue().groups.items() for one in group]
    return Answer({"items": items})


@formula_router.get("", response_model=schemas.Formulas)
async def formulas(call: Anyone) -> Answer:
    """Formulas that come with the platform."""
    items = [schemas.Formula(**vars(one), output=output_of(parse(one.text))) for one in BUILTINS]
    return Answer({"items": items})


@formula_router.post("/eval", response_model=schemas.FormulaValues)
@serves(tables=_READ)
async def evaluate(call: Anyone, body: schemas.FormulaText) -> Answer:
    """The value of a formula on a date, per stock; a selection lists the stocks for which it holds."""
    state = call.state
    formula = parsed_formula(body.formula)
    asked = when(state, body.date, None)
    found = await evaluated(state, formula, asked, body.codes, body.limit)
    history = await reached(state, asked, is_there=found["date"] is not None)
    return Answer({**found, **history})
