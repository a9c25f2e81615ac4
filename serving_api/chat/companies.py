"""The companies of a request: their evidence pack, or the error for unknown codes."""

from collections.abc import Sequence

from core.errors import NotFound
from platform_assets.compute.evidence.facts import Pack
from serving_api.evidence.packs import stock_pack, stocks_pack
from serving_api.evidence.parts import MASTER
from serving_api.framework.state import State


async def pack_of(state: State, codes: Sequence[str]) -> tuple[Pack, dict[str, str]]:
    """(pack, code -> name in the order of `codes`). Raises NotFound that names codes outside the list."""
    pack = await (stock_pack(state, codes[0]) if len(codes) == 1 else stocks_pack(state, codes))
    names = {str(fact.key["code"]): fact.subject for fact in pack.facts if fact.table == MASTER}
    unknown = [code for code in codes if code not in names]
    if unknown:
        raise NotFound(f"证券列表中没有 {'、'.join(unknown)}")
    return pack, {code: names[code] for code in codes}
