"""The fourteen presets, and the ranking of a scored market by one of them or by filters of a user."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.arrays import Bools, Floats
from core.market.names import plain_industry
from platform_assets.compute.factors.definitions import FACTORS
from platform_assets.compute.factors.scores import numbers
from platform_assets.compute.parameters.factors import (
    AI_INDUSTRIES,
    PRESET_FILTERS,
    PRESET_LIMIT,
    RESONANCE_COMPOSITE,
)

Ints = npt.NDArray[np.intp]
COMPOSITE = "composite"
INDUSTRY_COLUMNS = ("industry", "em_industry", "sw_l1_name", "sw_l2_name")
"""Columns of `fusion_stock_wide` that name an industry of a stock."""


@dataclass(frozen=True)
class Filter:
    """Bounds of one factor's score, both included; a stock without that score does not fulfil it."""

    factor: str
    min: float | None = None
    max: float | None = None

    def plain(self) -> dict[str, Any]:
        """The filter as a JSON object, without a bound that is None."""
        return {name: one for name, one in vars(self).items() if one is not None}


@dataclass(frozen=True)
class Preset:
    """A ready-made selection. `industries` narrows what is selected, not what is ranked."""

    key: str
    label: str
    desc: str
    rationale: str
    watch_out: str
    sort: str = COMPOSITE
    limit: int = PRESET_LIMIT
    industries: tuple[str, ...] = ()
    min_composite: float | None = None

    @property
    def filters(self) -> tuple[Filter, ...]:
        return tuple(Filter(*one) for one in PRESET_FILTERS[self.key])

    def plain(self) -> dict[str, Any]:
        """The preset as a JSON object."""
        shown: dict[str, Any] = {
            "key": self.key, "label": self.label, "desc": self.desc, "rationale": self.rationale,
            "watchOut": self.watch_out, "filters": [one.plain() for one in self.filters], "sort": self.sort,
            "limit": self.limit,
        }  # fmt: skip
        if self.industries:
            shown["universeHint"] = {"industries": list(self.industries)}
        if self.min_composite is not None:
            shown["minComposite"] = self.min_composite
        return shown


PRESETS: tuple[Preset, ...] = (
    Preset("momentumCore", "动量核心", "中期强势股", "相对强度有延续性", "高位反转、拥挤回撤", "momentum"),
    Preset("valueDeep", "深度价值", "低估值且盈利不差", "估值均值回归", "价值陷阱、PE 仅部分口径", "value"),
    Preset("breakoutVol", "放量突破", "量价齐升", "突破需量能确认", "假突破、次日高开", "shortTerm"),
    Preset("growthMomentum", "成长动量", "业绩与股价共振", "业绩改善被价格确认时更易延续",
        "财报滞后、预期兑现", "growth"),
    Preset("volumeIgnition", "量能点火", "量能突增初期", "放量常先于趋势", "一日游、消息驱动", "shortTerm"),
    Preset("capitalFlow", "主力资金", "主力净流入居前", "资金持续流入推动价格", "资金口径为估算", "capital"),
    Preset("oversoldQuality", "超跌优质", "好公司短期错杀", "基本面未变的下跌多会修复", "基本面恶化才下跌",
        "quality"),
    Preset("blueChipLiquidity", "蓝筹流动性", "大市值高流动", "大资金偏好进出方便的标的", "弹性小、跟随指数",
        "liquidity"),
    Preset("smallCapElastic", "小盘弹性", "小市值高弹性", "小市值对资金更敏感", "流动性与退市风险",
        "shortTerm"),
    Preset("qualityCompounder", "质量复利", "高 ROE 长期复利", "高盈利能力可持续再投资", "估值过高",
        "quality"),
    Preset("aiComputeRotation", "AI 算力轮动", "主题内强者轮动", "主题行情中资金集中于强者",
        "主题拥挤、行业口径变化", "capital", industries=AI_INDUSTRIES),
    Preset("multiFactorResonance", "多因子共振", "多维同时占优", "分散单一因子失效的风险", "样本少、换手高",
        min_composite=RESONANCE_COMPOSITE),
    Preset("lowVolQuality", "低波优质", "低波动异象", "低波动股票的风险调整收益长期偏高",
        "牛市跑输；低波为日内振幅代理", "stability"),
    Preset("limitUpGene", "涨停基因", "近期涨停活跃", "活跃股易再受关注", "炸板、追高、T+1 风险",
        "limitGene"),
)  # fmt: skip
BY_KEY: Mapping[str, Preset] = {preset.key: preset for preset in PRESETS}


def preset_of(key: str) -> Preset:
    """A preset by its key. KeyError when there is none."""
    return BY_KEY[key]


