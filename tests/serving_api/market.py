"""A small market in a warehouse: the fused tables of the dictionary with a few rows that tests can name."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from core.calendar import shipped_calendar
from core.clock import FrozenClock, ManualClock
from core.declaration.columns import columns_from
from core.declaration.registry import builtin_registry
from core.declaration.tables import Layer, Table
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from resources.warehouse.warehouse import Warehouse

NOW = datetime(2026, 8, 21, 15, 30)
TODAY = "2026-08-21"


def _dwd(name: str, key: str, notation: str, date: str | None) -> Table:
    return Table(name, Layer.DWD, columns_from(notation), tuple(key.split()), date_column=date)


KLINE = _dwd(
    "fusion_kline_daily",
    "code date",
    "code:code date:date market:s4 sec_type:s8 open:px high:px low:px close:px last_close:px volume:big "
    "amount:amt change_pct:pct amplitude_pct:pct turnover_pct:pct limit_up:px limit_down:px "
    "limit_status:s16 is_suspended:bool adj_factor:f",
    "date",
)
MASTER = _dwd(
    "fusion_stock_master",
    "code",
    "code:code name:s64 market:s4 exchange:s8 sec_type:s8 board:s16 list_status:s4 is_st:bool list_date:date "
    "total_shares:big float_shares:big pinyin_initials:s32 pinyin_full:s128",
    None,
)
INDUSTRY = _dwd(
    "fusion_stock_industry", "code", "code:code name:s64 industry:s64 em_industry:s64 concepts:json", None
)
WIDE = _dwd(
    "fusion_stock_wide",
    "code trade_date",
    "code:code trade_date:date name:s64 market:s4 list_date:date current_price:px change_pct:pct "
    "turnover_pct:pct pe_ttm:f pb:f ps_ttm:f dividend_yield:pct total_market_cap:amt "
    "float_market_cap:amt total_shares:big float_shares:big report_period:date roe:pct gross_margin:pct "
    "net_margin:pct revenue_yoy:pct net_profit_yoy:pct debt_ratio:pct eps:px bvps:px holder_num:big "
    "industry:s64 concepts:json",
    "trade_date",
)
QUOTE = _dwd(
    "fusion_quote_snapshot",
    "code trade_date",
    "code:code trade_date:date name:s64 price:px open:px high:px low:px last_close:px change_pct:pct "
    "volume:big amount:amt turnover_pct:pct quote_time:dt",
    "trade_date",
)
VALUATION = _dwd(
    "fusion_valuation",
    "code date",
    "code:code date:date name:s64 price:px pe_ttm:f pb:f ps_ttm:f dividend_yield:pct "
    "total_market_cap:amt float_market_cap:amt",
    "date",
)
EX_ITEMS = builtin_registry().dataset("exright_item").table
CODE_CHANGES = builtin_registry().dataset("code_change").table
TABLES = (KLINE, MASTER, INDUSTRY, WIDE, QUOTE, VALUATION, EX_ITEMS, CODE_CHANGES)

STOCKS = [
    ("600519", "贵州茅台", "SH", "stock", "L", "gzmt", "guizhoumaotai"),
    ("601398", "工商银行", "SH", "stock", "L", "gsyh", "gongshangyinhang"),
    ("601939", "建设银行", "SH", "stock", "L", "jsyh", "jiansheyinhang"),
    ("000001", "平安银行", "SZ", "stock", "L", "payh", "pinganyinhang"),
    ("000100", "TCL科技", "SZ", "stock", "L", "TCLkj", "TCLkeji"),
    ("000858", "五 粮 液", "SZ", "stock", "L", "wly", "wuliangye"),
    ("600001", "邯郸钢铁", "SH", "stock", "D", "hdgt", "handangangtie"),
    ("601827", "三厦", "SH", "stock", "L", "ss", "sansha"),
    ("601857", "中国石油", "SH", "stock", "L", "zgsy", "zhongguoshiyou"),
]


def open_warehouse(
    url: str, folder: Path, *, clock: Any = None, tables: Iterable[Table] = TABLES, **how: Any
) -> Warehouse:
    return Warehouse(
        url, tuple(tables), clock=clock or FrozenClock(NOW), payload_folder=folder / "payloads", **how
    )


def put(
    warehouse: Warehouse,
    table: Table,
    rows: Iterable[Mapping[str, Any]],
    *,
    public_at: str | None = None,
    partition: str = "test",
) -> None:
    """Write rows through the platform's own writer, for the codes that they name."""
    listed = list(rows)
    frame = pd.DataFrame([{"src": "tencent", **row} for row in listed])
    times = [public_at or (f"{row['date']} 15:00:00.000000" if "date" in row else None) for row in listed]
    warehouse.writer.write(
        table,
        frame,
        where=Slice.of_codes(sorted({row["code"] for row in listed})),
        batch=Batch(partition_key=partition),
        public_at=times,
    )


