"""The series of the economy: their names, the column of each in its report, and when its values are known.

The list decides what `fusion_macro_indicator` holds and which names `/fusion/macro/cn-extended` allows.
Social financing is not among them: no documented report has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

PERCENT, YI, INDEX, THOUSAND_USD, CNY_PER_USD = "pct", "yi", "index", "kUSD", "CNY/USD"
"""Units: percent, 100 million CNY, index points, thousand US dollars, yuan for a dollar."""


@dataclass(frozen=True)
class Series:
    """One series. `report` and `column` are where the portal has it, `yoy` and `mom` the columns of the
    same report with its change. `freq`: d, m, q, or e (on events).

    A daily value is known on its day at `hour`, or `days` later at that hour. A series without an hour is
    known from when it was first seen, or from the day that its report states."""

    indicator: str
    name: str
    category: str
    freq: str
    unit: str
    report: str = ""
    column: str = ""
    yoy: str = ""
    mom: str = ""
    region: str = "cn"
    hour: str = ""
    days: int = 0
    importance: int = 1


def _monthly(
    report: str, category: str, *rows: tuple[str, str, str, str, str, str, int]
) -> tuple[Series, ...]:
    return tuple(
        Series(name, title, category, "m", unit, report, column, yoy, mom, importance=weight)
        for name, title, unit, column, yoy, mom, weight in rows
    )


_CHINA = (
    *_monthly(
        "RPT_ECONOMY_CPI", "price",
        ("cn_cpi_yoy", "居民消费价格同比", PERCENT, "NATIONAL_SAME",
         "NATIONAL_SAME", "NATIONAL_SEQUENTIAL", 3),
        ("cn_cpi_index", "居民消费价格指数", INDEX, "NATIONAL_BASE",
         "NATIONAL_SAME", "NATIONAL_SEQUENTIAL", 0),
        ("cn_cpi_ytd", "居民消费价格累计指数", INDEX, "NATIONAL_ACCUMULATE", "", "", 0),
        ("cn_cpi_city_yoy", "城市居民消费价格同比", PERCENT, "CITY_SAME", "CITY_SAME", "", 0),
        ("cn_cpi_rural_yoy", "农村居民消费价格同比", PERCENT, "RURAL_SAME", "RURAL_SAME", "", 0),
    ),
    *_monthly(
        "RPT_ECONOMY_PPI", "price",
        ("cn_ppi_yoy", "工业品出厂价格同比", PERCENT, "BASE_SAME", "BASE_SAME", "", 2),
        ("cn_ppi_index", "工业品出厂价格指数", INDEX, "BASE", "BASE_SAME", "", 0),
        ("cn_ppi_ytd", "工业品出厂价格累计指数", INDEX, "BASE_ACCUMULATE", "", "", 0),
    ),
    *_monthly(
        "RPT_ECONOMY_PMI", "survey",
        ("cn_pmi_mfg", "制造业采购经理指数", INDEX, "MAKE_INDEX", "MAKE_SAME", "", 3),
        ("cn_pmi_nonmfg", "非制造业商务活动指数", INDEX, "NMAKE_INDEX", "NMAKE_SAME", "", 2),
    ),
    *_monthly(
        "RPT_ECONOMY_CURRENCY_SUPPLY", "money",
        ("cn_m2", "广义货币M2", YI, "BASIC_CURRENCY", "BASIC_CURRENCY_SAME", "BASIC_CURRENCY_SEQUENTIAL", 0),
        ("cn_m2_yoy", "广义货币M2同比", PERCENT, "BASIC_CURRENCY_SAME", "BASIC_CURRENCY_SAME", "", 3),
        ("cn_m1", "狭义货币M1", YI, "CURRENCY", "CURRENCY_SAME", "CURRENCY_SEQUENTIAL", 0),
        ("cn_m1_yoy", "狭义货币M1同比", PERCENT, "CURRENCY_SAME", "CURRENCY_SAME", "", 2),
        ("cn_m0", "流通中现金M0", YI, "FREE_CASH", "FREE_CASH_SAME", "FREE_CASH_SEQUENTIAL", 0),
        ("cn_m0_yoy", "流通中现金M0同比", PERCENT, "FREE_CASH_SAME", "FREE_CASH_SAME", "", 1),
    ),
    *_monthly(
        "RPT_ECONOMY_RMB_LOAN", "money",
        ("cn_rmb_loan", "新增人民币贷款", YI, "RMB_LOAN", "RMB_LOAN_SAME", "RMB_LOAN_SEQUENTIAL", 3),
        ("cn_rmb_loan_ytd", "新增人民币贷款累计", YI, "RMB_LOAN_ACCUMULATE", "", "", 0),
    ),
    *_monthly(
        "RPT_ECONOMY_INDUS_GROW", "growth",
        ("cn_industry_yoy", "规模以上工业增加值同比", PERCENT, "BASE_SAME", "BASE_SAME", "", 2),
        ("cn_industry_ytd_yoy", "规模以上工业增加值累计同比", PERCENT, "BASE_ACCUMULATE",
         "BASE_ACCUMULATE", "", 0),
    ),
    *_monthly(
        "RPT_ECONOMY_TOTAL_RETAIL", "growth",
        ("cn_retail", "社会消费品零售总额", YI, "RETAIL_TOTAL",
         "RETAIL_TOTAL_SAME", "RETAIL_TOTAL_SEQUENTIAL", 0),
        ("cn_retail_yoy", "社会消费品零售总额同比", PERCENT, "RETAIL_TOTAL_SAME", "RETAIL_TOTAL_SAME", "", 2),
    ),
    *_monthly(
        "RPT_ECONOMY_ASSET_INVEST", "growth",
        ("cn_fai", "固定资产投资", YI, "BASE", "BASE_SAME", "BASE_SEQUENTIAL", 0),
        ("cn_fai_yoy", "固定资产投资同比", PERCENT, "BASE_SAME", "BASE_SAME", "", 2),
        ("cn_fai_ytd", "固定资产投资累计", YI, "BASE_ACCUMULATE", "", "", 0),
    ),
    *_monthly(
        "RPT_ECONOMY_CUSTOMS", "trade",
        ("cn_export", "出口金额", THOUSAND_USD, "EXIT_BASE", "EXIT_BASE_SAME", "EXIT_BASE_SEQUENTIAL", 0),
        ("cn_export_yoy", "出口金额同比", PERCENT, "EXIT_BASE_SAME", "EXIT_BASE_SAME", "", 2),
        ("cn_import", "进口金额", THOUSAND_USD, "IMPORT_BASE",
         "IMPORT_BASE_SAME", "IMPORT_BASE_SEQUENTIAL", 0),
        ("cn_import_yoy", "进口金额同比", PERCENT, "IMPORT_BASE_SAME", "IMPORT_BASE_SAME", "", 2),
    ),
    *(
        Series(indicator, name, "growth", "q", unit, "RPT_ECONOMY_GDP", column, yoy, importance=weight)
        for indicator, name, unit, column, yoy, weight in (
            ("cn_gdp_yoy", "国内生产总值累计同比", PERCENT, "SUM_SAME", "SUM_SAME", 3),
            ("cn_gdp_ytd", "国内生产总值累计", YI, "DOMESTICL_PRODUCT_BASE", "SUM_SAME", 0),
            ("cn_gdp_primary_yoy", "第一产业累计同比", PERCENT, "FIRST_SAME", "FIRST_SAME", 0),
            ("cn_gdp_secondary_yoy", "第二产业累计同比", PERCENT, "SECOND_SAME", "SECOND_SAME", 0),
            ("cn_gdp_tertiary_yoy", "第三产业累计同比", PERCENT, "THIRD_SAME", "THIRD_SAME", 0),
        )
    ),
    *(
        Series(indicator, name, "rate", "m", PERCENT, "RPTA_WEB_RATE", column, hour="09:30", importance=3)
        for indicator, name, column in (
            ("cn_lpr_1y", "贷款市场报价利率1年期", "LPR1Y"),
            ("cn_lpr_5y", "贷款市场报价利率5年期以上", "LPR5Y"),
        )
    ),
    *(
        Series(indicator, name, "rate", "e", PERCENT, "RPT_ECONOMY_DEPOSIT_RESERVE", column, importance=3)
        for indicator, name, column in (
            ("cn_rrr_large", "大型金融机构存款准备金率", "INTEREST_RATE_BA"),
            ("cn_rrr_small", "中小金融机构存款准备金率", "INTEREST_RATE_SA"),
        )
    ),
)  # fmt: skip

YEAR_TO_DATE: Mapping[str, str] = {
    "cn_cpi_ytd": "cn_cpi_index", "cn_ppi_ytd": "cn_ppi_index", "cn_industry_ytd_yoy": "cn_industry_yoy",
    "cn_rmb_loan_ytd": "cn_rmb_loan", "cn_fai_ytd": "cn_fai", "cn_gdp_ytd": "",
}  # fmt: skip
"""Series of the year up to a month -> series of the single months, where there is one."""
SUMS = frozenset({"cn_rmb_loan_ytd", "cn_fai_ytd", "cn_gdp_ytd"})
"""Those that add amounts up; the others are means."""

TENOR_NAMES = {"3m": "3个月", "6m": "6个月", "1y": "1年", "2y": "2年", "3y": "3年", "5y": "5年", "7y": "7年",
               "10y": "10年", "30y": "30年"}  # fmt: skip
YIELD_COLUMNS: Mapping[str, str] = {
    "cn_bond_2y": "EMM00588704", "cn_bond_5y": "EMM00166462", "cn_bond_10y": "EMM00166466",
    "cn_bond_30y": "EMM00166469", "us_bond_2y": "EMG00001306", "us_bond_5y": "EMG00001308",
    "us_bond_10y": "EMG00001310", "us_bond_30y": "EMG00001312",
}  # fmt: skip
"""Indicator -> column of the portal's report of yields."""
_BONDS = (
    *(
        Series(
            f"cn_bond_{tenor}", f"中国国债收益率{name}", "bond", "d", PERCENT, hour="18:00", importance=0
        )
        for tenor, name in TENOR_NAMES.items()
    ),
    *(
        Series(
            f"us_bond_{tenor}", f"美国国债收益率{TENOR_NAMES[tenor]}", "bond", "d", PERCENT,
            region="us", hour="07:00", days=1, importance=0,
        )
        for tenor in ("2y", "5y", "10y", "30y")
    ),
)  # fmt: skip
SHIBOR = {"on": "隔夜", "1w": "1周", "2w": "2周", "1m": "1个月", "3m": "3个月", "6m": "6个月", "9m": "9个月",
          "1y": "1年"}  # fmt: skip
