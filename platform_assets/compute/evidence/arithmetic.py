"""Operations over cited facts that a text may state the result of."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from platform_assets.compute.evidence.facts import COUNT, RATIO, Fact
from platform_assets.compute.evidence.numbers import Kind
from platform_assets.compute.evidence.wording import IN_CNY, IN_SHARES


def in_unit(fact: Fact, kind: Kind) -> float | None:
    """The fact in the unit that a number of this kind is printed in; None where it cannot be."""
    value = fact.number
    if value is None:
        return None
    if kind == "pct":
        return value if fact.unit == "pct" else None
    if kind in ("cny", "share"):
        units = IN_CNY if kind == "cny" else IN_SHARES
        return value * units[fact.unit] if fact.unit in units else None
    if kind in ("count", "foreign"):
        return value if fact.unit == (COUNT if kind == "count" else RATIO) else None
    if kind in {"multiple", "plain"}:
        return value if fact.unit not in ("pct", *IN_SHARES) else None
    return None


def _are_cumulated(facts: Sequence[Fact]) -> bool:
    """Whether two are the same figure of two periods of one year, the later of which holds the earlier."""
    said = [(one.subject, one.label, one.as_of[:4]) for one in facts if "report_period" in one.key]
    return len(set(said)) < len(said)


def arithmetic(facts: Sequence[Fact], kind: Kind) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Sums, differences, quotients and changes of facts, in the unit of `kind`."""
    like = [(fact, value) for fact in facts if (value := in_unit(fact, kind)) is not None]
    for some in {2: like[:2], len(like): like}.values() if len(like) > 1 else ():
        chosen = [one for one, _ in some]
        if not _are_cumulated(chosen):
            ids, total = tuple(one.id for one in chosen), sum(value for _, value in some)
            yield "sum", ids, total
            yield "mean", ids, total / len(some)
    for (one, first), (two, second) in permutations(like, 2):
        yield "difference", (one.id, two.id), first - second
    for (one, first), (two, second) in combinations(like, 2):
        if not _are_cumulated((one, two)):
            yield "sum", (one.id, two.id), first + second
    for one, two in permutations(facts, 2):
        over, under = one.number, two.number
        if one.unit != two.unit or not over or not under:
            continue
        if kind == "multiple":
            yield "ratio", (one.id, two.id), over / under
        if kind == "pct" and one.unit != "pct":
            yield "share", (one.id, two.id), over / under * 100
            yield "change", (one.id, two.id), (over / under - 1) * 100
    if kind == "count":
        yield "count", tuple(fact.id for fact in facts), float(len(facts))