def merged(preset: Iterable[Filter], own: Iterable[Filter]) -> tuple[Filter, ...]:
    """Filters of a preset and of a user: one of the user replaces those of the preset on the same factor."""
    mine = tuple(own)
    taken = {one.factor for one in mine}
    return (*(one for one in preset if one.factor not in taken), *mine)


def passing(factors: Mapping[str, Floats], one: Filter) -> Bools:
    """[n] whether a filter is fulfilled; not where the score is missing."""
    scores = factors[one.factor]
    found = ~np.isnan(scores)
    if one.min is not None:
        found &= scores >= one.min
    if one.max is not None:
        found &= scores <= one.max
    return found


def in_industries(names: Iterable[Sequence[Any]], requested: Sequence[str]) -> Bools:
    """[n] whether one of a stock's industry names (see `INDUSTRY_COLUMNS`) is among the requested ones; the
    level mark of a name (IT服务Ⅱ) does not count."""
    keys = {plain_industry(name) for name in requested}
    return np.array(
        [any(plain_industry(name) in keys for name in row if isinstance(name, str)) for row in names], bool
    )


def ordered(
    places: Ints, key: Floats, composite: Floats, amount: Floats, codes: Sequence[str], *, ascending: bool
) -> Ints:
    """Places (of rows, by ascending code) in the order of `key`, then composite, amount (both largest first)
    and code; without a key last."""
    by = key[places] if ascending else -key[places]
    names = np.asarray([codes[place] for place in places.tolist()], dtype=str)
    order = np.lexsort((names, -_low(amount[places]), -_low(composite[places]), by))
    return places[order]


def _low(values: Floats) -> Floats:
    """Missing values below all others."""
    return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class Batch:
    """Scores of n stocks as a selection looks at them: [n] by factor key, and for ties [n] composite, amount
    (CNY) and code."""

    factors: Mapping[str, Floats]
    composite: Floats
    amount: Floats
    codes: Sequence[str]


def picks(
    batch: Batch,
    filters: Sequence[Filter],
    min_composite: float | None,
    *,
    among: Bools,
    key: Floats,
    ascending: bool = False,
) -> Ints:
    """Rows of those `among` that fulfil all filters and have at least that composite, in the order of
    `key`."""
    keep = among & ~np.isnan(batch.composite)
    for one in filters:
        keep &= passing(batch.factors, one)
    if min_composite is not None:
        keep &= batch.composite >= min_composite
    return ordered(np.flatnonzero(keep), key, batch.composite, batch.amount, batch.codes, ascending=ascending)


def preset_picks(
    preset: Preset,
    batch: Batch,
    *,
    among: Bools,
    of_industries: Callable[[Sequence[str]], Bools],
    filters: Sequence[Filter] = (),
) -> Ints:
    """Rows that a preset selects `among` a batch, best first, as many as there are. `of_industries` says
    which rows belong to one of some industries; `filters` of a user replace those of the preset on the same
    factor."""
    if preset.industries:
        among = among & of_industries(preset.industries)
    key = batch.composite if preset.sort == COMPOSITE else batch.factors[preset.sort]
    return picks(batch, merged(preset.filters, filters), preset.min_composite, among=among, key=key)


def apply_preset(
    scored: pd.DataFrame,
    preset: Preset,
    *,
    filters: Sequence[Filter] = (),
    gated: bool = True,
    limit: int | None = None,
) -> pd.DataFrame:
    """The rows of a scored market that a preset selects, best first, with `rank_no` from 1 on.

    `scored`: one date's rows with the columns of `calc_factor_score`; `amount` (CNY, for ties) and
    `INDUSTRY_COLUMNS` (for a preset that names industries: without them it selects nothing) where they are
    there. `filters` of a user replace those of the preset on the same factor. `gated`: without the stocks
    that a gate blocks. `limit`: rows at most, the preset's own when None.
    """
    blocked = numbers(scored, "gate_blocked") == 1

    def of_industries(requested: Sequence[str]) -> Bools:
        names = [scored[name].tolist() for name in INDUSTRY_COLUMNS if name in scored.columns]
        none = np.zeros(len(scored), dtype=bool)
        return in_industries(zip(*names, strict=True), requested) if names else none

    batch = Batch(
        {factor.key: numbers(scored, factor.column) for factor in FACTORS},
        numbers(scored, "composite"),
        numbers(scored, "amount"),
        scored["code"].astype(str).tolist(),
    )
    among = ~blocked if gated else np.ones(len(scored), dtype=bool)
    places = preset_picks(preset, batch, among=among, of_industries=of_industries, filters=filters)
    found = scored.iloc[places[: preset.limit if limit is None else limit]].reset_index(drop=True)
    return found.assign(rank_no=np.arange(1, len(found) + 1))