_RATES = tuple(
    Series(
        f"shibor_{tenor}", f"上海银行间同业拆放利率{name}", "rate", "d", PERCENT, hour="11:00", importance=0
    )
    for tenor, name in SHIBOR.items()
)
LEVELS: Mapping[str, str] = {"usdcny": "133.USDCNH", "dxy": "100.UDI"}
"""Indicator -> number under which the portal keeps its daily levels."""
_LEVELS = (
    Series("usdcny", "美元兑人民币（离岸）", "fx", "d", CNY_PER_USD, hour="07:00", days=1, importance=0),
    Series("dxy", "美元指数", "fx", "d", INDEX, region="us", hour="07:00", days=1, importance=0),
)
FOREIGN: Mapping[str, str] = {
    "EMG00000733": "us_cpi_yoy", "EMG00001039": "us_unemployment", "EMG00002790": "us_ism_pmi",
}  # fmt: skip
"""Number of a series in the portal's reports of other countries -> indicator."""
_AMERICA = (
    Series("us_cpi_yoy", "美国消费者价格同比", "price", "m", PERCENT, region="us", importance=3),
    Series("us_unemployment", "美国失业率", "employment", "m", PERCENT, region="us", importance=3),
    Series("us_ism_pmi", "美国ISM制造业采购经理指数", "survey", "m", INDEX, region="us", importance=2),
)

