"""Sections about a session: indices, breadth, the ends of the list, leaders, money."""

from collections.abc import Callable, Mapping, Sequence

from platform_assets.compute.evidence.facts import COUNT, Fact
from platform_assets.compute.evidence.wording import change, flow, said
from platform_assets.notes.sources import Row, Section, Sources

INDEX, PHASE, BARS, FLOWS = (
    "fusion_index_daily",
    "calc_market_phase",
    "fusion_kline_daily",
    "fusion_fund_flow",
)
LEADERS, NAMES = "calc_dragon_score", "fusion_stock_master"
SHOWN_INDICES = ("sh000001", "sz399001", "sz399006", "sh000300", "sh000688", "sh000852")
SHOWN = 3


def indices(sources: Sources, day: str) -> Section | None:
    rows = {str(row["code"]): row for row in sources.rows(
        INDEX, ("name", "close", "change_pct"), since=day, until=day,
    )}  # fmt: skip
    lines, facts = [], []
    for code in SHOWN_INDICES:
        row = rows.get(code)
        if row is None or row["close"] is None or row["name"] is None:
            continue
        name = str(row["name"])
        close = sources.take(INDEX, row, "close", "收盘点位", subject=name)
        moved = sources.take(INDEX, row, "change_pct", "涨跌幅", subject=name)
        lines.append(f"{name}收于{said(close)}点，{change(moved)}。")
        facts += [close, moved]
    return section_of(sources, "indices", "主要指数", lines, facts, f"{day}的指数日线")


def breadth(sources: Sources, day: str) -> Section | None:
    counts = (
        "up_count", "down_count", "flat_count", "limit_up_count", "limit_down_count", "broken_count",
        "max_limit_days",
    )  # fmt: skip
    found = sources.rows(PHASE, ("phase_label", "amount", *counts), since=day, until=day)
    lines: list[str] = []
    facts: list[Fact] = []
    if found:
        row = found[0]
        labels = ("上涨家数", "下跌家数", "平盘家数", "涨停家数", "跌停家数", "炸板家数", "最高连板")
        reported = {
            name: sources.take(PHASE, row, name, label, unit=COUNT)
            for name, label in zip(counts, labels, strict=True)
        }
        amount = sources.take(PHASE, row, "amount", "成交额")
        stage = sources.take(PHASE, row, "phase_label", "情绪阶段")
        lines = [
            f"上涨{said(reported['up_count'])}家，下跌{said(reported['down_count'])}家，"
            f"平盘{said(reported['flat_count'])}家，两市成交额{said(amount)}。",
            f"涨停{said(reported['limit_up_count'])}家，跌停{said(reported['limit_down_count'])}家，"
            f"炸板{said(reported['broken_count'])}家，最高连板{said(reported['max_limit_days'])}天。",
            f"市场情绪阶段：{said(stage)}。",
        ]
        facts = [*reported.values(), amount, stage]
    return section_of(sources, "breadth", "涨跌与情绪", lines, facts, f"{day}的市场情绪")


def extremes(sources: Sources, day: str) -> Section | None:
    """The largest gains and losses; names as the list of securities has them."""
    rows = sources.rows(
        BARS, ("change_pct", "is_suspended"), since=day, until=day,
        keep=lambda frame: frame["change_pct"].notna() & ~frame["is_suspended"].fillna(False).astype(bool),
    )  # fmt: skip
    names = names_of(sources)
    ranked = sorted(
        (row for row in rows if str(row["code"]) in names),
        key=lambda row: (-float(row["change_pct"]), str(row["code"])),
    )
    ends = (("涨幅居前", ranked[:SHOWN]), ("跌幅居前", ranked[-SHOWN:][::-1]))
    lines, facts = _both_ends(sources, BARS, "change_pct", "涨跌幅", ends, names, change)
    return section_of(sources, "extremes", "涨跌两端", lines, facts, f"{day}的日线")


def leaders(sources: Sources, day: str) -> Section | None:
    found = sources.rows(
        LEADERS, ("name", "total_score", "limit_days", "rank_no"), since=day, until=day,
        keep=lambda frame: frame["rank_no"].notna() & frame["total_score"].notna(),
    )  # fmt: skip
    lines, facts = [], []
    for row in sorted(found, key=lambda row: int(row["rank_no"]))[:SHOWN]:
        name = str(row["name"])
        score = sources.take(LEADERS, row, "total_score", "龙头评分", subject=name)
        days = sources.take(LEADERS, row, "limit_days", "连板", subject=name, unit=COUNT)
        lines.append(f"{name}：龙头评分{said(score)}，连板{said(days)}天。")
        facts += [score, days]
    return section_of(sources, "leaders", "龙头股", lines, facts, f"{day}的龙头评分")


def money(sources: Sources, day: str) -> Section | None:
    """The largest main net flows in and out."""
    names = names_of(sources)
    rows = [row for row in sources.rows(
        FLOWS, ("main_net",), since=day, until=day, keep=lambda frame: frame["main_net"].notna()
    ) if str(row["code"]) in names]  # fmt: skip
    ranked = sorted(rows, key=lambda row: (-float(row["main_net"]), str(row["code"])))
    ends = (
        ("主力净流入居前", [row for row in ranked[:SHOWN] if row["main_net"] > 0]),
        ("主力净流出居前", [row for row in ranked[-SHOWN:][::-1] if row["main_net"] < 0]),
    )
    lines, facts = _both_ends(sources, FLOWS, "main_net", "主力净额", ends, names, flow)
    return section_of(sources, "money", "资金流向", lines, facts, f"{day}的资金流向")


def _both_ends(
    sources: Sources, table: str, column: str, label: str, ends: Sequence[tuple[str, Sequence[Row]]],
    names: Mapping[str, str], words: Callable[[Fact], str],
) -> tuple[list[str], list[Fact]]:  # fmt: skip
    """A line for each end of a ranking: every name with its value."""
    lines, facts = [], []
    for title, chosen in ends:
        taken = [sources.take(table, row, column, label, subject=names[str(row["code"])]) for row in chosen]
        if taken:
            lines.append(f"{title}：{'；'.join(f'{fact.subject}{words(fact)}' for fact in taken)}。")
        facts += taken
    return lines, facts


def names_of(sources: Sources) -> dict[str, str]:
    """Code -> name of every stock."""
    rows = sources.all_rows(NAMES, ("name", "sec_type"))
    return {str(row["code"]): str(row["name"]) for row in rows if row["name"] and row["sec_type"] == "stock"}


def section_of(
    sources: Sources, key: str, title: str, lines: Sequence[str], facts: Sequence[Fact], looked_for: str
) -> Section | None:
    """None where nothing is stored; the pack says what was looked for."""
    if not lines:
        sources.missing(looked_for)
        return None
    return Section(key, title, tuple(lines), tuple(fact.id for fact in facts))
