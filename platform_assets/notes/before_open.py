"""Sections of the morning note that look outside and ahead: markets overnight, what is due, headlines."""

from datetime import timedelta

from platform_assets.compute.evidence.facts import COUNT
from platform_assets.compute.evidence.wording import change, said
from platform_assets.notes.market import section_of
from platform_assets.notes.sources import Section, Sources

OUTSIDE, RELEASES, DIVIDENDS, LOCKUPS, FLASHES = (
    "ref_outside_market", "fusion_macro_release", "fusion_dividend", "raw_lockup", "raw_news_flash",
)  # fmt: skip
OUTSIDE_DAYS = 5
DIVIDEND_DAYS = 400
"""An ex-date follows the announcement of its plan within so many days."""
SHOWN = 5


def overnight(sources: Sources) -> Section | None:
    since = (sources.now.date() - timedelta(days=OUTSIDE_DAYS)).isoformat()
    rows = sources.rows(
        OUTSIDE, ("name", "price", "change_pct", "quote_time"), since=since, until=sources.today,
        keep=lambda frame: frame["quote_time"].astype(str) <= sources.pack.as_of,
    )  # fmt: skip
    newest = {str(row["series"]): row for row in sorted(rows, key=lambda row: str(row["date"]))}
    lines, facts = [], []
    for row in newest.values():
        name = str(row["name"])
        price = sources.take(OUTSIDE, row, "price", "最新报价", subject=name)
        moved = sources.take(OUTSIDE, row, "change_pct", "涨跌幅", subject=name)
        lines.append(f"{name}报{said(price)}，{change(moved)}（{row['date']}）。")
        facts += [price, moved]
    return section_of(sources, "overnight", "隔夜外围", lines, facts, "外围市场报价")


def due_today(sources: Sources) -> Section | None:
    """Releases, ex-dates and unlocked shares of the day."""
    lines, facts = [], []
    for row in sources.rows(
        RELEASES, ("title", "period_text", "importance"), since=sources.today, until=f"{sources.today} 24"
    )[:SHOWN]:
        title = sources.take(RELEASES, row, "title", "数据发布")
        facts.append(title)
        lines.append(f"数据发布：{said(title)}。")
    since = (sources.now.date() - timedelta(days=DIVIDEND_DAYS)).isoformat()
    going = sources.rows(
        DIVIDENDS, ("name", "ex_date", "plan_text"), since=since, until=sources.today,
        keep=lambda frame: (frame["ex_date"] == sources.today) & frame["plan_text"].notna(),
    )  # fmt: skip
    for row in going[:SHOWN]:
        plan = sources.take(DIVIDENDS, row, "plan_text", "分红方案", subject=str(row["name"]))
        facts.append(plan)
        lines.append(f"除权除息：{row['name']}，{said(plan)}。")
    unlocked = sources.rows(LOCKUPS, ("market_value",), since=sources.today, until=sources.today)
    if unlocked:
        codes = {str(row["code"]) for row in unlocked}
        count = sources.pack.add(
            "", "解禁家数", len(codes), COUNT, table=LOCKUPS, column="code", as_of=sources.today
        )
        facts.append(count)
        lines.append(f"限售解禁：{said(count)}家公司。")
    return section_of(sources, "due", "今日日程", lines, facts, "今日的数据发布、除权与解禁")


def headlines(sources: Sources) -> Section | None:
    """Newest first, since the last close."""
    since = f"{sources.last_session} 15:00:00"
    rows = sources.rows(
        FLASHES, ("title", "pub_time", "importance"), since=since, until=sources.pack.as_of,
        keep=lambda frame: frame["title"].notna(),
    )  # fmt: skip
    ranked = sorted(rows, key=lambda row: (-int(row["importance"] or 0), str(row["pub_time"])))
    chosen = sorted(ranked[:SHOWN], key=lambda row: str(row["pub_time"]), reverse=True)
    lines, facts = [], []
    for row in chosen:
        title = sources.take(FLASHES, row, "title", "快讯")
        facts.append(title)
        lines.append(said(title))
    return section_of(sources, "news", "隔夜快讯", lines, facts, "收盘以来的快讯")