SERIES: Mapping[str, Series] = {
    one.indicator: one for one in (*_CHINA, *_BONDS, *_RATES, *_LEVELS, *_AMERICA)
}
"""Every series by its name. `importance` 0: its values are no events of a calendar."""
CN_NAMES = tuple(name for name, one in SERIES.items() if one.region == "cn")
"""What `/fusion/macro/cn-extended` can be asked for."""
REPORTS = tuple(dict.fromkeys(one.report for one in _CHINA))
USUAL_LAG_DAYS: Mapping[str, int] = {
    "RPT_ECONOMY_PMI": 2,
    "RPT_ECONOMY_CPI": 16,
    "RPT_ECONOMY_PPI": 16,
    "RPT_ECONOMY_CUSTOMS": 18,
    "RPT_ECONOMY_CURRENCY_SUPPLY": 18,
    "RPT_ECONOMY_RMB_LOAN": 18,
    "RPT_ECONOMY_INDUS_GROW": 20,
    "RPT_ECONOMY_TOTAL_RETAIL": 20,
    "RPT_ECONOMY_ASSET_INVEST": 20,
    "RPT_ECONOMY_GDP": 25,
}
"""Report -> days from the end of a period to the release of its figure, rather some too many than one too
few: no report states the day, and what is loaded with its history must not be known too early."""
_WITH_FEBRUARY = {
    "RPT_ECONOMY_CUSTOMS",
    "RPT_ECONOMY_INDUS_GROW",
    "RPT_ECONOMY_TOTAL_RETAIL",
    "RPT_ECONOMY_ASSET_INVEST",
}
"""Reports of which the figures of January come out with those of February."""


def usual_publication(indicator: str, period_date: str) -> str | None:
    """The day by which the figure of a period is usually out; None of a series without a usual lag."""
    one = SERIES.get(indicator)
    if one is None or one.freq not in {"m", "q"} or one.report not in USUAL_LAG_DAYS:
        return None
    year, month = int(period_date[:4]), int(period_date[5:7])
    if one.freq == "q":
        month = (month + 2) // 3 * 3
    elif month == 1 and one.report in _WITH_FEBRUARY:
        month = 2
    ended = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return (ended + timedelta(days=USUAL_LAG_DAYS[one.report])).isoformat()
