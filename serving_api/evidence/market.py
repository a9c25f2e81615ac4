"""Evidence packs of the market and of the economy: `market_pack`, `macro_pack`.

A pack holds what is stored and known at the market clock's current time. Raises StorageError when the
database is unavailable.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from core.clock import stamp
from core.days import moved
from platform_assets.compute.evidence.facts import COUNT, Pack
from resources.warehouse.stored import ANY, Where
from serving_api.db.rows import headlines
from serving_api.db.sessions import Session
from serving_api.evidence.packs import new_pack, take_row, unit_of_series
from serving_api.evidence.parts import Look
from serving_api.evidence.queries import AUDIT, Row, of_newest_day
from serving_api.framework.state import State
from serving_api.macro.queries import RELEASES, VALUES, newest_of_series

INDEX, PHASE, LIMITS, RANKS, FLOWS, LEADERS, OVERVIEW, OUTSIDE, FLASHES, MASTER = (
    "fusion_index_daily", "calc_market_phase", "calc_limit_count", "calc_industry_rank", "fusion_fund_flow",
    "calc_dragon_score", "exchange_overview", "ref_outside_market", "raw_news_flash", "fusion_stock_master",
)  # fmt: skip
INDICES = ("sh000001", "sz399001", "sz399006", "sh000300", "sh000688", "sh000852")
_EXCHANGES = {"SSE": "上交所", "SZSE": "深交所", "BSE": "北交所"}
SHOWN = 5
FLASH_DAYS = 3
RELEASE_DAYS = 14


@dataclass(frozen=True)
class DayPart:
    """Rows of a table's newest date, the first ones by `sort`. `named`: the column with the name of the
    row's subject; '' when it is the market."""

    key: str
    table: str
    looked_for: str
    columns: tuple[Look, ...]
    named: str = ""
    sort: str = ""
    limit: int = SHOWN
    only: tuple[Where, ...] = ()
    chosen: Callable[[Row], bool] | None = None


OF_THE_MARKET: tuple[DayPart, ...] = (
    DayPart("indices", INDEX, "指数日线", (
        ("close", "收盘点位"), ("change_pct", "涨跌幅"), ("amount", "成交额"),
    ), named="name", limit=2000, chosen=lambda row: row["code"] in INDICES),
    DayPart("phase", PHASE, "市场阶段与情绪", (
        ("phase_label", "情绪阶段"), ("score", "情绪评分"), ("up_count", "上涨家数", COUNT),
        ("down_count", "下跌家数", COUNT), ("flat_count", "平盘家数", COUNT),
        ("limit_up_count", "涨停家数", COUNT), ("limit_down_count", "跌停家数", COUNT),
        ("broken_count", "炸板家数", COUNT), ("seal_rate_pct", "封板率"), ("promotion_rate_pct", "晋级率"),
        ("max_limit_days", "最高连板", COUNT), ("amount", "两市成交额"),
        ("duration_days", "阶段持续天数", COUNT),
    )),
    DayPart("rising", RANKS, "行业排名", (
        ("change_pct", "行业涨跌幅"), ("main_net", "行业主力净额"), ("leader_name", "领涨股"),
    ), named="industry_name", sort="-change_pct", only=(ANY.level == "sw_l1",)),
    DayPart("falling", RANKS, "行业排名", (("change_pct", "行业涨跌幅"), ("main_net", "行业主力净额")),
            named="industry_name", sort="change_pct", only=(ANY.level == "sw_l1",)),
    DayPart("inflow", FLOWS, "资金流入排名", (("main_net", "主力净额"),), named="code", sort="-main_net",
            only=(ANY.main_net > 0,)),
    DayPart("outflow", FLOWS, "资金流出排名", (("main_net", "主力净额"),), named="code", sort="main_net",
            only=(ANY.main_net < 0,)),
    DayPart("leaders", LEADERS, "龙头评分", (("total_score", "龙头评分"), ("limit_days", "连板天数", COUNT)),
            named="name", sort="rank_no", only=(ANY.rank_no > 0,)),
    DayPart("overview", OVERVIEW, "交易所概况", (
        ("listed_count", "上市公司数", COUNT), ("total_market_cap_yi", "总市值"), ("amount_yi", "成交金额"),
        ("pe_ratio", "平均市盈率"),
    ), named="exchange", only=(ANY.sec_class == "股票",)),
)  # fmt: skip

MAIN_SERIES = {
    "cn_gdp_yoy": "国内生产总值", "cn_cpi_yoy": "居民消费价格", "cn_ppi_yoy": "工业品出厂价格",
    "cn_pmi_mfg": "制造业采购经理指数", "cn_pmi_nonmfg": "非制造业商务活动指数", "cn_m2_yoy": "广义货币",
    "cn_m1_yoy": "狭义货币", "cn_rmb_loan": "新增人民币贷款", "cn_industry_yoy": "工业增加值",
    "cn_retail_yoy": "社会消费品零售", "cn_fai_yoy": "固定资产投资", "cn_export_yoy": "出口",
    "cn_import_yoy": "进口", "cn_lpr_1y": "一年期贷款市场报价利率", "cn_lpr_5y": "五年期贷款市场报价利率",
    "cn_rrr_large": "存款准备金率", "cn_bond_10y": "十年期国债收益率", "cn_bond_1y": "一年期国债收益率",
    "us_bond_10y": "十年期美债收益率", "shibor_on": "隔夜同业拆放利率", "usdcny": "美元兑人民币",
    "dxy": "美元指数",
    "us_cpi_yoy": "美国消费者价格", "us_unemployment": "美国失业率", "us_ism_pmi": "美国制造业采购经理指数",
}  # fmt: skip
"""Series -> what `missing` calls it."""


