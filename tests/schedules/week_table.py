"""The week from Monday 2026-09-28 to Sunday 2026-10-04 as it has to be, written by hand from the task table
of the documentation (docs/architecture.md) and from what happens in it (`HAPPENS`).

A line: due time, task, state, trigger, attempts; then a part of the reason where there is one.
"""

HAPPENS = """
Mo 28  16:02  the daemon is killed, its next start is 16:07
Mo 28  17:35  the code server is killed, and with it the run of quant_calc
Tu 29  00:00  the family of the finance portal answers 403 until 23:59: industry_rank_sync fails in every
              attempt, fusion_daily_sync completes without one of its tables in both attempts,
              fusion_kline_sync takes 12 minutes
Tu 29  12:00  daily_report is switched off in the Dagster UI
Tu 29  12:01  limitup_reason_sync is switched off through the API
Tu 29  12:02  news_sync is moved from 17:00 to 17:20
Tu 29  18:20  the machine is switched off, and on again at 22:30
We 30  12:00  limitup_reason_sync is switched on again
We 30  16:30  the clock is set back to 15:30
We 30  16:12  (for the second time) the clock is set forward to 18:12
Th 1          National Day, closed until Thursday 2026-10-08
"""

SESSION = """
09:30 portfolio_mon success schedule 1
10:00 portfolio_mon success schedule 1
10:30 portfolio_mon success schedule 1
11:00 portfolio_mon success schedule 1
11:30 portfolio_mon success schedule 1
13:00 portfolio_mon success schedule 1
13:30 portfolio_mon success schedule 1
14:00 portfolio_mon success schedule 1
14:30 portfolio_mon success schedule 1
15:00 portfolio_mon success schedule 1
"""

MONDAY = f"""
04:30 data_cleanup success schedule 1
06:30 morning_note success schedule 1
08:15 calendar_sync success schedule 1
09:10 user_recall success schedule 1
{SESSION}
15:30 daily_report success schedule 1
15:40 fusion_kline_sync success schedule 1
15:45 market_phase_sync success schedule 1
16:00 fusion_daily_sync success schedule 1
16:05 daily_review success schedule 1
16:10 industry_index_sync success schedule 1
16:20 fusion_wide_sync success schedule 1
16:35 industry_rank_sync success schedule 1
17:00 news_sync success schedule 1
17:30 quant_calc success schedule 2
17:40 dragon_score_sync success schedule 1
18:05 limitup_reason_sync success schedule 1
18:10 exchange_sync success schedule 1
18:15 builtin_track success schedule 1
18:25 preset_track success schedule 1
19:30 freshness_snapshot success schedule 1
21:00 aux_f10_events_sync success schedule 1
22:00 lake_publish success schedule 1
"""

TUESDAY = f"""
06:30 morning_note success schedule 1
09:10 user_recall success schedule 1
{SESSION}
15:30 daily_report skipped schedule 1 switched off
15:40 fusion_kline_sync success schedule 1
15:45 market_phase_sync success schedule 1
16:00 fusion_daily_sync partial schedule 2 raw_x
16:05 daily_review success schedule 1
16:10 industry_index_sync success schedule 1
16:20 fusion_wide_sync success schedule 1
16:35 industry_rank_sync failed schedule 2 403
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

WEDNESDAY = f"""
06:30 morning_note success schedule 1
09:10 user_recall success schedule 1
{SESSION}
15:30 daily_report skipped schedule 1 switched off
15:40 fusion_kline_sync success schedule 1
15:45 market_phase_sync success schedule 1
16:00 fusion_daily_sync success schedule 1
16:05 daily_review success schedule 1
16:10 industry_index_sync success schedule 1
16:20 fusion_wide_sync success schedule 1
16:35 industry_rank_sync success catchup 1
17:20 news_sync success catchup 1
17:30 quant_calc success catchup 1
17:40 dragon_score_sync success catchup 1
18:05 limitup_reason_sync success catchup 1
18:10 exchange_sync success schedule 1
18:15 builtin_track success schedule 1
18:25 preset_track success schedule 1
19:30 freshness_snapshot success schedule 1
21:00 aux_f10_events_sync success schedule 1
22:00 lake_publish success schedule 1
"""

CLOSED = f"""
06:30 morning_note skipped schedule 1 is no trade date
09:10 user_recall success schedule 1
{SESSION.replace("success schedule 1", "skipped schedule 1 is no trade date")}
15:30 daily_report skipped schedule 1 is no trade date
15:40 fusion_kline_sync skipped schedule 1 is no trade date
15:45 market_phase_sync skipped schedule 1 is no trade date
16:00 fusion_daily_sync skipped schedule 1 is no trade date
16:05 daily_review skipped schedule 1 is no trade date
16:10 industry_index_sync skipped schedule 1 is no trade date
16:20 fusion_wide_sync skipped schedule 1 is no trade date
16:35 industry_rank_sync skipped schedule 1 is no trade date
17:20 news_sync success schedule 1
17:30 quant_calc skipped schedule 1 is no trade date
17:40 dragon_score_sync skipped schedule 1 is no trade date
18:05 limitup_reason_sync skipped schedule 1 is no trade date
18:10 exchange_sync skipped schedule 1 is no trade date
18:15 builtin_track skipped schedule 1 is no trade date
18:25 preset_track skipped schedule 1 is no trade date
19:30 freshness_snapshot success schedule 1
21:00 aux_f10_events_sync skipped schedule 1 is no trade date
22:00 lake_publish success schedule 1
"""

WEEK = {
    "2026-09-28": MONDAY,
    "2026-09-29": TUESDAY,
    "2026-09-30": WEDNESDAY,
    "2026-10-01": CLOSED,
    "2026-10-02": CLOSED,
    "2026-10-03": CLOSED,
    "2026-10-04": CLOSED,
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
        daily_review fusion_daily_sync industry_index_sync fusion_wide_sync industry_rank_sync
        industry_rank_sync news_sync
        quant_calc dragon_score_sync exchange_sync builtin_track
        preset_track freshness_snapshot aux_f10_events_sync lake_publish
    """,
    "2026-09-30": """
        morning_note user_recall portfolio_mon*10 fusion_kline_sync market_phase_sync fusion_daily_sync
        daily_review industry_index_sync fusion_wide_sync
        industry_rank_sync news_sync quant_calc dragon_score_sync limitup_reason_sync exchange_sync
        builtin_track preset_track freshness_snapshot aux_f10_events_sync lake_publish
    """,
    **dict.fromkeys(
        ("2026-10-01", "2026-10-02", "2026-10-03", "2026-10-04"),
        "user_recall news_sync freshness_snapshot lake_publish",
    ),
}
"""The runs of each day in the order in which they begin; `*10`: so many times."""

NOTIFICATIONS = {
    "2026-09-28": [],
    # The breaker is open while the family is away.
    "2026-09-29": [
        "熔断：eastmoney",
        "任务部分完成：日频事件融合（2026-09-29）",
        "任务失败：行业轮动排名（2026-09-29）",
    ],
    # A day after the failure it is reported once more, as everything that is so on a day.
    "2026-09-30": ["任务部分完成：日频事件融合（2026-09-29）", "任务失败：行业轮动排名（2026-09-29）"],
    "2026-10-01": [],
    "2026-10-02": [],
    "2026-10-03": [],
    "2026-10-04": [],
}
"""Titles of each day, in the order in which they are stored."""
