"""The press of a world: articles, research reports and flash news, drawn from stock and day.

An article reports each notice of the day before it, under another title; one stock in eight has an
article of its own on a trade date, and some are printed twice. One stock in ten has a research report on a
trade date. Flash news come every ten minutes. Statements about a price agree with its moment: a falling stock
is not said to rise, and only a stock at its limit is said to be there. A replayed market has none of it.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from simulated_market import headlines
from simulated_market.draws import drawn
from simulated_market.memo import FactMemo
from simulated_market.notices import NoticeBook
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Security

_MEDIA = ("证券时报", "上海证券报", "中国证券报", "每日经济新闻", "财联社")
_ARTICLES = (
    "{name}：{industry}需求平稳 公司订单饱满",
    "{name}召开投资者交流会 回应{n}个问题",
    "{name}股东大会通过{n}项议案",
    "{industry}行业观察：从{name}看产能布局",
    "{name}融资余额变动 ➊ 一图看懂",
)
_ORGS = ("中信证券", "华泰证券", "国泰君安", "招商证券", "诚通证券")
_RATINGS = (("买入", "007", "3"), ("增持", "006", "2"), ("中性", "005", "1"))
_RESEARCH = ("{year}年业绩点评：{industry}龙头稳健增长", "深度报告：产能释放在即", "季报点评：业绩符合预期")
_FLASHES = (
    "{name}：与多方签署合作协议",
    "{name}：子公司通过高新技术企业认定",
    "{industry}行业协会：倡议加强自律",
)
_LONG = "产品的研发、生产和销售。" * 8_500
_ARTICLE_DAYS, _EVERY = 30, timedelta(minutes=10)
_MOST_REPORTED = 2_000


@dataclass(frozen=True)
class Article:
    number: str
    time: datetime
    title: str
    content: str
    media: str
    security: Security


@dataclass(frozen=True)
class Report:
    """A research report; EPS and target price CNY."""

    number: str
    day: date
    security: Security
    name: str
    title: str
    org: str
    rating: tuple[str, str, str]
    change: int | str
    eps: tuple[str, str, str]
    pe: str
    target: str


@dataclass(frozen=True)
class Flash:
    number: str
    time: datetime
    title: str
    colour: int
    security: Security


class Press:
    """The press of a world, cut at the view's time."""

    def __init__(self, notices: NoticeBook) -> None:
        self._notices = notices
        self._made: FactMemo[Flash] = FactMemo(_MOST_REPORTED)

    def articles(self, view: View, code: str) -> list[Article]:
        """Articles about a stock of the newest weeks, newest first."""
        if view.world.label != "sample":
            return []
        stocks = [one for one in view.world.securities(view.now) if one.kind == "stock" and one.code == code]
        if not stocks:
            return []
        last = view.now.date()
        since = last - timedelta(days=_ARTICLE_DAYS)
        found = self._of_notices(view, stocks[0], since, last)
        for back in range(_ARTICLE_DAYS):
            found += _own(view, stocks[0], last - timedelta(days=back))
        known = [one for one in found if one.time <= view.now]
        return sorted(known, key=lambda one: (one.time, one.number), reverse=True)

    def _of_notices(self, view: View, security: Security, since: date, until: date) -> list[Article]:
        found = []
        for notice in self._notices.between(view, since.isoformat(), until.isoformat(), security.code):
            time = notice.shown + timedelta(minutes=25)
            found.append(
                Article(
                    number=f"{time:%Y%m%d}{notice.number}",
                    time=time,
                    title=f"{notice.names[0]}发布公告：{notice.title}",
                    content=f"{notice.names[0]}公告，{notice.title}。详情请见公司披露的公告全文。",
                    media=_MEDIA[notice.number % len(_MEDIA)],
                    security=security,
                )
            )
        return found

    def reports(self, view: View, since: str, until: str, code: str = "") -> list[Report]:
        """Research reports of the dates asked for, newest first."""
        if view.world.label != "sample":
            return []
        try:
            day, last = date.fromisoformat(since), min(date.fromisoformat(until), view.now.date())
        except ValueError:
            return []
        day = max(day, last - timedelta(days=400))
        dates = set(view.world.trade_dates().tolist())
        listed = [one for one in view.world.securities(view.now) if one.kind == "stock"]
        found: list[Report] = []
        while day <= last:
            if int(day.strftime("%Y%m%d")) in dates:
                found += [made for one in listed if (made := _report(view, one, day)) is not None]
            day += timedelta(days=1)
        return [one for one in reversed(found) if not code or one.security.code == code]

    def flashes(self, view: View) -> list[Flash]:
        """Flash news of today and the day before, newest first."""
        listed = [one for one in view.world.securities(view.now) if one.kind == "stock"]
        if view.world.label != "sample" or not listed:
            return []
        made = []
        time = datetime(view.now.year, view.now.month, view.now.day) - timedelta(days=1) + timedelta(hours=8)
        while time <= view.now:
            draw = drawn("flash", time)
            moment = time + timedelta(seconds=draw % 600)
            if moment <= view.now:
                made.append(self._flash(view, listed, moment, draw))
            time += _EVERY
        return sorted(made, key=lambda one: (one.time, one.number), reverse=True)

    def _flash(self, view: View, listed: list[Security], time: datetime, draw: int) -> Flash:
        """A flash of the past is the same at all times, and made once."""

        def make() -> Flash:
            # The lowest bits of neighbouring names are much alike.
            title, security = _flash_line(view, listed, time, draw * 2_654_435_761 % 2**32 >> 12)
            colour = 3 if draw % 11 == 0 else 1 if draw % 5 == 0 else 0
            return Flash(f"{time:%Y%m%d%H%M}{draw % 10_000:04d}", time, title, colour, security)

        return self._made.of(view, time, make)


