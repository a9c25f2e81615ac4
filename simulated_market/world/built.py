"""The instruments of a profile in a state, their codes, and their bars: built, or read from the cache."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from core.arrays import Ints
from simulated_market.world import company_plans, other_issues, store
from simulated_market.world.autumn import additions
from simulated_market.world.bars import WorldBars
from simulated_market.world.companies import companies, continue_companies
from simulated_market.world.engine import build
from simulated_market.world.indices import INDICES
from simulated_market.world.model import Security
from simulated_market.world.plan import Plan
from simulated_market.world.regimes import scripted

CALM, AUTUMN_2026 = "calm", "autumn-2026"
STATES = (AUTUMN_2026, CALM)
"""What a sample market is like: with the corporate actions and the upstreams of autumn 2026, or without."""


def plans_of(profile: company_plans.Profile, days: Ints, seed: int, state: str) -> list[Plan]:
    """The instruments with what happens to them in the sessions `days`: all that the profile's own hold, then
    what goes on after them, so that no earlier row depends on how far the sessions reach."""
    own = company_plans.sessions(profile)
    made = companies(profile, own, seed) if profile.name == "S" else company_plans.stocks(profile, own, seed)
    company_plans.with_concepts(made, company_plans.concept_names(profile.concepts), seed)
    made += other_issues.funds(profile, own, seed)
    if len(days) > len(own):
        if profile.name == "S":
            continue_companies(made[: profile.stocks], days, len(own), seed)
        else:
            company_plans.continue_stocks(made[: profile.stocks], days, len(own), seed)
        other_issues.end_bonds(made, days, len(own))
    return made if state == CALM else made + additions(profile, days, seed, made)


@lru_cache(maxsize=2)
def built(
    name: str, seed: int, state: str, until: int | None, path: Path | None
) -> tuple[list[Plan], WorldBars]:
    """Instruments and bars of a profile by name. Worlds of one process that are alike share them, so nobody
    changes them. `path`: the file of the cache."""
    profile = company_plans.PROFILES[name]
    days = company_plans.sessions(profile, until)
    plans = plans_of(profile, days, seed, state)
    bars = store.load(path) if path else None
    if bars is None:
        bars = build(plans, days, seed, scripted(days), len(company_plans.sessions(profile)))
        if path:
            store.save(bars, path)
    return plans, bars


def identities(
    plans: Sequence[Plan], dates: Ints
) -> tuple[list[Security], list[Security], dict[int, Security]]:
    """Securities as they look while listed, as they look once delisted, and by place those with a former
    code, under it: gone on the day of the new one."""
    now = [
        Security(
            code=p.code, market=p.market, kind=p.kind, board=p.board, decimals=p.decimals,
            list_date=p.list_date, industry=p.industry, sector=p.sector, region=p.region,
            concepts=p.concepts, first_code="" if p.renumbered is None else p.renumbered.former_code,
        )
        for p in plans
    ]  # fmt: skip
    now += [
        Security(code=x.code, market=x.market, kind="index", board="", decimals=2, list_date=x.list_date)
        for x in INDICES
    ]
    gone = list(now)
    for i, plan in enumerate(plans):
        if plan.last_day is not None and plan.last_day + 1 < len(dates):
            gone[i] = replace(now[i], delist_date=int(dates[plan.last_day + 1]))
    former = {
        i: replace(now[i], code=new.former_code, delist_date=new.date)
        for i, plan in enumerate(plans)
        if (new := plan.renumbered) is not None
    }
    return now, gone, former
