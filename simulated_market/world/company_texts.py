"""The terminal's company texts (F10): templates filled from the world, one section a title."""

from collections.abc import Sequence

from simulated_market.world.model import ExRight, Report, Security

SECTIONS = (
    "最新提示",
    "公司概况",
    "财务分析",
    "股东研究",
    "股本结构",
    "资本运作",
    "行业分析",
    "公司大事",
    "分红扩股",
)


def company_sections(
    security: Security,
    name: str,
    shares: tuple[int, int],
    known: Sequence[Report],
    rights: Sequence[ExRight],
    today: int,
) -> dict[str, str]:
    """All sections; figures come from what is public on `today`."""
    day = f"{today // 10_000}-{today // 100 % 100:02d}-{today % 100:02d}"

    def page(title: str, *blocks: str) -> str:
        head = f"☆{title}☆ ◇{security.code} {name} 更新日期：{day}◇"
        return "\r\n".join([head, *blocks, ""])

    total, floating = shares
    newest = known[-1] if known else None
    changes = [r for r in rights if r.category != 1]
    dividends = [r for r in rights if r.category == 1]
    return {
        "最新提示": page("最新提示", _facts(newest, total), "【2.互动问答】 暂无"),
        "公司概况": page(
            "公司概况",
            "【1.基本资料】",
            f"┌─────────┬──────────────────────────────┐\r\n│公司名称 │{name}股份有限公司\r\n"
            f"│证券代码 │{security.code}\r\n│所属地域 │{security.region}\r\n"
            f"│所属行业 │{security.sector}—{security.industry}\r\n"
            f"│上市日期 │{_date(security.list_date)}\r\n└─────────┴──────────────────────────────┘",
            f"【2.主营业务】 {security.industry}产品的研发、生产和销售。",
            f"【3.所属板块】 {' '.join(security.concepts)}",
        ),
        "财务分析": page("财务分析", "【1.主要财务指标】", _table(known[-8:], total)),
        "股东研究": page(
            "股东研究", "【1.股东人数】", *(f"{_date(r.period)}  {r.holders} 户" for r in known[-6:])
        ),
        "股本结构": page(
            "股本结构",
            f"总股本 {total / 1e4:.2f} 万股，流通股 {floating / 1e4:.2f} 万股",
            *(
                f"{_date(r.date)}  总股本 {r.values[3]:.2f} 万股  流通 {r.values[2]:.2f} 万股"
                for r in changes
            ),
        ),
        "资本运作": page("资本运作", "【1.募集资金】 暂无"),
        "行业分析": page("行业分析", f"【1.行业地位】 {security.sector} {security.industry}"),
        "公司大事": page(
            "公司大事", *(f"{_date(r.published)}  披露{_date(r.period)}定期报告" for r in known[-4:])
        ),
        "分红扩股": page("分红扩股", *(f"{_date(r.date)}  {_plan(r)}" for r in dividends)),
    }


def _date(value: int) -> str:
    return f"{value // 10_000:04d}-{value // 100 % 100:02d}-{value % 100:02d}"


def _plan(record: ExRight) -> str:
    cash, price, bonus, rights = record.values
    parts = [f"派{cash:g}元"] if cash else []
    parts += [f"送转{bonus:g}股"] if bonus else []
    parts += [f"配{rights:g}股，配股价{price:g}元"] if rights else []
    return "每10股" + "".join(parts)


def _facts(report: Report | None, total: int) -> str:
    if report is None or not total:
        return "【1.最新提示】 暂无"
    return (
        f"【1.最新提示】 {_date(report.period)} 每股收益 {report.net_profit / total:.4f} 元，"
        f"每股净资产 {report.net_assets / total:.4f} 元，净利润 {report.net_profit / 1e4:.2f} 万元"
    )


def _table(known: Sequence[Report], total: int) -> str:
    lines = ["报告期      营业收入(万元)  净利润(万元)  净资产(万元)  每股收益"]
    lines += [
        f"{_date(r.period)}  {r.revenue / 1e4:>14.2f}  {r.net_profit / 1e4:>12.2f}"
        f"  {r.net_assets / 1e4:>12.2f}  {r.net_profit / max(total, 1):>8.4f}"
        for r in reversed(known)
    ]
    return "\r\n".join(lines)