async def market_pack(state: State) -> Pack:
    """Indices, breadth, limits, phase, industries, flows, leaders, foreign markets and flash news."""
    return await state.reading.scan(read_market, state.clock.now())


async def macro_pack(state: State) -> Pack:
    """The newest value of the main series with the day of its release, and upcoming releases."""
    return await state.reading.scan(read_macro, state.clock.now())


def read_market(session: Session, now: datetime, pack: Pack | None = None) -> Pack:
    pack = new_pack(now) if pack is None else pack
    for part in OF_THE_MARKET:
        requested = [*(look[0] for look in part.columns), *((part.named,) if part.named else ())]
        rows = of_newest_day(
            session, part.table, requested, now, *part.only, sort=part.sort or None, limit=part.limit
        )
        names = _names(session, rows) if part.named == "code" else {}
        taken = 0
        for row in rows if part.chosen is None else filter(part.chosen, rows):
            reported = str(row.get(part.named) or "") if part.named else ""
            subject = names.get(reported, "") if part.named == "code" else _EXCHANGES.get(reported, reported)
            if part.named and not subject:
                continue
            taken += take_row(pack, session.table(part.table), row, part.columns, subject=subject)
        if not taken:
            pack.missing.append(part.looked_for)
    _outside(session, pack, now)
    _flashes(session, pack, now)
    return pack


def _names(session: Session, rows: list[Row]) -> dict[str, str]:
    codes = [str(row["code"]) for row in rows]
    found = session.of_codes(MASTER, codes, columns=("code", "name")) if codes else []
    return {str(code): str(name) for code, name in found if name}


def _outside(session: Session, pack: Pack, now: datetime) -> None:
    looks: tuple[Look, ...] = (("price", "最新报价"), ("change_pct", "涨跌幅"))
    today = now.date().isoformat()
    rows = session.dicts(
        OUTSIDE,
        ANY.date >= moved(today, -7),
        ANY.date <= today,
        ANY.quote_time.is_(None) | (ANY.quote_time <= pack.as_of),
        columns=session.columns(OUTSIDE, ("series", "date", "name", "price", "change_pct", *AUDIT)),
        order=["date"],
    )
    newest = {str(row["series"]): row for row in rows if row["name"]}
    for row in newest.values():
        take_row(pack, session.table(OUTSIDE), row, looks, subject=str(row["name"]))
    if not newest:
        pack.missing.append("外围市场报价")


def _flashes(session: Session, pack: Pack, now: datetime) -> None:
    """The newest flash news with a title: texts from outside, quoted."""
    today, table = now.date().isoformat(), session.table(FLASHES)
    found = headlines(session, table, since=moved(today, -FLASH_DAYS), until=today, limit=4 * SHOWN)
    known = [row for row in found if row["title"] and str(row["pub_time"]) <= pack.as_of]
    # Several sites publish the same item; of equal titles the newest is taken.
    rows = list({str(row["title"]): row for row in reversed(known)}.values())[: -SHOWN - 1 : -1]
    for row in rows:
        take_row(pack, table, row, (("title", "快讯"),), subject="")
    if not rows:
        pack.missing.append("近日快讯")


BOND = {"cn_bond_10y": "十年期国债收益率"}


def read_bond_yield(session: Session, now: datetime, pack: Pack) -> Pack:
    """The yield of the ten-year government bond, added to a pack."""
    _series(session, pack, now, BOND)
    return pack


def read_macro(session: Session, now: datetime, pack: Pack | None = None) -> Pack:
    pack = new_pack(now) if pack is None else pack
    _series(session, pack, now, MAIN_SERIES)
    today = now.date().isoformat()
    of = [
        RELEASES.c.release_time >= today,
        RELEASES.c.release_time <= f"{moved(today, RELEASE_DAYS)} 23:59:59",
        RELEASES.c.region == "cn",
    ]
    columns = session.columns(RELEASES, ("event_key", "release_time", "title", *AUDIT))
    due = session.dicts(
        RELEASES, *of, columns=columns, as_of=stamp(now), order=[RELEASES.c.release_time], limit=SHOWN
    )
    for row in due:
        take_row(pack, session.table(RELEASES), row, (("title", "数据发布"),), subject="")
    if not due:
        pack.missing.append("未来两周的数据发布")
    return pack


def _series(session: Session, pack: Pack, now: datetime, requested: Mapping[str, str]) -> None:
    """The newest value of some series and the day of its release."""
    rows = newest_of_series(session, list(requested), None, stamp(now))
    by_name = {str(row["indicator"]): row for row in rows if row["value"] is not None}
    for series, title in requested.items():
        row = by_name.get(series)
        if row is None:
            pack.missing.append(title)
            continue
        # The day of release is a fact of its own; the value is of the end of its period.
        looks: tuple[Look, ...] = (("value", ""), ("publish_date", "公布日期"))
        take_row(
            pack, session.table(VALUES), row, looks, subject="", before=str(row["name"]),
            unit=unit_of_series(row["unit"]),
        )  # fmt: skip