def bar(code: str, date: str, close: float, factor: float | None = 1.0, **other: Any) -> dict[str, Any]:
    return {
        "code": code,
        "date": date,
        "open": close - 0.5,
        "high": close + 1.0,
        "low": close - 1.0,
        "close": close,
        "volume": 1000,
        "amount": close * 1000,
        "is_suspended": False,
        "adj_factor": factor,
        **other,
    }


def fill(warehouse: Warehouse) -> None:
    """The market: 40 bars of 600519 with a 2-for-1 split before 2026-08-17, a suspended day, a correction."""
    days = shipped_calendar().last(40, TODAY)
    bars = [
        bar(
            "600519",
            day,
            100.0 + at if day < "2026-08-17" else (100.0 + at) / 2,
            1.0 if day < "2026-08-17" else 2.0,
        )
        for at, day in enumerate(days)
    ]
    bars[10]["is_suspended"] = True
    put(warehouse, KLINE, bars)
    put(warehouse, KLINE, [bar("000001", TODAY, 11.0)])
    put(
        warehouse,
        MASTER,
        [
            {
                "code": code,
                "name": name,
                "market": market,
                "sec_type": kind,
                "list_status": status,
                "list_date": "2001-08-27",
                "total_shares": 1_256_000_000,
                "float_shares": 1_256_000_000,
                "pinyin_initials": initials,
                "pinyin_full": spelling,
            }
            for code, name, market, kind, status, initials, spelling in STOCKS
        ],
        public_at="2026-08-01 09:00:00.000000",
    )
    put(
        warehouse,
        INDUSTRY,
        [{"code": "600519", "name": "贵州茅台", "industry": "白酒", "concepts": '["白马股","消费"]'}],
        public_at="2026-08-01 09:00:00.000000",
    )
    put(
        warehouse,
        WIDE,
        [
            {
                "code": "600519",
                "trade_date": TODAY,
                "name": "贵州茅台",
                "market": "SH",
                "current_price": 69.5,
                "change_pct": 0.72,
                "turnover_pct": 0.3,
                "pe_ttm": 21.5,
                "pb": 7.25,
                "total_market_cap": 8_729_200.0,
                "float_market_cap": 8_729_200.0,
                "report_period": "2026-06-30",
                "roe": 17.9,
                "debt_ratio": 14.2,
                "holder_num": 220_000,
                "industry": "白酒",
            }
        ],
        public_at=f"{TODAY} 15:00:00.000000",
    )
    put(
        warehouse,
        QUOTE,
        [
            {
                "code": "600519",
                "trade_date": TODAY,
                "name": "贵州茅台",
                "price": 69.5,
                "open": 69.0,
                "high": 70.0,
                "low": 68.5,
                "last_close": 69.0,
                "change_pct": 0.72,
                "volume": 1000,
                "amount": 69500.0,
                "turnover_pct": 0.3,
                "quote_time": f"{TODAY} 15:00:03",
            }
        ],
        public_at=f"{TODAY} 15:00:00.000000",
    )


__all__ = ["FrozenClock", "ManualClock", "bar", "fill", "open_warehouse", "put"]
