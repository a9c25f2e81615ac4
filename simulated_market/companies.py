"""Profiles of the companies of a world: register data and the issue of their shares. Persons are those that
trade in `insiders`; facts that the world does not have are drawn from the symbol alone and never changes."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from simulated_market.draws import draws
from simulated_market.insiders import person_of
from simulated_market.wire import View
from simulated_market.world.model import PRICE_UNIT, Security

_SURNAMES = "何吕施张孔曹严华金魏陶姜"
_GIVEN = ("国强", "丽娟", "明远", "子涵", "伟民", "雪梅", "长青", "一鸣")
_BEFORE_LISTING = timedelta(days=10)
_USUAL_PE = 22.99


@dataclass(frozen=True)
class Company:
    """Register data; `capital` in CNY."""

    security: Security
    full_name: str
    name: str
    industry: str
    chairman: str
    president: str
    legal_person: str
    secretary: str
    phone: str
    website: str
    address: str
    capital: float
    employees: int
    profile: str
    scope: str
    business: str
    controller: str


@dataclass(frozen=True)
class Issue:
    """An issue of shares; prices and funds CNY. The first day is not published before it has ended."""

    founded: date
    applied: date
    listed: date
    price: float
    shares: int
    pe: float | None
    first_open: float | None
    first_close: float | None
    first_turnover: float | None

    @property
    def funds(self) -> float:
        return round(self.price * self.shares, 2)


def company_of(view: View, security: Security) -> Company | None:
    """None for a security that is no stock, or in a world without industries."""
    if security.kind != "stock" or not security.industry:
        return None
    random = draws("company", security.symbol)
    total, _ = view.world.shares(security, view.now)
    base = view.world.name(security, view.now).lstrip("*STNC退市")

    def person() -> str:
        return random.choice(_SURNAMES) + random.choice(_GIVEN)

    chairman, president = person_of(security), person()
    return Company(
        security=security,
        full_name=f"{base}股份有限公司",
        name=view.world.name(security, view.now),
        industry=f"{security.sector}-{security.industry}",
        chairman=chairman,
        president=president,
        legal_person=chairman if random.random() < 0.8 else president,
        secretary=person(),
        phone=f"0{random.randint(10, 99)}-{random.randint(20_000_000, 89_999_999)}",
        website=f"www.{security.symbol}.example.cn",
        address=f"{security.region}工业大道{random.randint(1, 999)}号",
        capital=float(total),
        employees=random.randint(120, 40_000),
        profile=f"{base}股份有限公司从事{security.industry}，总部位于{security.region}。",
        scope=f"{security.industry}相关产品的研发、生产、销售；货物进出口。",
        business=f"{security.industry}产品的研发、生产和销售。",
        controller=f"{security.region}国有资产监督管理委员会" if random.random() < 0.3 else chairman,
    )


def issue_of(view: View, security: Security) -> Issue:
    """The issue behind a listing: within the world by its first bar, before it drawn."""
    random = draws("issue", security.symbol)
    listed = datetime.strptime(str(security.list_date), "%Y%m%d")
    price, shares = round(random.uniform(3, 40), 2), random.randint(250, 2000) * 100_000
    opened: float | None = round(price * 1.2, 2)
    closed: float | None = round(price * 1.44, 2)
    turnover: float | None = round(random.uniform(0.1, 80), 2)
    bars = view.world.bars(security, view.now)
    if len(bars) and int(bars.date[0]) == security.list_date and int(bars.preclose[0]) > 0:
        price = int(bars.preclose[0]) / PRICE_UNIT
        shares = view.world.shares(security, listed)[1] or shares
        opened = closed = turnover = None
        if view.now >= listed.replace(hour=15):
            opened, closed = int(bars.open[0]) / PRICE_UNIT, int(bars.close[0]) / PRICE_UNIT
            turnover = round(float(bars.turnover_pct[0]), 2)
    return Issue(
        founded=(listed - timedelta(days=365 * random.randint(4, 20))).date(),
        applied=_week_day((listed - _BEFORE_LISTING).date()),
        listed=listed.date(),
        price=price,
        shares=shares,
        pe=_USUAL_PE if security.board == "main" else round(random.uniform(18, 60), 2),
        first_open=opened,
        first_close=closed,
        first_turnover=turnover,
    )


def _week_day(day: date) -> date:
    return day - timedelta(days=max(0, day.weekday() - 4))
