"""Names as quotes show them: base name of the date, special-treatment marks, exchange prefixes."""

from collections.abc import Sequence

from simulated_market.world.bars import Applied
from simulated_market.world.plan import Plan

_WIDTH = 8  # bytes of GBK that a terminal shows; prefixes push syllables out at the end


def base_name(names: Sequence[tuple[int, str]], date: int) -> str:
    """The newest (since, name) not after `date`."""
    found = names[0][1]
    for since, name in names:
        if since > date:
            break
        found = name
    return found


def shown_name(plan: Plan, base: str, listed_days: int | None, event: Applied | None, *, gone: bool) -> str:
    """`base` with N (listing day), C (days 2 to 5 under registration, not Beijing), XD/XR/DR (ex-days,
    Shanghai only) or the suffix of a delisted company."""
    if gone:
        return base.removeprefix("退市").removeprefix("*ST").removeprefix("ST") + "(退)"
    if listed_days == 1:
        return "N" + base
    if listed_days is not None and 2 <= listed_days <= 5 and plan.board in ("main", "gem", "star"):
        return "C" + base
    if event is not None and plan.market == "SH" and plan.board:
        shares = event.bonus > 0 or event.rights > 0
        prefix = ("DR" if shares else "XD") if event.cash > 0 else "XR"
        return _cut(prefix + base)
    return base


def _cut(name: str) -> str:
    kept = ""
    for letter in name:
        if len((kept + letter).encode("gbk", "replace")) > _WIDTH:
            break
        kept += letter
    return kept
