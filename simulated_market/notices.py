"""Notices of a world: the facts that the disclosure platform, the portal and Shenzhen publish in their
formats.

Tied to events where the world has them (a report on its notice date, a distribution a week before its
ex-day), else drawn from the name of the stock and the day: one stock in six has a routine notice on a trade
date, one in forty on another day. A notice is published on the evening before its disclosure date, one in
four at noon or in the evening of the date itself. A replayed market has none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from simulated_market.draws import drawn
from simulated_market.memo import FactMemo
from simulated_market.wire import View
from simulated_market.world.dates import number_of
from simulated_market.world.model import Security

# Title, the portal's name of the kind, the platform's code of the content, its category. The codes are those
# of recorded notices; 012399 is what the platform gives to the rest.
_ROUTINE: tuple[tuple[str, str, str, str], ...] = (
    ("第五届董事会第{n}次会议决议公告", "董事会决议公告", "012399", "dshgg"),
    ("第五届监事会第{n}次会议决议公告", "监事会决议公告", "012399", "jshgg"),
    ("关于控股股东部分股份质押的公告", "股份质押、冻结", "012399", "gqbd"),
    ("关于使用闲置募集资金进行现金管理的进展公告", "委托理财", "012399", "rcjy"),
    ("{year}年第{q}次临时股东大会决议公告", "股东大会决议公告", "011999", "gddh"),
    ("关于回购公司股份的进展公告", "股份回购", "012399", "gqbd"),
    ("关于签订日常经营重大合同的公告", "签订协议", "012399", "rcjy"),
    ("关于持股5%以上股东减持股份计划的预披露公告（更新后）", "股东减持", "011507", "gqbd"),
    ("关于收到监管部门问询函的公告", "问询函", "012399", "rcjy"),
    ("独立董事关于第五届董事会第{n}次会议相关事项的独立意见", "独立董事意见", "012399", "gszl"),
    ("关于为子公司提供担保的公告", "担保事项", "012399", "rcjy"),
    ("关于公司及相关人员收到<行政处罚决定书>的公告", "处罚", "012399", "fxts"),
)
_REPORTS = {331: "01030501", 630: "010303", 930: "01030701", 1231: "010301"}
_KIND_OF = {331: "一季度报告", 630: "半年度报告", 930: "三季度报告", 1231: "年度报告"}
_CATEGORY_OF = {331: "yjdbg", 630: "bndbg", 930: "sjdbg", 1231: "ndbg"}
_MARKET_CODES = {"SZ": "010112"}
_UNUSUAL = {"main": 20.0, "gem": 30.0, "star": 30.0, "bj": 40.0}
"""Percent by which three closes have moved together when an unusual movement is announced."""
_DAYTIME = ((11 * 3600 + 2_100, 4_800), (15 * 3600 + 1_800, 14_400))
"""Notices that are out on their own disclosure date: at noon, or after the close (second of day, span)."""
_PERIODS = {331: "第一季度报告", 630: "半年度报告", 930: "第三季度报告", 1231: "年度报告"}
_SHARED = "关于与{other}签署战略合作框架协议的公告"
_EX_LEAD = 7
_SPAN = 3
_DAYS_HELD, _LISTS_HELD = 400, 64


@dataclass(frozen=True)
class Notice:
    """One notice of one or more stocks. `kind` is the portal's name of it, `types` the platform's codes of
    announcer, market and content."""

    number: int
    day: date
    shown: datetime
    title: str
    securities: tuple[Security, ...]
    names: tuple[str, ...]
    kind: str
    types: str
    categories: tuple[str, ...]
    size_kb: int

    @property
    def announced_at(self) -> datetime:
        """The time on the platform: the moment of a notice of the same day, else the begin of its date."""
        same = self.shown.date() == self.day
        return self.shown if same else datetime(self.day.year, self.day.month, self.day.day)


@dataclass(frozen=True)
class _Drafted:
    """The content of a notice, before it has a number and a time."""

    title: str
    kind: str
    content: str
    category: str


@dataclass(frozen=True)
class _Listed:
    """The stocks that may have notices on a day, whether it is a trade date, and former names of those that
    are called otherwise from this day on."""

    stocks: Sequence[Security]
    places: Mapping[str, int]
    trading: bool
    renamed: Mapping[str, str]

    def near(self, code: str) -> list[int]:
        """The places whose notices a stock may have a part in: its own, and the one before it."""
        at = self.places.get(code)
        return [] if at is None else [place % len(self.stocks) for place in (at - 1, at)]


class NoticeBook:
    """The notices of a world by disclosure date; a finished day is remembered."""

    def __init__(self) -> None:
        self._made: FactMemo[list[Notice]] = FactMemo()
        self._listed: FactMemo[_Listed] = FactMemo(_LISTS_HELD)

    def between(self, view: View, since: str, until: str, code: str = "") -> list[Notice]:
        """Notices of the disclosure dates asked for that are up already, newest first."""
        first, last = _day(since), _day(until)
        if first is None or last is None or view.world.label != "sample":
            return []
        # No notice is published for later than the day after now; only the newest years are served.
        last = min(last, view.now.date() + timedelta(days=1))
        first = max(first, last - timedelta(days=_DAYS_HELD))
        found = []
        while last >= first:
            found += [one for one in self._of_day(view, last, code) if one.shown <= view.now]
            last -= timedelta(days=1)
        if code:
            found = [one for one in found if any(security.code == code for security in one.securities)]
        return sorted(found, key=lambda one: (one.day, one.shown, one.number), reverse=True)

    def _of_day(self, view: View, day: date, code: str) -> list[Notice]:
        """The notices of a day; where one stock is meant, at least its."""
        listed = self._listed_on(view, day)
        if code:
            return _made(view, day, listed, listed.near(code))

        def make() -> list[Notice]:
            return _made(view, day, listed, range(len(listed.stocks)))

        return make() if day > view.now.date() else self._made.of(view, day, make)

    def _listed_on(self, view: View, day: date) -> _Listed:

        def make() -> _Listed:
            stocks = [one for one in view.world.securities(_evening_before(day)) if one.kind == "stock"]
            number = number_of(day)
            trading = number in view.world.trade_dates()
            changes = view.world.renames(datetime(day.year, day.month, day.day))
            renamed = {one.symbol: one.old_name for one in changes if one.date == number}
            places = {one.code: at for at, one in enumerate(stocks)}
            return _Listed(stocks, places, trading, renamed)

        return self._listed.of(view, day, make)


def _evening_before(day: date) -> datetime:
    return datetime(day.year, day.month, day.day) - timedelta(hours=8)


def _made(view: View, day: date, listed: _Listed, places: Iterable[int]) -> list[Notice]:
    """The notices with this disclosure date of the stocks at some places of the list."""
    evening, stocks, trading = _evening_before(day), listed.stocks, listed.trading
    made: list[Notice] = []
    for at in places:
        security = stocks[at]
        draw = drawn(security.symbol, day)
        drafts = _events(view, security, day, listed)
        planned = len(drafts)
        if draw % (6 if trading else 40) == 0:
            title, kind, content, category = _ROUTINE[draw // 64 % len(_ROUTINE)]
            words = {"n": draw // 1024 % 30 + 1, "q": min(day.month // 4 + 1, 4), "year": day.year}
            drafts.append(_Drafted(title.format(**words), kind, content, category))
        for place, one in enumerate(drafts):
            owners: tuple[Security, ...] = (security,)
            if draw % 96 == 0 and place >= planned:
                owners = (security, stocks[(at + 1) % len(stocks)])
            if len({owner.code for owner in owners}) < len(owners):
                continue
            names = tuple(view.world.name(owner, evening) for owner in owners)
            shared = len(owners) > 1
            made.append(
                Notice(
                    number=draw % 90_000_000 + 10_000_000 + place,
                    day=day,
                    shown=_moment(day, draw, trading=trading and place >= planned),
                    title=view.world.titled(_SHARED.format(other=names[1]) if shared else one.title),
                    securities=owners,
                    names=names,
                    kind="签订协议" if shared else one.kind,
                    types=f"01010503||{_MARKET_CODES.get(security.market, '010113')}||{one.content}",
                    categories=(f"category_{'rcjy' if shared else one.category}_szsh",),
                    size_kb=draw % 900 + 40,
                )
            )
    return made


def _moment(day: date, draw: int, *, trading: bool) -> datetime:
    if trading and draw // 32 % 4 == 0:
        first, span = _DAYTIME[draw // 128 % 2]
        return datetime(day.year, day.month, day.day) + timedelta(seconds=first + draw % span)
    return _evening_before(day) + timedelta(seconds=draw % 18_000)


def _events(view: View, security: Security, day: date, listed: _Listed) -> list[_Drafted]:
    """Notices of the world's events of a day."""
    found: list[_Drafted] = []
    number = int(day.strftime("%Y%m%d"))
    close = datetime(day.year, day.month, day.day, 23, 59)
    finance = view.world.finance(security, min(close, view.now + timedelta(days=1)))
    if finance is not None and finance.published == number:
        year, period = divmod(finance.report_date, 10_000)
        for tail in ("", "摘要"):
            title = f"{year}年{_PERIODS.get(period, '定期报告')}{tail}"
            kind = f"{_KIND_OF.get(period, '定期报告')}{tail or '全文'}"
            content, category = _REPORTS.get(period, "012399"), _CATEGORY_OF.get(period, "ndbg")
            found.append(_Drafted(title, kind, content, category))
    ahead = day + timedelta(days=_EX_LEAD)
    for right in view.world.exrights(security, view.now + timedelta(days=_EX_LEAD + 1)):
        if right.category == 1 and right.date == int(ahead.strftime("%Y%m%d")):
            found.append(_Drafted(f"{day.year}年权益分派实施公告", "分配方案实施", "012399", "qyfpxzcs"))
    if security.symbol in listed.renamed:
        found.append(_renamed(listed.renamed[security.symbol], view.world.name(security, close)))
    if _moved_unusually(view, security, day):
        found.append(_Drafted("股票交易异常波动公告", "股票交易异常波动", "012399", "fxts"))
    return found


