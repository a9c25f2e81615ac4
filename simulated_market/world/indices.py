"""The six broad indices, chained from their members' returns day by day."""

from dataclasses import dataclass

import numpy as np

from core.arrays import Bools, Floats, Ints
from simulated_market.world import draws
from simulated_market.world.plan import Plan

SETTLING_DAYS = 5  # a new listing enters the weights after its free days


@dataclass(frozen=True)
class IndexDef:
    code: str
    market: str
    name: str
    start: float  # level before the first session
    list_date: int


INDICES: tuple[IndexDef, ...] = (
    IndexDef("000001", "SH", "上证指数", 2974.93, 19910715),
    IndexDef("399001", "SZ", "深证成指", 9524.69, 19950123),
    IndexDef("399006", "SZ", "创业板指", 1891.37, 20100601),
    IndexDef("000300", "SH", "沪深300", 3431.11, 20050408),
    IndexDef("000905", "SH", "中证500", 5429.58, 20070115),
    IndexDef("000852", "SH", "中证1000", 5887.37, 20141017),
)
_SIZES = {"000300": 300, "000905": 500, "000852": 1000}  # of a full market of 5,500
_FEWEST = 18  # members of an index of a small market


def weight_cap(members: int) -> float:
    """The largest share of one member: 5 %, in a small index half more than the even share."""
    return max(0.05, 1.5 / max(members, 1))


def capped(weight: Floats) -> Floats:
    """Weights with none above the cap's share of their sum."""
    return np.minimum(weight, weight_cap(int((weight > 0).sum())) * float(weight.sum()))


class IndexBook:
    """State of the indices. Return of a day = sum(weight x (close / preclose - 1)) over the members that
    are listed longer than `SETTLING_DAYS` and have price limits on that day: a listing, a re-listing
    and the first day of a delisting period are no part of a level. Weight = total shares x preclose, at most
    `weight_cap(members)` of the sum. Half-yearly reviews."""

    def __init__(self, plans: list[Plan], dates: Ints, seed: int) -> None:
        self.seed = seed
        self.market = np.asarray([p.market if p.board and p.indexed else "" for p in plans])
        self.board = np.asarray([p.board if p.indexed else "" for p in plans])
        self.settled = np.asarray([p.list_day + SETTLING_DAYS if p.list_day >= 0 else -1 for p in plans])
        self.unit = np.asarray([p.tick_unit for p in plans], dtype=np.int64)
        self.full = sum(1 for p in plans if p.board and p.indexed)
        half = dates // 10_000 * 2 + (dates // 100 % 100 > 6)
        _, period = np.unique(half, return_inverse=True)
        self.period: Ints = period.astype(np.int64)
        self.members = np.zeros((int(self.period[-1]) + 1, len(plans)), dtype=np.int8)
        shape = (len(INDICES), len(dates))
        self.up_count, self.down_count = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        self.level: Ints = np.asarray([round(x.start * 100) for x in INDICES], dtype=np.int64)

    def review(self, period: int, listed: Bools, cap: Floats) -> None:
        """Choose the members of a half-year: by market and board, or by rank of total market cap."""
        bits = np.zeros(len(self.market), dtype=np.int8)
        stock = self.market != ""
        bits[self.market == "SH"] |= 1
        bits[self.market == "SZ"] |= 2
        bits[self.board == "gem"] |= 4
        ranked = np.argsort(-(cap * (listed & stock)), kind="stable")
        ranked = ranked[(listed & stock & (self.market != "BJ"))[ranked]]
        at = 0
        for bit, code in ((8, "000300"), (16, "000905"), (32, "000852")):
            size = max(round(_SIZES[code] * self.full / 5_500), _FEWEST)
            bits[ranked[at : at + size]] |= bit
            at += size
        self.members[period] = bits

    def session(
        self,
        day: int,
        listed: Bools,
        traded: Bools,
        prices: tuple[Ints, ...],
        turnover: tuple[Ints, Ints],
        shares: Ints,
    ) -> dict[str, Ints]:
        """Bars of the six indices, levels in 1/100 point."""
        opened, _, _, close, preclose, limit_up = prices[:6]
        cap = shares.astype(np.float64) * preclose
        period = int(self.period[day])
        if day == 0 or self.period[day - 1] != period:
            self.review(period, listed, cap)
        bits = self.members[period]
        numbers = draws.raw(self.seed, draws.Stream.INDEX, day, 2 * len(INDICES))
        wick = draws.exponential(numbers) * 0.0025
        rows = {name: np.zeros(len(INDICES), dtype=np.int64) for name in ("open", "high", "low", "close")}
        rows["preclose"] = self.level.copy()
        volume, amount = np.zeros(len(INDICES), dtype=np.int64), np.zeros(len(INDICES), dtype=np.int64)
        rise, fall = traded & (close > preclose), traded & (close < preclose)
        settled = listed & (day >= self.settled) & (limit_up > 0)
        for k in range(len(INDICES)):
            member = (bits >> k & 1).astype(bool) & listed
            weight = capped(cap * (member & settled))
            total = float(weight.sum()) or 1.0
            ratio = np.maximum(preclose, 1)
            start = int(self.level[k])
            rows["open"][k] = round(start * float((weight * (opened / ratio)).sum()) / total)
            rows["close"][k] = round(start * float((weight * (close / ratio)).sum()) / total)
            if not weight.any():
                rows["open"][k] = rows["close"][k] = start
            ends = (int(rows["open"][k]), int(rows["close"][k]))
            rows["high"][k] = round(max(ends) * (1 + float(wick[2 * k])))
            rows["low"][k] = round(min(ends) * (1 - float(wick[2 * k + 1])))
            volume[k], amount[k] = int(turnover[0][member].sum()), int(turnover[1][member].sum())
            self.up_count[k, day], self.down_count[k, day] = int(rise[member].sum()), int(fall[member].sum())
        self.level = rows["close"].copy()
        return {**rows, "volume": volume, "amount": amount}
