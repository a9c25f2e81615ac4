"""The app over a small fused market: tables of the registry, and of the dictionary where it has none yet."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.calendar import shipped_calendar
from core.clock import FrozenClock, ManualClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse
from serving_api.app import create_app
from serving_api.framework.system_time import SystemTime
from tests.serving_api import market
from tests.serving_api.client import running
from tests.serving_api.conftest import ADMIN, FAST, Bench, Ticks, bearer, make_settings, without_upstreams

TODAY = market.TODAY
MAOTAI, PINGAN = "600519", "000001"


def _fused(name: str, key: str, notation: str, date: str | None) -> Table:
    return Table(f"fusion_{name}", Layer.DWD, columns_from(notation), tuple(key.split()), date_column=date)


LATER = (
    _fused("stock_profile", "code", "code:code full_name:s128 website:s255", None),
    _fused("stock_industry", "code", "code:code name:s64 industry:s64 sw_l1:s16 concepts:json", None),
    _fused(
        "finance_indicator",
        "code report_period",
        "code:code report_period:date revenue:amt net_profit:amt eps:px bvps:px roe:pct",
        "report_period",
    ),
    _fused(
        "valuation", "code date", "code:code date:date price:px pe_ttm:f pb:f total_market_cap:amt", "date"
    ),
    _fused(
        "kline_bar",
        "code period date",
        "code:code period:s8 date:date open:px close:px high:px low:px volume:big amount:amt bar_count:int",
        "date",
    ),
    _fused(
        "stock_wide",
        "code trade_date",
        "code:code trade_date:date name:s64 current_price:px change_pct:pct total_volume:big amount:amt "
        "turnover_pct:pct pe_ttm:f total_market_cap:amt float_market_cap:amt main_net:amt industry:s64 "
        "sw_l1:s16 sw_l2:s16 sw_l1_name:s32 sw_l2_name:s32 concepts:json",
        "trade_date",
    ),
)
"""Tables of the dictionary; the registry's own declaration wins once it is there."""


DIVIDENDS = [
    {"code": code, "report_period": period, "ann_date": planned, "name": name, "ex_date": ex_date,
     "bonus_rmb": cash, "dividend_yield": share, "progress": progress, "src": "eastmoney"}
    for code, name, period, planned, ex_date, cash, share, progress in (
        ("600519", "贵州茅台", "2024-12-31", "2025-04-03", "2025-06-26", 276.24, 1.9, "实施方案"),
        ("600519", "贵州茅台", "2025-09-30", "2025-11-06", "2025-12-19", 239.57, 1.7, "实施方案"),
        ("600519", "贵州茅台", "2025-12-31", "2026-03-27", "2026-06-25", 280.0, 2.0, "实施方案"),
        ("600519", "贵州茅台", "2026-06-30", "2026-07-29", None, 12.0, 0.8, "预案"),
        ("000001", "平安银行", "2025-12-31", "2026-03-15", "2026-09-02", 3.62, 3.1, "实施方案"),
    )
]  # fmt: skip


def all_tables() -> tuple[Table, ...]:
    known = builtin_registry().tables
    names = {table.name for table in known}
    return (*known, *(table for table in LATER if table.name not in names))


def put(warehouse: Warehouse, name: str, rows: list[dict[str, Any]], *, public_at: str | None = None) -> None:
    """Write rows for the codes that they name; valid from the time of the batch unless `public_at` says."""
    import pandas as pd

    warehouse.writer.write(
        warehouse.table(name),
        pd.DataFrame([{"src": "tencent", **row} for row in rows]),
        where=Slice.of_codes(sorted({row["code"] for row in rows})),
        batch=Batch(partition_key="test"),
        public_at=[public_at] * len(rows),
    )


