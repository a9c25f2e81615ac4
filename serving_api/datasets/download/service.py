"""Downloads as commands: requested from the worker, awaited without blocking a thread."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.declaration.registry import builtin_registry
from core.errors import NotFound, StorageError
from resources.warehouse.ledger.commands import Command
from serving_api.admin.waiting import carried_out, failure
from serving_api.framework.state import State

TYPES = (
    "kline", "quote", "valuation", "fund_flow", "minute_kline", "reports", "dragon_tiger", "margin",
    "holder_num", "lockup", "block_trade", "dividend", "concept_blocks", "northbound", "announcements",
    "news", "finstmt", "fin_indicator", "issue_info", "holding_org", "top_holders", "earnings_forecast",
    "earnings_express", "executive_holding", "org_survey", "fund_holding", "aux_profile",
    "aux_finance_changes", "aux_holders", "aux_bonus", "aux_operate", "aux_worth", "aux_equity", "aux_news",
    "aux_capital", "aux_lhb", "aux_rzrq", "aux_dzjy",
)  # fmt: skip
NORTHBOUND = "northbound"
"""Market-level: the one type that `all` leaves out."""
ALL = "all"
NOT_BUILT = "this platform has no dataset of type {name} yet"


@dataclass(frozen=True)
class Split:
    """Types that can be downloaded, and those whose dataset does not exist yet."""

    built: list[str]
    missing: list[str]


def expand(requested: Sequence[str]) -> list[str]:
    """Types without repetition; `all` = every type but the market-level one."""
    found: list[str] = []
    for name in requested:
        found += [kind for kind in TYPES if kind != NORTHBOUND] if name == ALL else [name]
    return list(dict.fromkeys(found))


def unknown(requested: Sequence[str]) -> str | None:
    """The first value that is not a type; None when all are."""
    return next((name for name in requested if name not in TYPES and name != ALL), None)


@cache
def built_types() -> Mapping[str, bool]:
    """Type -> whether it feeds a fused dataset; only those that exist."""
    registry = builtin_registry()
    feeds = registry.download_to_fusion
    return {name: bool(feeds[name]) for name in registry.download_types if name in TYPES}


def split(types: Sequence[str]) -> Split:
    built = built_types()
    return Split([name for name in types if name in built], [name for name in types if name not in built])


Part = dict[str, Any]
NO_ROWS = "the upstream answered and has no rows of {code}"
_COUNTS = ("total", "saved", "gap_count")


def failed_part(message: str) -> Part:
    return {"status": "failed", **dict.fromkeys(_COUNTS, 0), "message": message}


def parts_of(code: str, types: Mapping[str, Any]) -> dict[str, Part]:
    """The results of one code, from the command's result of every type."""
    parts = {}
    for name, reported in types.items():
        counts = reported.get("codes", {}).get(code)
        if reported["status"] == "success" and counts:
            said = reported.get("message") or NO_ROWS.format(code=code)
            none = {} if counts["total"] and not reported.get("incomplete") else {"message": said}
            parts[name] = {"status": "success", **counts, **none}
        else:
            part = failed_part(reported.get("message") or f"no source has rows of {code}")
            parts[name] = {**part, **(counts or {})}
    return parts


def whole(
    details: Mapping[str, Any], parts: Iterable[Part], fusion: Any, *, message: str | None = None
) -> dict[str, Any]:
    """The response: success when at least one result succeeded, with the failed ones named."""
    every = list(parts)
    good = [part for part in every if part["status"] == "success"]
    if message is None and len(good) < len(every):
        reported = dict.fromkeys(str(part["message"]) for part in every if part["status"] == "failed")
        message = f"{len(every) - len(good)} of {len(every)} parts failed: " + "; ".join(list(reported)[:5])
    return {
        "status": "success" if good else "failed",
        **{name: sum(part[name] for part in every) for name in _COUNTS},
        "details": details,
        "fusion": fusion,
        "fox_fusion": fusion,
        **({} if message is None else {"message": message}),
    }


