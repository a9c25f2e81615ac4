"""Identity of block deals: equal lines of one day are different deals, and have no number of their own."""

from collections import Counter

import pandas as pd

from core.text_keys import hash_key

LINE = ["code", "date", "price", "volume", "buyer", "seller"]
_LOT = 100


def deal_key(price: float, volume: float, buyer: str | None, seller: str | None, seq: int) -> str:
    """Hash of price, volume, buyer, seller and number. The volume counts in hundreds of shares, half up: the
    exchanges report no more, so one deal has one key at all sources."""
    hundreds = int(volume / _LOT + 0.5)
    return hash_key(f"{price:.2f}", str(hundreds * _LOT), buyer or "", seller or "", str(seq))


def with_deal_keys(deals: pd.DataFrame) -> pd.DataFrame:
    """`deals` (columns `LINE`) with `seq`, which numbers the lines of one day whose deals look alike, and
    their `row_key`."""
    made = deals.reset_index(drop=True)
    lines = list(zip(*(made[name] for name in LINE), strict=True))
    seen: Counter[tuple[str, str, str]] = Counter()
    numbers, keys = [], []
    for code, date, price, volume, buyer, seller in lines:
        alike = (code, date, deal_key(price, volume, buyer, seller, 0))
        seen[alike] += 1
        numbers.append(seen[alike])
        keys.append(deal_key(price, volume, buyer, seller, seen[alike]))
    made["seq"] = pd.Series(numbers, dtype="int64")
    made["row_key"] = pd.Series(keys, dtype=object)
    return made


def confirmed(deals: pd.DataFrame, lists: pd.Series) -> pd.Series:
    """Which `deals` of several `lists` (one value per row) are no mere repetition: of deals that look alike,
    no list has more than another one that has them at all."""
    again = deals["seq"].astype(float) > 1
    made = pd.Series(True, index=deals.index)
    if not again.any():
        return made
    days = pd.MultiIndex.from_frame(deals[["code", "date"]])
    some = deals[days.isin(days[again.to_numpy()])]
    lines = zip(some["price"], some["volume"], some["buyer"], some["seller"], strict=True)
    alike = [deal_key(price, volume, buyer, seller, 0) for price, volume, buyer, seller in lines]
    groups = [some["code"], some["date"], pd.Series(alike, index=some.index)]
    counts = some["seq"].astype(float).groupby([*groups, lists[some.index]]).transform("max")
    least = counts.groupby(groups).transform("min")
    made[some.index] = some["seq"].astype(float) <= least
    return made


def with_numbers(deals: pd.DataFrame) -> pd.DataFrame:
    """`deals` with `row_key`, and the `seq` that the key was made of."""
    most = deals.groupby(["code", "date"])["row_key"].transform("size") if len(deals) else []
    made = deals.copy()
    lines = zip(*(deals[name] for name in (*LINE[2:], "row_key")), most, strict=True)
    made["seq"] = pd.array([_number_of(*line) for line in lines], dtype="Int64")
    return made


def _number_of(
    price: float, volume: float, buyer: str | None, seller: str | None, row_key: str, most: int
) -> int | None:
    keys = (deal_key(price, volume, buyer, seller, seq) for seq in range(1, most + 1))
    return next((seq for seq, key in enumerate(keys, start=1) if key == row_key), None)
