"""The task table: what runs when, behind which lock, after what. Declared once, published to the
database for readers without Dagster; switches and changed times live there (`ledger.tasks_state`). Which
tables a task loads is said by the datasets that name it."""

from resources.warehouse.ledger.tasks import Task, Timing, check_tasks

EOD_CORE = "eod_core"
CALENDAR = "calendar_sync"

# One paragraph per task.
# fmt: off
TASKS: tuple[Task, ...] = check_tasks((
    Task("fusion_kline_sync", "行情K线融合", Timing(1540), domains=("kline",),
         max_retries=1, retry_delay_s=300, note="partition = trade date; holds lock kline"),
    Task("fusion_daily_sync", "日频事件融合", Timing(1600), domains=("daily",),
         max_retries=1, retry_delay_s=300, note="holds lock daily"),
    Task("fusion_wide_sync", "宽表融合", Timing(1620), domains=("wide",),
         after=("fusion_kline_sync", "fusion_daily_sync"), max_retries=1, retry_delay_s=300,
         note="waits for both (max 40 min) then runs anyway with a warning; holds lock wide"),
    Task("industry_index_sync", "行业指数同步", Timing(1610), domains=("wide",),
         max_retries=2, retry_delay_s=300,
         note="indices, ratios of indices and industries; holds lock wide"),
    Task("quant_calc", "量化指标计算", Timing(1730), after=("fusion_kline_sync",), after_required=True,
         max_retries=1, retry_delay_s=600,
         note="indicators, patterns, chips, signals, strategies; not without the bars of the date"),
    Task("news_sync", "公告资讯同步", Timing(1700), domains=("daily",), trading_day_only=False,
         max_retries=1, retry_delay_s=300,
         note="every day; news for the codes that something happened to; holds lock daily"),
    Task("market_phase_sync", "市场阶段与涨停池", Timing(1545), after=("fusion_kline_sync",),
         max_retries=2, retry_delay_s=120,
         of_market=True,
         note="from the bars of the day and the limit pools; without bars from the pools alone"),
    Task("industry_rank_sync", "行业轮动排名", Timing(1635), after=("industry_index_sync",),
         max_retries=1, retry_delay_s=300,
         of_market=True,
         note="members and boards from the cloud map of the day, where it is there"),
    Task("dragon_score_sync", "龙头评分", Timing(1740), after=("fusion_daily_sync", "fusion_wide_sync"),
         max_retries=1, retry_delay_s=300,
         of_market=True,
         note="fills as well what became of the leaders of earlier trade dates"),
    Task("limitup_reason_sync", "涨停原因", Timing(1805), max_retries=2, retry_delay_s=300, of_market=True),
    Task("exchange_sync", "交易所数据同步", Timing(1810), domains=("daily",), after=("fusion_daily_sync",),
         dates=10, max_retries=2, retry_delay_s=600, note="finishes by fusing the latest 10 trade days"),
    Task("builtin_track", "内置策略跟踪", Timing(1815), after=("dragon_score_sync", "quant_calc"),
         after_required=True, max_retries=1, retry_delay_s=300,
         of_market=True,
         note="picks of the three boards and the review of older ones; not without the leader score"),
    Task("preset_track", "预设选股跟踪", Timing(1825), after=("fusion_wide_sync", "quant_calc"),
         max_retries=1, retry_delay_s=300,
         of_market=True,
         note="factor scores of the market, then the picks of the 14 presets and the review of older ones"),
    Task("aux_f10_events_sync", "F10事件同步", Timing(2100), max_retries=1, retry_delay_s=600,
         note="codes with events first, then a hundred in turn"),
    Task("freshness_snapshot", "新鲜度与多源核对", Timing(1930), trading_day_only=False,
         max_retries=1, retry_delay_s=300, note="idempotent per day"),
    Task("lake_publish", "数据湖发布", Timing(2200), trading_day_only=False, partitioned=False,
         max_retries=1, retry_delay_s=600,
         note="publishes the months of every table that changed since; after the loads of the day"),
    Task(EOD_CORE, "收盘核心同步", Timing(), domains=("kline", "daily", "wide"),
         max_retries=1, retry_delay_s=600, note="manual; shares asset code with the scheduled ones"),
    Task(CALENDAR, "交易日历同步", Timing(815, weekday=0), trading_day_only=False, partitioned=False,
         max_retries=2, retry_delay_s=600,
         note="the exchange's arrangement and the terminal's closed days; at every start as well"),
    Task("morning_note", "早报", Timing(630), partitioned=False, max_retries=2, retry_delay_s=300,
         of_market=True,
         note="the note before the session, by rules from stored tables; never over one of another source"),
    Task("daily_review", "每日复盘", Timing(1605), after=("fusion_kline_sync", "market_phase_sync"),
         partitioned=False, max_retries=1, retry_delay_s=300,
         of_market=True,
         note="the note after the session, by rules from stored tables"),
    Task("daily_report", "日报邮件", Timing(1530), partitioned=False,
         note="mail to the configured sender, once a day; ends at once without mail settings"),
    Task("user_recall", "沉睡用户召回", Timing(910), trading_day_only=False, partitioned=False,
         note="mail to users away for 30 days, at most 50 a day, every 30 days; needs mail settings"),
    Task("portfolio_mon", "自选股异动监控", Timing(every_minutes=30, windows=((930, 1130), (1300, 1500))),
         grace_minutes=10, partitioned=False,
         note="movements of the watch lists become notifications, one per stock, direction and day"),
    Task("data_cleanup", "数据清理", Timing(430, weekday=0), trading_day_only=False, partitioned=False,
         note="deletes staged time series older than data.cleanup.retention_days (1095, at least 30)"),
))
# fmt: on

BY_KEY = {task.key: task for task in TASKS}