def fill(warehouse: Warehouse, clock: ManualClock) -> None:
    days = shipped_calendar().last(60, TODAY)
    clock.at = clock.at.replace(month=8, day=1)
    old = "2026-07-01 09:00:00.000000"
    put(
        warehouse,
        "fusion_stock_master",
        [
            {"code": MAOTAI, "name": "贵州茅台", "market": "SH", "sec_type": "stock", "list_status": "L",
             "total_shares": 1_256_197_800, "float_shares": 1_256_197_800},
            {"code": PINGAN, "name": "平安银行", "market": "SZ", "sec_type": "stock", "list_status": "L",
             "total_shares": 19_405_918_198, "float_shares": 19_405_600_653},
        ],
        public_at=old,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_stock_profile",
        [{"code": MAOTAI, "full_name": "贵州茅台酒股份有限公司"}],
        public_at=old,
    )
    put(
        warehouse,
        "fusion_stock_industry",
        [{"code": MAOTAI, "name": "贵州茅台", "industry": "白酒", "sw_l1": "801120", "concepts": '["消费"]'}],
        public_at=old,
    )
    periods = [f"{year}-{end}" for year in (2024, 2025, 2026) for end in ("03-31", "06-30", "09-30", "12-31")]
    put(
        warehouse,
        "fusion_finance_indicator",
        [
            {"code": MAOTAI, "report_period": day, "revenue": 1e9 * at, "net_profit": 1e8 * at,
             "eps": 1.0 * at, "bvps": 150.0, "roe": 8.5}
            for at, day in enumerate(periods[:10], start=1)
        ],
        public_at=old,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_margin",
        [
            {"code": MAOTAI, "date": day, "rzye": 1.9e10 + at, "rzmre": 3e8, "rqye": 1.7e8,
             "rzrqye": 1.917e10, "fin_ratio_pct": 1.1, "loan_volume": 133_635, "src": "sse"}
            for at, day in enumerate(days[-40:])
        ],
        public_at="2026-07-30 09:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "fusion_holder",
        [
            {"code": code, "date": day, "ann_date": day, "holder_num": 100_000 + at, "change_num": 1,
             "change_ratio": ratio, "avg_shares": 12_561.9, "src": "eastmoney"}
            for code, ratio in ((MAOTAI, -2.5), (PINGAN, 4.0))
            for at, day in enumerate(days[-30:] if code == MAOTAI else days[-2:])
        ],
        public_at="2026-07-30 00:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "raw_executive_holding",
        [
            {"code": MAOTAI, "change_date": day, "row_key": f"{at:016d}", "person": "王海燕",
             "change_shares": 100 * at, "price": 1400.0}
            for at, day in enumerate(days[-5:])
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_org_survey",
        [
            {"code": code, "survey_date": day, "org_key": f"{number:016d}", "org_name": f"机构{number}"}
            for code, day, count in ((MAOTAI, days[-3], 2), (PINGAN, days[-2], 3), (PINGAN, days[0], 9))
            for number in range(count)
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_holding_org",
        [
            {"code": MAOTAI, "report_period": period, "org_type": kind, "hold_shares": 1000}
            for period in ("2025-12-31", "2026-03-31", "2026-06-30")
            for kind in ("all", "fund")
        ],
    )
    put(warehouse, "fusion_dividend", DIVIDENDS, public_at="2026-07-30 00:00:00.000000")
    put(
        warehouse,
        "exchange_margin",
        [
            {"code": code, "date": days[-1], "exchange": exchange, "rzye": 1e12, "src": exchange.lower()}
            for code, exchange in (("TOTAL_SH", "SSE"), ("TOTAL_SZ", "SZSE"), (MAOTAI, "SSE"))
        ],
    )
    put(
        warehouse,
        "fusion_announcement",
        [
            {"code": MAOTAI, "pub_date": day, "title_key": f"{at:016x}", "title": f"第{at}号公告<b>",
             "ann_type": "01010503", "category": "report" if at % 2 else "other", "importance": 1,
             "url": f"http://static.cninfo.com.cn/finalpage/{day}/{at}.PDF", "ann_id": str(at),
             "src": "cninfo"}
            for at, day in enumerate(days[-40:])
        ],
        public_at="2026-07-30 09:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "fusion_news",
        [
            {"code": MAOTAI, "title_key": f"{at:016x}", "pub_time": f"{day} 10:{at:02d}:00",
             "title": f"第{at}条消息", "content": "正文" * 20, "source": "证券时报",
             "url": f"http://finance.eastmoney.com/a/{at}.html",
             "news_type": "news" if at % 3 else "research",
             "rating": None if at % 3 else "买入", "researcher": None if at % 3 else "陈文倩",
             "sentiment": 1,
             "src": "eastmoney"}
            for at, day in enumerate(days[-40:])
        ],
        public_at="2026-07-30 09:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "raw_reports",
        [
            {"code": MAOTAI, "info_code": f"AP{at}", "pub_date": day, "title": f"第{at}篇研报",
             "rating": "买入",
             "target_price": 1800.0, "src": "eastmoney"}
            for at, day in enumerate(days[-3:])
        ],
    )  # fmt: skip
    put(
        warehouse,
        "cninfo_periodic_report",
        [
            {"code": code, "report_period": period, "name": name, "first_date": first, "src": "eastmoney"}
            for code, name in ((MAOTAI, "贵州茅台"), (PINGAN, "平安银行"))
            for period, first in (
                ("2026-03-31", "2026-04-25"),
                ("2026-06-30", "2026-08-29" if code == MAOTAI else "2026-08-15"),
            )
        ],
    )
    put(
        warehouse,
        "fusion_dragon_tiger",
        [
            {"code": MAOTAI, "date": day, "reason_key": key, "reason": reason, "net_buy": 10.5,
             "buy_amt": 20.5, "sell_amt": 10.0, "turnover": 3.5, "close": 1400.0, "src": "eastmoney",
             "buy_seats": '[{"branch_name":"机构专用","rank_no":1}]'}
            for day in days[-40:]
            for key, reason in (("a", "甲"), ("b", "乙"))
            if day == TODAY or key == "a"
        ],
        public_at="2026-07-30 18:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "fusion_block_trade",
        [
            {"code": MAOTAI, "date": TODAY, "row_key": f"k{seq}", "seq": seq, "price": 1300.0, "volume": 2000,
             "amount": 2.6e6, "premium_pct": premium, "buyer": "机构专用", "seller": "甲", "src": "sse"}
            for seq, premium in ((1, -8.0), (2, 1.0))
        ],
        public_at="2026-07-30 18:00:00.000000",
    )  # fmt: skip
    put(
        warehouse,
        "exchange_block_trade",
        [
            {"code": code, "date": TODAY, "row_key": "k1", "exchange": exchange, "price": 1300.0,
             "volume": 2000, "src": exchange.lower()}
            for code, exchange in ((MAOTAI, "SSE"), (PINGAN, "SZSE"))
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_lockup",
        [
            {"code": MAOTAI, "free_date": day, "share_type": "首发", "free_shares": 100, "able_shares": 50,
             "ratio_total_pct": 1.5, "market_value": 1e6, "src": "eastmoney"}
            for day in ("2026-06-01", TODAY, "2027-03-01")
        ],
    )  # fmt: skip
    put(
        warehouse,
        "raw_lhb_branch",
        [
            {"code": MAOTAI, "trade_date": TODAY, "reason_key": reason, "side": side, "rank_no": rank,
             "branch_name": name, "buy_amt": bought, "sell_amt": sold, "is_org": name == "机构专用",
             "src": "eastmoney"}
            for reason, side, rank, name, bought, sold in (
                ("a", "buy", 1, "甲证券100%营业部", 500.0, 50.0),
                ("a", "buy", 2, "机构专用", 400.0, None),
                ("a", "buy", 3, "机构专用", 300.0, None),
                ("a", "sell", 1, "甲证券100%营业部", 500.0, 50.0),
                ("b", "buy", 1, "甲证券100%营业部", 900.0, 50.0),
            )
        ],
    )  # fmt: skip
    put(
        warehouse,
        "fusion_valuation",
        [
            {"code": MAOTAI, "date": day, "price": 1400.0 + at, "pe_ttm": 21.0, "pb": 7.0,
             "total_market_cap": 1.7e8}
            for at, day in enumerate(days[-30:])
        ],
        public_at=old,
    )  # fmt: skip
    bars = [
        market.bar(MAOTAI, day, 1400.0 + at, 1.0 if at < 40 else 2.0, quality="warning" if at == 59 else "ok")
        for at, day in enumerate(days)
    ]
    bars[55]["is_suspended"] = True
    put(warehouse, "fusion_kline_daily", bars, public_at=old)
    put(warehouse, "fusion_kline_daily", [market.bar(PINGAN, TODAY, 11.0)], public_at=old)
    put(
        warehouse,
        "fusion_kline_bar",
        [
            {"code": MAOTAI, "period": period, "date": day, "open": 1.0, "close": 2.0, "high": 3.0,
             "low": 0.5, "volume": 10, "amount": 20.0, "bar_count": 5, "last_date": min(day, TODAY)}
            for period, dates in (
                ("week", ("2026-08-07", "2026-08-14", "2026-08-21")), ("month", ("2026-08-31",))
            )
            for day in dates
        ],
        public_at=old,
    )  # fmt: skip
    put(
        warehouse,
        "fusion_index_daily",
        [
            {"code": code, "date": day, "name": name, "open": 3000.0, "close": 3001.0 + at, "high": 3100.0,
             "low": 2900.0, "volume": 1_000_000, "amount": 1e9}
            for code, name in (("sh000001", "上证指数"), ("sz399001", "深证成指"))
            for at, day in enumerate(days[-10:])
        ],
        public_at=old,
    )  # fmt: skip
    clock.at = market.NOW


def app_over(url: str, folder: Path, ticks: Ticks, **settings: Any) -> Any:
    tables = all_tables()
    return without_upstreams(
        create_app(
            make_settings(folder, **settings),
            clock=FrozenClock(market.NOW),
            system=SystemTime(wall=ticks.wall, monotonic=ticks.wall),
            warehouse_reader=market.open_warehouse(url, folder, tables=tables, read_only=True),
            warehouse_writer=market.open_warehouse(url, folder, tables=tables, pool={"wait_s": 0.2}),
            passwords=FAST,
        )
    )


@pytest.fixture(scope="module")
def fused(shared_warehouse_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The app over the filled market on each engine, for a module's reading tests; `extra['headers']` are
    an administrator's, `extra['warehouse']` writes."""
    folder = tmp_path_factory.mktemp("data")
    clock = ManualClock(market.NOW)
    warehouse = market.open_warehouse(shared_warehouse_url, folder, clock=clock, tables=all_tables())
    warehouse.migrate()
    fill(warehouse, clock)
    ticks = Ticks()
    with running(app_over(shared_warehouse_url, folder, ticks)) as api:
        token = api.post("/auth/login", json=ADMIN).json()["access_token"]
        extra = {"headers": bearer(token), "warehouse": warehouse}
        yield Bench(api, ticks, shared_warehouse_url, folder, extra)
    warehouse.close()


def get(bench: Bench, path: str, **params: Any) -> Any:
    return bench.api.get(path, params=params, headers=bench.extra["headers"])


def results(bench: Bench, path: str, **params: Any) -> Any:
    answer = get(bench, path, **params)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]