def _flash_line(view: View, listed: list[Security], time: datetime, draw: int) -> tuple[str, Security]:
    """One in four is about an index, one in four about a stock at its limit, where there is one."""
    world, pick = view.world, draw // 16
    if draw % 4 == 0:
        found = headlines.index_line(world, time, pick)
        if found is not None:
            return found
    if draw % 4 == 1:
        sealed = headlines.at_limit(world, listed, time, pick)
        if sealed is not None:
            return headlines.of_stock(world.name(sealed[0], time), sealed[1], pick), sealed[0]
    security = listed[pick % len(listed)]
    name, state = world.name(security, time), headlines.state_of(world, security, time)
    if state is not None and draw % 4 < 3:
        return headlines.of_stock(name, state, pick), security
    words = {"name": name, "industry": security.industry or "综合"}
    return _FLASHES[pick // 7 % len(_FLASHES)].format(**words), security


def _own(view: View, security: Security, day: date) -> list[Article]:
    """Articles of a stock's own, on trade dates; one in four is printed by another paper an hour later."""
    draw = drawn("press", security.symbol, day)
    if draw % 8 or int(day.strftime("%Y%m%d")) not in view.world.trade_dates():
        return []
    time = datetime(day.year, day.month, day.day, 8) + timedelta(seconds=draw % 36_000)
    name = view.world.name(security, view.now)
    words = {"name": name, "industry": security.industry or "综合", "n": draw // 512 % 9 + 2}
    state = headlines.state_of(view.world, security, time)
    if state is not None and draw // 64 % 3:
        title = headlines.of_stock(name, state, draw // 512)
    else:
        title = _ARTICLES[draw // 64 % len(_ARTICLES)].format(**words)
    content = (
        f"{name}（{security.code}）{title}。公司主要从事{words['industry']}" + "产品的研发、生产和销售。"
    )
    if draw % 400 == 8:
        content += _LONG
    media = _MEDIA[draw % len(_MEDIA)]
    first = Article(f"{time:%Y%m%d}{draw % 10**8:08d}", time, title, content, media, security)
    if draw // 8 % 4:
        return [first]
    later = time + timedelta(hours=1)
    copied = Article(
        f"{first.number}9", later, f" {title}　", content + "（转载）", _MEDIA[draw % 4], security
    )
    return [first, copied]


def _report(view: View, security: Security, day: date) -> Report | None:
    draw = drawn("research", security.symbol, day)
    if draw % 10:
        return None
    bars = view.world.bars(security, datetime(day.year, day.month, day.day, 15))
    close = int(bars.close[-1]) / PRICE_UNIT if len(bars) else 0.0
    eps = round(close / (15 + draw % 20), 2)
    words = {"industry": security.industry or "综合", "year": day.year}
    return Report(
        number=f"AP{day:%Y%m%d}{draw % 10**10:010d}",
        day=day,
        security=security,
        name=view.world.name(security, view.now),
        title=view.world.titled(_RESEARCH[draw // 16 % len(_RESEARCH)].format(**words)),
        org=_ORGS[draw // 64 % len(_ORGS)],
        rating=_RATINGS[draw // 128 % len(_RATINGS)],
        change="" if draw // 3 % 5 == 0 else draw // 7 % 5,
        eps=(f"{eps}", f"{eps * 1.15:.2f}", "" if draw % 3 == 0 else f"{eps * 1.3:.2f}"),
        pe=f"{close / eps:.2f}" if eps else "",
        target=f"{close * 1.2:.10f}" if draw % 4 else "",
    )
