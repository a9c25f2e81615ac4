"""The week from Monday 2026-09-28 to Sunday 2026-10-04 by real processes as it has to be, written by hand
from the task table of the documentation (docs/architecture.md) and from what happens in it (`HAPPENS`).

A line: due time, task, state, trigger, attempts; then a part of the reason where there is one.
"""

from tests.schedules.week_table import CLOSED, MONDAY, SESSION, WEDNESDAY

HAPPENS = """
Mo 28  10:15  the worker is killed
Mo 28  11:45  the simulated market is killed
Mo 28  13:15  the Dagster UI is killed
Mo 28  13:45  the API is killed
Mo 28  15:59  the daemon is killed, half a minute before fusion_daily_sync is due
Mo 28  17:30  the code server is killed, and with it the run of quant_calc
Tu 29  00:00  the publisher of the industry classification (sw) answers 403 until 23:59: its indices go on
              from the returns of their members; valuations of industries and members of its indices that
              it alone has are missing and named, so both tasks are partial after as many tries as they have
Tu 29  12:00  daily_report is switched off in the Dagster UI
Tu 29  12:01  limitup_reason_sync is switched off through the API
Tu 29  12:02  news_sync is moved from 17:00 to 17:20
Tu 29  18:20  the machine is switched off, and on again at 22:30
We 30  12:00  limitup_reason_sync is switched on again
We 30  16:30  the clock is set back to 15:30
We 30  16:12  (for the second time) the clock is set forward to 18:12
Th 1          National Day, closed until Thursday 2026-10-08
"""

TUESDAY = f"""
06:30 morning_note success schedule 1
09:10 user_recall success schedule 1
{SESSION}
15:30 daily_report skipped schedule 1 switched off
15:40 fusion_kline_sync success schedule 1
15:45 market_phase_sync success schedule 1
16:00 fusion_daily_sync success schedule 1
16:05 daily_review success schedule 1
16:10 industry_index_sync partial schedule 3 sw is missing
16:20 fusion_wide_sync partial schedule 2 sw is missing
16:35 industry_rank_sync success schedule 1
17:20 news_sync success schedule 1
17:30 quant_calc success schedule 1
17:40 dragon_score_sync success schedule 1
18:05 limitup_reason_sync skipped schedule 1 switched off
18:10 exchange_sync success schedule 1
18:15 builtin_track success schedule 1
18:25 preset_track success catchup 1
19:30 freshness_snapshot success catchup 1
21:00 aux_f10_events_sync success catchup 1
22:00 lake_publish success catchup 1
"""

WEEK = {
    "2026-09-28": MONDAY,
    "2026-09-29": TUESDAY,
    "2026-09-30": WEDNESDAY,
    **dict.fromkeys(("2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04"), CLOSED),
}

ORDER = {
    "2026-09-28": """
        data_cleanup morning_note calendar_sync user_recall portfolio_mon*10 daily_report fusion_kline_sync
        market_phase_sync fusion_daily_sync daily_review industry_index_sync fusion_wide_sync
        industry_rank_sync news_sync quant_calc dragon_score_sync quant_calc limitup_reason_sync exchange_sync
        builtin_track preset_track freshness_snapshot aux_f10_events_sync lake_publish
    """,
    "2026-09-29": """
        morning_note user_recall portfolio_mon*10 fusion_kline_sync market_phase_sync fusion_daily_sync
        daily_review industry_index_sync*2 {fusion_wide_sync industry_index_sync} fusion_wide_sync
        industry_rank_sync news_sync quant_calc dragon_score_sync exchange_sync builtin_track
        {preset_track freshness_snapshot aux_f10_events_sync lake_publish}
    """,
    "2026-09-30": """
        morning_note user_recall portfolio_mon*10 fusion_kline_sync market_phase_sync fusion_daily_sync
        daily_review industry_index_sync fusion_wide_sync
        {industry_rank_sync news_sync quant_calc dragon_score_sync limitup_reason_sync exchange_sync}
        builtin_track preset_track freshness_snapshot aux_f10_events_sync lake_publish
    """,
    **dict.fromkeys(
        ("2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04"),
        "user_recall news_sync freshness_snapshot lake_publish",
    ),
}
"""The runs of each day in the order in which Dagster was asked for them; `*10`: so many times; in braces: at
the same moment, in any order."""

ROWS = {
    "fusion_kline_daily": (117, 117, 117, 0, 0, 0, 0),
    "fusion_quote_snapshot": (117, 117, 117, 0, 0, 0, 0),
    "fusion_index_daily": (6, 6, 6, 0, 0, 0, 0),
    "fusion_industry_index": (113, 113, 113, 0, 0, 0, 0),
    "calc_indicator_daily": (86, 86, 86, 0, 0, 0, 0),
    "calc_market_phase": (1, 1, 1, 0, 0, 0, 0),
    "calc_freshness_snapshot": (52, 52, 52, 52, 52, 52, 52),
    "note_morning": (1, 1, 1, 0, 0, 0, 0),
    "note_daily_review": (1, 1, 1, 0, 0, 0, 0),
}
"""Table -> rows of each date of the week, in the market of autumn 2026."""

NOTIFICATIONS = {
    "2026-09-28": [],
    "2026-09-29": [
        "任务部分完成：行业指数同步（2026-09-29）",
        "任务部分完成：宽表融合（2026-09-29）",
        "任务部分完成：收盘核心同步（2026-09-29）",
    ],
    "2026-09-30": [],
    "2026-10-01": [],
    "2026-10-02": [],
    "2026-10-03": [],
    "2026-10-04": [],
}
"""Titles of each day in the order in which they are stored, but for stale dimensions. The ban of sw itself is
none: its host cools down; the breakers, which would be told, are those of eastmoney, of the exchanges and of
the web search. The load of the start at 22:30 meets the ban as well."""

_SHORT = frozenset({"calc_pattern_daily", "raw_hk_finance"})
STALE = dict.fromkeys(WEEK, _SHORT) | dict.fromkeys(
    ("2026-10-03", "2026-10-04"), _SHORT | {"raw_risk_pledge"}
)
"""What 30 trade dates of history leave empty or old: patterns need more bars, and
the companies with a listing in Hong Kong take their turn. Figures of pledges bear the Fridays on which there
is trade and are old after 14 days: the last one before the holidays is that of 18 September, since the 25th
and 2 October are closed."""
