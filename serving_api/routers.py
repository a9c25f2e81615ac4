"""The areas of the API: the modules whose routers are served, in the order in which requests meet them.

Where areas share their first path segments, the busy ones come first. Within a router, fixed paths come
before those with a parameter.
"""

from importlib import import_module

from fastapi import APIRouter

MODULES = (
    "stocks.routes", "stocks.intraday", "stocks.finance.routes", "stocks.industry_compare", "auth.routes",
    "health.routes", "notifications", "settings.routes", "notes", "chat.routes", "skills.routes",
    "analysis.routes", "interfaces.routes", "datasets.fused.routes", "datasets.northbound",
    "live.admin_reads.routes", "datasets.stock_base", "datasets.download.routes", "datasets.sync",
    "datasets.portfolio.routes", "alt_sources", "market.routes", "market.stored", "market.change_detector",
    "realtime.routes", "quant.factors.routes", "admin.stats", "admin.lineage.routes", "admin.schedule.routes",
    "admin.batches", "admin.commands", "admin.records", "admin.config", "admin.cleanup", "admin.contracts",
    "admin.gaps", "admin.day_report", "admin.day_grid", "admin.backfill", "admin.probes", "admin.upstreams",
    "admin.reconcile", "admin.exrights", "admin.watch_list", "auth.administration",
    "market.backtests.routes", "quant.strategies.routes", "risk.routes",
    "bonds.routes", "quant.decision_cards.routes", "quant.scorecard.routes", "funds", "earnings",
    "hong_kong.routes", "index.constituents", "industry", "macro.routes", "futures.routes",
    "market.billboard", "sectors", "market.phase", "market.dragon.routes", "index.indicators", "quant.routes",
    "quant.pattern_records", "quant.strength", "quant.screener.routes", "research", "mcp.routes",
)  # fmt: skip

TAGS = {
    "stocks": "Search, bars, figures, reports and events of one security.",
    "market: live reads": "The running session: indices, breadth, rankings, limit-ups, hot topics.",
    "market: phase": "How many securities reached their limit, the mood of the market and its phase by day.",
    "market: leaders": "Consecutive limit-ups (龙头) of each day, their scores and how picks did afterwards.",
    "market: billboard": "Branches behind the billboard (龙虎榜).",
    "market: change detector": "What changed in a watch list since it was last recorded.",
    "market: index calendar": "An index by day of a month.",
    "sectors": "Industry and concept boards with their flows.",
    "industry": "Valuations of industries.",
    "index": "Constituents, weights and valuation of an index.",
    "index: indicators": "Technical indicators of an index.",
    "funds": "Exchange-traded funds.",
    "REITs": "Listed real estate funds: quotes and history.",
    "convertible bonds": "Convertible bonds: list, terms, premium and redemption.",
    "futures": "Futures: contracts, bars, members' positions.",
    "Hong Kong": "Statements of companies in Hong Kong, and premiums of A over H shares.",
    "macro": "Rates, prices, money and growth, bond yields and the equity risk premium.",
    "earnings window": "Which companies report when.",
    "risk": "Pledges, goodwill and investors' comments.",
    "screener": "Conditions over all securities: templates, parsing, a run and its funnel.",
    "formulas": "Formulas of the condition language, evaluated for a security.",
    "quant": "Chart patterns, relative strength and signals.",
    "quant: calculations of a day": "What was calculated for a trade date.",
    "quant: recalculation": "Calculate a stored date again.",
    "factor": "Factor scores, presets, returns and information coefficients.",
    "strategies": "Built-in strategies and what they picked.",
    "backtests": "Backtests of presets and strategies.",
    "scorecard": "How picks of earlier days did.",
    "decision cards": "Scored cases for and against a security, reviewed later.",
    "realtime": "Server-sent events: quotes and unusual moves.",
    "research": "Datasets, their columns, and rows as Arrow: what the Python client reads.",
    "chat": "Questions in natural language, answered from stored data with citations.",
    "analysis": "Analyses of a security by several views, stored with their evidence.",
    "skills": "Instructions that a model follows for a kind of question.",
    "notes": "The morning note and the review of the day.",
    "mcp": "Tools for language models over the Model Context Protocol.",
    "alternative sources": "Which alternative sources are there, and what they need.",
    "auth": "Registration, login, the caller's account.",
    "settings": "Mail, models and other settings that administrators enter.",
    "notifications": "Messages to a user or to everybody.",
    "health": "Whether this installation works.",
    "datamgr: interfaces": "The catalogue of read interfaces, and a call of one by its name.",
    "datamgr: fused layer": "Fused tables as they are stored, and loads of them.",
    "datamgr: fused data": "The stock connect by channel.",
    "datamgr: live reads": "Answers of the upstreams, read now and not stored.",
    "datamgr: stock base": "The list of securities with its columns.",
    "datamgr: downloads": "Downloads of one kind of data.",
    "datamgr: syncs": "Loads of one table.",
    "datamgr: portfolio": "The imported portfolio.",
    "datamgr: watch list": "The securities that this installation loads instead of the whole market.",
    "datamgr: statistics": "How much is stored of what, and how fresh it is.",
    "datamgr: lineage": "From a stored value to the bytes of its sources.",
    "datamgr: schedule": "Scheduled tasks, their times and runs.",
    "datamgr: batches": "What each load wrote.",
    "datamgr: commands": "Work that was asked for, and what became of it.",
    "datamgr: records": "Logs of loads, and quality records.",
    "datamgr: gaps": "Dates that are missing, and the plan to load them.",
    "datamgr: report of a day": "What was due on a trade date and what came of it.",
    "datamgr: watched tables by trade date": "Which table has which date.",
    "datamgr: contracts": "What each table promises, and whether it holds.",
    "datamgr: ex-rights": "Reference prices that no event explains yet.",
    "datamgr: reconciliation": "Where sources disagree.",
    "datamgr: probes": "One call to each upstream, now.",
    "datamgr: state of the upstreams": "Calls, failures and pauses of each upstream.",
    "datamgr: configuration": "Settings that may be changed while the platform runs.",
    "datamgr: maintenance": "Removal of old rows and files.",
    "datamgr: users": "Accounts of this installation.",
}
"""What a group of routes is about, in the order of the OpenAPI document."""

AREAS: tuple[APIRouter, ...] = tuple(
    router
    for name in MODULES
    for router in vars(import_module(f"serving_api.{name}")).values()
    if isinstance(router, APIRouter)
)
"""Every router of these modules."""