def _renamed(before: str, after: str) -> _Drafted:
    """The title of a change of names: special treatment, its end, a delisting, or nothing but a name."""
    if after.startswith("退市"):
        title = "关于公司股票进入退市整理期交易的公告"
        return _Drafted(title, "终止上市", "012399", "tszlq")
    if "ST" in after and "ST" not in before:
        what = "退市" if after.startswith("*ST") else "其他"
        return _Drafted(f"关于公司股票被实施{what}风险警示的公告", "实施风险警示", "012399", "tbclts")
    if "ST" in before and "ST" not in after:
        return _Drafted("关于撤销公司股票交易风险警示的公告", "撤销风险警示", "012399", "tbclts")
    return _Drafted("关于变更公司证券简称的公告", "公司名称变更", "012399", "rcjy")


def _moved_unusually(view: View, security: Security, day: date) -> bool:
    """Whether the three closes before this day rose or fell by the board's threshold, and no fewer did."""
    bars = view.world.bars(security, min(_evening_before(day), view.now))
    if len(bars) < _SPAN or not bars.traded[-_SPAN:].all():
        return False
    if _evening_before(day).date().strftime("%Y%m%d") != str(int(bars.date[-1])):
        return False
    moved = (bars.close / bars.preclose - 1)[-_SPAN:] * 100
    least = _UNUSUAL.get(security.board, 20.0)
    return bool(abs(float(moved[1:].sum())) < least <= abs(float(moved.sum())))


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def page_of(text: str) -> int:
    """A page number as it was asked for; 1 for anything else."""
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1