def fusion_of(reported: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """{status, batch_id, results{type: {status, saved}}} of the command's fusion."""
    if reported is None:
        return None
    results = {
        name: {key: part[key] for key in ("status", "saved", "message") if key in part}
        for name, part in reported["results"].items()
    }
    return {"status": reported["status"], "batch_id": reported.get("batch_id"), "results": results}


def market_part(reported: Mapping[str, Any]) -> Part:
    """The result of a type without codes."""
    part = {"status": reported["status"], **{name: reported[name] for name in _COUNTS}}
    return part if reported["status"] == "success" else {**part, "message": reported["message"]}


def details_of(
    codes: Sequence[str], types: Mapping[str, Any], missing: Sequence[str]
) -> dict[str, dict[str, Part]]:
    """Code -> type -> result."""
    not_built = {name: failed_part(NOT_BUILT.format(name=name)) for name in missing}
    return {code: {**parts_of(code, types), **not_built} for code in codes}


MARKET_COMMAND = "download_market"
DONE = "下载完成"
_NEAREST = 3


@cache
def market_names() -> tuple[str, ...]:
    """Downloaders that this platform has."""
    return tuple(sorted(builtin_registry().topical))


def known_market(name: str) -> str:
    """The name of a downloader. Raises NotFound with the most similar names."""
    if name in market_names():
        return name
    near = difflib.get_close_matches(name, market_names(), n=_NEAREST, cutoff=0.3) or list(market_names())
    raise NotFound(f"unknown market download: {name[:64]}; nearest: {', '.join(near[:_NEAREST])}")


async def download_market(state: State, name: str, date: str | None, asked_by: str) -> dict[str, Any]:
    """{status, total, saved, gap_count, latestDate, channels, message}."""
    args = {"name": name} if date is None else {"name": name, "date": date}
    try:
        command = await carried_out(state, MARKET_COMMAND, args, asked_by, meanwhile=ACCEPTED)
    except StorageError:
        return _market_answer({"status": "failed", "message": AWAY})
    return market_answer(command)


def market_answer(command: Command) -> dict[str, Any]:
    """The response for a finished command of a market download."""
    reason = failure(command)
    return _market_answer(command.result if reason is None else {"status": "failed", "message": reason})


def _market_answer(reported: dict[str, Any]) -> dict[str, Any]:
    answer = {
        "status": reported["status"],
        "total": reported.get("total", 0),
        "saved": reported.get("saved", 0),
        "gap_count": 0,
        "latestDate": reported.get("latest_date"),
        "channels": reported.get("channels", []),
        "message": reported.get("message") or DONE,
    }
    return {**answer, "fusion": reported["fusion"]} if reported.get("fusion") else answer


COMMAND = "download"
AWAY = "数据库不可用，下载未执行"
ACCEPTED = "下载仍在后台执行，请稍后用 command_id 查询结果"


async def download(
    state: State, codes: Sequence[str], requested: Sequence[str], asked_by: str, *, by_code: bool
) -> dict[str, Any]:
    """The response for valid types. `by_code`: details by code, then type; else by type only (one code)."""
    every = expand(requested)
    types = split([name for name in every if name != NORTHBOUND])
    reported: Mapping[str, Any] = {"types": {}, "fusion": None}
    if types.built:
        try:
            args = {"codes": list(codes), "types": types.built}
            command = await carried_out(state, COMMAND, args, asked_by, meanwhile=ACCEPTED)
        except StorageError:
            return whole({}, [], None, message=AWAY)
        reported = _reported(command, types.built)
    details = details_of(codes, reported["types"], types.missing)
    if NORTHBOUND in every:
        part = market_part(await download_market(state, NORTHBOUND, None, asked_by))
        details = {code: {**kinds, NORTHBOUND: part} for code, kinds in details.items()}
    parts = [part for kinds in details.values() for part in kinds.values()]
    shown: Mapping[str, Any] = details if by_code else details[codes[0]]
    return whole(shown, parts, fusion_of(reported.get("fusion")))


def codes_answer(command: Command, codes: Sequence[str], types: Sequence[str]) -> dict[str, Any]:
    """The response by code, then type, for a finished command of a download."""
    reported = _reported(command, types)
    details = details_of(codes, reported["types"], ())
    parts = [part for kinds in details.values() for part in kinds.values()]
    return whole(details, parts, fusion_of(reported["fusion"]))


def _reported(command: Command, types: Sequence[str]) -> Mapping[str, Any]:
    """The command's result per type; when the command failed as a whole every type failed, and so has a
    type without a result."""
    message = command.error or f"the command ended as {command.status}, without a word about this type"
    reported = command.result if command.status == "success" else {}
    failed = {name: {"status": "failed", "message": message} for name in types}
    return {"types": {**failed, **reported.get("types", {})}, "fusion": reported.get("fusion")}
