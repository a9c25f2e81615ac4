"""The task table: what runs when, behind which lock, after what. Declared once, published to the
database for readers without Dagster; switches and changed times live there (`ledger.tasks_state`)."""

from resources.warehouse.ledger.tasks import Task, Timing, check_tasks

KLINE = (
    "ref_exright",
    "fusion_kline_daily",
    "fusion_kline_bar",
    "fusion_index_daily",
)
DAILY = (
    "raw_quote", "raw_valuation", "raw_fund_flow", "raw_dragon_tiger", "raw_margin", "raw_holder_num",
    "raw_lockup", "raw_block_trade", "raw_dividend", "raw_announcements", "raw_finstmt",
    "raw_fin_indicator", "raw_earnings_forecast", "raw_earnings_express", "raw_executive_holding",
    "raw_org_survey", "cninfo_periodic_report", "raw_convertible_bond", "raw_reit", "raw_futures",
    "raw_fund_etf",
    "stg_finance_indicator", "fusion_finance_indicator", "stg_valuation", "fusion_valuation",
    "stg_quote_snapshot", "fusion_quote_snapshot", "stg_fund_flow", "fusion_fund_flow", "stg_holder",
    "fusion_holder", "stg_dividend", "fusion_dividend", "stg_dragon_tiger", "fusion_dragon_tiger",
    "stg_margin", "fusion_margin", "stg_block_trade", "fusion_block_trade", "stg_announcement",
    "fusion_announcement", "stg_news", "fusion_news", "fusion_market_cloud_map",
    "fusion_macro_indicator", "fusion_macro_release",
)  # fmt: skip
WIDE = (
    "ref_name_history", "raw_concept_blocks", "raw_issue_info", "raw_block_member",
    "raw_index_constituent", "stg_stock_master", "fusion_stock_master", "stg_stock_profile",
    "fusion_stock_profile", "stg_stock_industry", "fusion_stock_industry", "fusion_stock_wide",
)  # fmt: skip
NEWS = (
    "raw_news_flash", "raw_news", "raw_reports", "raw_announcements", "stg_announcement",
    "fusion_announcement", "stg_news", "fusion_news",
)  # fmt: skip
PHASE = ("calc_market_phase", "calc_limit_count", "raw_limit_pool")
INDUSTRY = ("raw_index_valuation", "raw_industry_valuation", "fusion_industry_index")
RANKS = ("calc_industry_rank",)
LEADERS = ("raw_lhb_branch", "calc_dragon_score")
REASONS = ("raw_limitup_reason", "raw_hot_stocks")
EXCHANGE = (
    "raw_dragon_tiger", "raw_margin", "raw_block_trade", "raw_northbound", "exchange_overview",
    "exchange_margin", "exchange_block_trade", "stg_margin", "fusion_margin", "stg_block_trade",
    "fusion_block_trade", "stg_dragon_tiger", "fusion_dragon_tiger",
)  # fmt: skip
F10_EVENTS = (
    "raw_holding_org", "raw_top_holders", "raw_fund_holding", "aux_profile", "aux_finance_changes",
    "aux_holders", "aux_bonus", "aux_operate", "aux_worth", "aux_equity", "aux_news", "aux_capital",
    "aux_lhb", "aux_rzrq", "aux_dzjy", "raw_risk_pledge", "raw_risk_goodwill", "raw_risk_comment",
    "raw_hk_finance",
)  # fmt: skip
QUANT = (
    "calc_indicator_daily", "calc_pattern_daily", "calc_chip_daily", "calc_strategy_hit", "calc_signal_hit",
    "calc_valuation_band",
)  # fmt: skip
BOARDS = ("track_builtin", "scorecard_daily")
PRESETS = ("calc_factor_score", "track_preset", "scorecard_daily")
FRESHNESS = ("calc_freshness_snapshot", "calc_reconcile")
EOD_CORE = "eod_core"
CORE = ("ref_trade_calendar", "ref_ah_pair")

