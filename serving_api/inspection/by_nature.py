"""What may be empty on the first evening of an installation, and why. Everything else must have data."""

from collections.abc import Mapping
from dataclasses import dataclass

_ASKED_FOR = "bars of single codes, stored on request"
_SAMPLED = "taken every five minutes of a session, and there was none yet"
_IN_TURN = "a tenth of the companies a day: the few of a small market wait for their turn"
_WRITTEN = "written by a task of the day, by people or by a model"
_EXPLAINED = "quoted previous closes that no known event explains: on a good day none"
_OWN = "what a user brings along: nothing at first"

TABLES: Mapping[str, str] = {
    "calc_breadth_sample": _SAMPLED,
    "ref_exright_item": _EXPLAINED,
    "raw_hk_finance": _IN_TURN,
    "raw_kline": _ASKED_FOR,
    "raw_minute_kline": _ASKED_FOR,
}
DIMENSIONS: Mapping[str, str] = {
    "fusion_dividend": "plans come with the reports of a period: the newest may be months old",
    "raw_hk_finance": _IN_TURN,
}
INTERFACES: Mapping[str, str] = {
    "get_breadth_intraday": _SAMPLED,
    "get_dividend_calendar": "ex-dates to come: between two seasons of dividends none is announced",
    "get_hk_finance": _IN_TURN,
    "get_minute_kline": _ASKED_FOR,
    "get_morning_note": _WRITTEN,
    "get_daily_review": _WRITTEN,
}
ROUTES: Mapping[str, str] = {
    "/api/v1/market/breadth-intraday": _SAMPLED,
    "/api/v1/market/event-chain": "of the day's flash news, and a day without trading has few",
    "/api/v1/market/change-detector/history/{entity_type}": _OWN,
    "/api/v1/auth/avatar": _OWN,
    "/api/v1/notifications": "no event has caused a notification yet",
    "/api/v1/notifications/unread": "no event has caused a notification yet",
    "/mcp/servers": _OWN,
    "/api/v1/mcp/servers": _OWN,
    "/api/v1/settings/model-config": _OWN,
    "/api/v1/auth/verify-email": "needs the token of a mail",
    "/api/v1/datamgr/stock-base/staging": _OWN,
    "/api/v1/datamgr/portfolio": _OWN,
    "/api/v1/datamgr/lineage/{table}": "needs the key of a row: the columns of each table's own key",
    "/api/v1/datamgr/gaps": "no date that is due is missing",
    "/api/v1/datamgr/exrights": _EXPLAINED,
    "/api/v1/datamgr/watch-list": "the whole market is loaded, and nobody added a security by hand",
    "/api/v1/datamgr/backfill": "no backfill was requested yet",
    "/api/v1/datamgr/backfill/{backfill_id}": "no backfill was requested yet",
    "/api/v1/notes/morning": _WRITTEN,
    "/api/v1/notes/daily-review": _WRITTEN,
    "/api/v1/analysis/{code}": _WRITTEN,
    "/api/v1/analysis/{code}/history": _WRITTEN,
    "/api/v1/chat/receipts/{receipt_id}": "needs the number of an answer of one's own",
    "/api/v1/decision-cards": _WRITTEN,
    "/api/v1/decision-cards/stats": _WRITTEN,
    "/api/v1/futures/{symbol}/positions": "no documented source has them, and the answer says so",
    **{
        f"/api/v1/hk-finance/{{code}}/{part}": _IN_TURN
        for part in ("indicators", "statements", "dividend", "profile")
    },
}

_PRESENT = "only current values exist, and the newest complete date was over before the first start"
PRESENT: Mapping[str, Mapping[str, str]] = {
    kind: dict.fromkeys(names, _PRESENT)
    for kind, names in {
        "tables": ("raw_convertible_bond", "raw_news_flash", "raw_reit", "raw_risk_comment"),
        "freshness dimensions": ("raw_convertible_bond", "raw_news_flash", "raw_reit", "raw_risk_comment"),
        "interfaces": (
            "get_convertible_bond", "get_convertible_bond_list", "get_convertible_bond_history",
            "get_hot_rank_history", "get_hot_stocks", "get_new_stocks", "get_news_flash", "get_reit_list",
            "get_reit_history", "get_stock_comment", "get_stock_comment_rank",
        ),
        "read routes": (
            *(f"/api/v1/convertible-bond/{part}" for part in ("list", "overview", "{code}")),
            *(f"/api/v1/convertible-bond/{{code}}/{part}" for part in ("history", "events")),
            *(f"/api/v1/reit/{part}" for part in ("list", "{code}", "{code}/history")),
            *(f"/api/v1/risk/{part}" for part in ("comment-list", "comment-detail/{code}")),
        ),
    }.items()
}  # fmt: skip
"""By kind: what a first start during a session or in the morning has from that evening on, after its tasks
ran."""


@dataclass(frozen=True)
class Quiet:
    """Data that is empty without recent events: `table` has no `column` within the last `days` days."""

    table: str
    column: str
    days: int
    reason: str


QUIET: Mapping[str, Mapping[str, Quiet]] = {
    "interfaces": {
        # It answers with two months, counted from today, which may be a holiday after the newest bars.
        "get_new_stocks": Quiet(
            "fusion_stock_master",
            "list_date",
            50,
            "no company was listed lately; months may pass without a listing",
        )
    }
}
"""By kind: what may be empty for a season, while the stored tables show no event in it."""
