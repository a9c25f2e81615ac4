"""Industry, concept and region boards with portal codes."""

from collections import defaultdict
from collections.abc import Sequence

from simulated_market.world.model import Board, Security
from simulated_market.world.vocabulary import INDUSTRIES, REGIONS

_INDUSTRY_BASE, _CONCEPT_BASE, _REGION_BASE = 420, 900, 145


def board_list(securities: Sequence[Security], concepts: Sequence[str]) -> list[Board]:
    """Boards that have at least one member among `securities`; codes do not depend on the members."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for security in securities:
        if security.kind == "stock":
            members["industry", security.industry].append(security.symbol)
            members["region", security.region].append(security.symbol)
            for concept in security.concepts:
                members["concept", concept].append(security.symbol)
    industries = [name for group in INDUSTRIES.values() for name in group]
    made = []
    for kind, base, names in (
        ("industry", _INDUSTRY_BASE, industries),
        ("concept", _CONCEPT_BASE, list(concepts)),
        ("region", _REGION_BASE, list(REGIONS)),
    ):
        for at, name in enumerate(names):
            if members[kind, name]:
                made.append(Board(f"BK{base + at:04d}", name, kind, tuple(members[kind, name])))
    return made