TASKS: tuple[Task, ...] = check_tasks(
    (
        Task(
            key="fusion_kline_sync",
            name="行情K线融合",
            timing=Timing(hm=1540),
            datasets=KLINE,
            domains=("kline",),
            max_retries=1,
            retry_delay_s=300,
            note="partition = trade date; holds lock kline",
        ),
        Task(
            key="fusion_daily_sync",
            name="日频事件融合",
            timing=Timing(hm=1600),
            datasets=DAILY,
            domains=("daily",),
            max_retries=1,
            retry_delay_s=300,
            note="holds lock daily",
        ),
        Task(
            key="fusion_wide_sync",
            name="宽表融合",
            timing=Timing(hm=1620),
            datasets=WIDE,
            domains=("wide",),
            after=("fusion_kline_sync", "fusion_daily_sync"),
            wait_minutes=40,
            max_retries=1,
            retry_delay_s=300,
            note="waits for both (max 40 min) then runs anyway with a warning; holds lock wide",
        ),
        Task(
            key="industry_index_sync",
            name="行业指数同步",
            timing=Timing(hm=1610),
            datasets=INDUSTRY,
            domains=("wide",),
            max_retries=2,
            retry_delay_s=300,
            note="indices, ratios of indices and industries; holds lock wide",
        ),
        Task(
            key="quant_calc",
            name="量化指标计算",
            timing=Timing(hm=1730),
            datasets=QUANT,
            after=("fusion_kline_sync",),
            max_retries=1,
            retry_delay_s=600,
            note="indicators, patterns, chips, signals and strategies; after the bars of the same trade date",
        ),
        Task(
            key="news_sync",
            name="公告资讯同步",
            timing=Timing(hm=1700),
            datasets=NEWS,
            domains=("daily",),
            trading_day_only=False,
            max_retries=1,
            retry_delay_s=300,
            note="every day; news for the codes that something happened to; holds lock daily",
        ),
        Task(
            key="market_phase_sync",
            name="市场阶段与涨停池",
            timing=Timing(hm=1545),
            datasets=PHASE,
            after=("fusion_kline_sync",),
            max_retries=2,
            retry_delay_s=120,
            note="from the bars of the day and the limit pools; without bars from the pools alone",
        ),
        Task(
            key="industry_rank_sync",
            name="行业轮动排名",
            timing=Timing(hm=1635),
            datasets=RANKS,
            after=("industry_index_sync",),
            max_retries=1,
            retry_delay_s=300,
            note="members and boards from the tree map of the day, where it is there",
        ),
        Task(
            key="dragon_score_sync",
            name="龙头评分",
            timing=Timing(hm=1740),
            datasets=LEADERS,
            after=("fusion_daily_sync", "fusion_wide_sync"),
            max_retries=1,
            retry_delay_s=300,
            note="fills as well what became of the leaders of the five trade dates before",
        ),
        Task(
            key="limitup_reason_sync",
            name="涨停原因",
            timing=Timing(hm=1805),
            datasets=REASONS,
            max_retries=2,
            retry_delay_s=300,
        ),
        Task(
            key="exchange_sync",
            name="交易所数据同步",
            timing=Timing(hm=1810),
            datasets=EXCHANGE,
            domains=("daily",),
            after=("fusion_daily_sync",),
            dates=10,
            max_retries=2,
            retry_delay_s=600,
            note="finishes by fusing the latest 10 trade days",
        ),
        Task(
            key="builtin_track",
            name="内置策略跟踪",
            timing=Timing(hm=1815),
            datasets=BOARDS,
            after=("dragon_score_sync", "quant_calc"),
            max_retries=1,
            retry_delay_s=300,
            note="picks of the three boards, the review of older ones, scorecards; after the leader score",
        ),
        Task(
            key="preset_track",
            name="预设选股跟踪",
            timing=Timing(hm=1825),
            datasets=PRESETS,
            after=("fusion_wide_sync", "quant_calc"),
            max_retries=1,
            retry_delay_s=300,
            note="factor scores of the market, then the picks of the 14 presets and the review of older ones",
        ),
        Task(
            key="aux_f10_events_sync",
            name="F10事件同步",
            timing=Timing(hm=2100),
            datasets=F10_EVENTS,
            max_retries=1,
            retry_delay_s=600,
            note="codes with events first, then a hundred in turn",
        ),
        Task(
            key="freshness_snapshot",
            name="新鲜度与多源核对",
            timing=Timing(hm=1930),
            datasets=FRESHNESS,
            trading_day_only=False,
            max_retries=1,
            retry_delay_s=300,
            note="idempotent per day",
        ),
        Task(
            key=EOD_CORE,
            name="收盘核心同步",
            timing=Timing(),
            datasets=(*CORE, *(name for name in KLINE if name != "ref_exright"), *DAILY, *WIDE[1:]),
            domains=("kline", "daily", "wide"),
            max_retries=1,
            retry_delay_s=600,
            note="manual; shares asset code with the scheduled ones",
        ),
        Task(
            key="data_cleanup",
            name="数据清理",
            timing=Timing(hm=430, weekday=0),
            trading_day_only=False,
            partitioned=False,
            note="deletes staged time series older than data.cleanup.retention_days (1095, at least 30)",
        ),
    )
)

BY_KEY = {task.key: task for task in TASKS}
