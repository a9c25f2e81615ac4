"""Parameters of the interfaces: the meaning and the allowed values of each name.

An interface declares name, type, requiredness and default; this table adds the rest, for all
interfaces.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from core.declaration.interfaces import Interface
from core.errors import InputError
from core.market.symbols import index_code
from platform_assets.compute.factors.presets import BY_KEY
from serving_api.db.request_notes import current_code

MOST_ROWS = 5000
MOST_CODES = 500
_CODE = re.compile(r"[0-9]{5,6}|[A-Z][A-Z0-9.]{0,15}")
_INDEX_CODE = re.compile(r"(sh|sz|bj|hk|us|csi|gz|gl)[A-Za-z0-9.]{1,13}|8[05][0-9]{4}")
_CODES_ARE = "6 digits, 5 digits (HK) or a US ticker are allowed"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Meaning:
    """A description; the allowed values, or the bounds of a number."""

    description: str
    allowed: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None


def _one_of(words: str, note: str = "") -> Meaning:
    """Of values that explain themselves: `a | b`."""
    return Meaning(words + note, allowed=tuple(words.split(" | ")))


MEANINGS: Mapping[str, Meaning] = {
    "code": Meaning("security code: 6 digits, HK 5 digits, US ticker"),
    "codes": Meaning(f"codes, list or comma list, <= {MOST_CODES}"),
    "etf_code": Meaning("6-digit ETF code"),
    "index_code": Meaning("index code, sh000001 style; an industry index, 801780"),
    "fields": Meaning("column subset; key columns are always included"),
    "start_date": Meaning("first date, YYYY-MM-DD or YYYYMMDD"),
    "end_date": Meaning("last date, default latest stored"),
    "trade_date": Meaning("trade date, default latest stored"),
    "date": Meaning("date, default latest stored"),
    "pattern": Meaning("direction column of the pattern table; default any"),
    "direction": Meaning("100 or -100; default both"),
    "signal_key": Meaning("signal name; default all"),
    "source": Meaning("row source; default all"),
    "board_key": _one_of("dragon | tactic | composite", "; default all"),
    "preset_key": Meaning("one of the 14 presets; default all", allowed=tuple(BY_KEY)),
    "report_period": Meaning("quarter end, default latest"),
    "statement": _one_of("income | balance | cashflow"),
    "exchange": Meaning(
        "SSE | SZSE | BSE; of futures CFFEX | SHFE | INE | DCE | CZCE | GFEX",
        allowed=("SSE", "SZSE", "BSE", "CFFEX", "SHFE", "INE", "DCE", "CZCE", "GFEX"),
    ),
    "limit": Meaning(f"maximum rows, newest kept, <= {MOST_ROWS}", low=1, high=MOST_ROWS),
    "offset": Meaning("rows to skip", low=0, high=1_000_000),
    "periods": Meaning("number of periods", low=1, high=1500),
    "days": Meaning("window length in days", low=1, high=2500),
    "forward_days": Meaning("days ahead", low=1, high=2500),
    "branch_name": Meaning("branch name contains"),
    "min_premium": Meaning("lower bound of premium in percent"),
    "max_premium": Meaning("upper bound of premium in percent"),
    "sort": Meaning("column, prefix - for descending"),
    "ascending": Meaning("oldest first"),
    "adjust": _one_of("none | qfq | hfq"),
    "period": _one_of("week | month | quarter | year", "; of minute bars their minutes, 5 | 15 | 30 | 60"),
    "market": Meaning("market", allowed=("CN", "SH", "SZ", "BJ", "HK", "US")),
    "org_type": Meaning(
        "holder class", allowed=("fund", "qfii", "social", "broker", "insurance", "trust", "all")
    ),
    "holder_type": _one_of("top10 | float10"),
    "dim_type": _one_of("product | industry | region"),
    "keyword": Meaning("search text"),
    "ann_type": Meaning("announcement category, or type as its source writes it"),
    "news_type": _one_of("news | research"),
    "pool": _one_of("up | down | broken | prev | strong"),
    "list_type": _one_of("em_rank | ths_hot | ths_strong | xq_follow"),
    "level": Meaning(
        "sw_l1 | sw_l2 | sw_l3 | industry | em_industry | tdx_industry | csrc_industry | region"
    ),
    "top_n": Meaning("rows per side", low=1, high=100),
    "page": Meaning("page, from 1", low=1, high=100_000),
    "page_size": Meaning("rows per page", low=1, high=500),
    "window": Meaning("window in bars", low=2, high=1000),
    "sec_type": Meaning("stock | etf | lof | cb | reit | index | hk | us"),
    "list_status": _one_of("L | S | D | P | R"),
    "scope": _one_of("cn | hk | us | global"),
    "block_code": Meaning("block code or name"),
    "block_type": _one_of("zs | gn | fg | hy"),
    "provider": _one_of("csi | cni | sw"),
    "standard": _one_of("csrc | cni | sw | em"),
    "industry_code": Meaning("industry or board code"),
    "channel": _one_of("hgt | sgt | north | ggt_sh | ggt_sz"),
    "symbol": Meaning("contract or product of futures, as au2612 or au"),
    "region": _one_of("cn | us | hk | eu | jp"),
    "indicator": Meaning("indicator name"),
    "indicators": Meaning(f"indicator names, list or comma list, <= {MOST_CODES}"),
    "importance": Meaning("minimum importance 1..3", low=1, high=3),
}


class BadCall(InputError):
    """The 422 of a call, in the fixed wording of the interfaces."""

    inside = ("params",)
    """Path of the parameter in the body."""

    def __init__(self, interface: str, parameter: str, problem: str | None = None) -> None:
        super().__init__(parameter, problem or "missing")
        reported = f"missing required parameter: {parameter}"
        if problem is not None:
            reported = f"bad parameter: {parameter}: {problem}"
        self.message = f"interface {interface} {reported}"


def described(interface: Interface) -> list[dict[str, Any]]:
    """The parameters as the catalog shows them."""
    return [
        {
            "name": name,
            "type": parameter.kind,
            "required": parameter.required,
            "default": parameter.default,
            "description": MEANINGS[name].description if name in MEANINGS else "",
        }
        for name, parameter in interface.params.items()
    ]


def read_params(interface: Interface, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every declared parameter with its typed value or default. Raises BadCall: an unknown name, a missing
    one, a value of another type or outside the allowed range. null means 'not given'."""
    unknown = next((name for name in given if name not in interface.params), None)
    if unknown is not None:
        known = ", ".join(interface.params) or "(none)"
        raise BadCall(interface.name, unknown[:40], f"is unknown; known are {known}")
    values: dict[str, Any] = {}
    for name, parameter in interface.params.items():
        if given.get(name) is None:
            if parameter.required:
                raise BadCall(interface.name, name)
            values[name] = parameter.default
            continue
        try:
            values[name] = _typed(name, parameter.kind, given[name])
        except ValueError as problem:
            raise BadCall(interface.name, name, str(problem)) from None
    return values


def _typed(name: str, kind: str, value: Any) -> Any:
    """Raises ValueError that says what is allowed."""
    if kind == "string[]":
        return _list(name, value)
    if not isinstance(value, str | int | float):
        raise ValueError(f"a {kind} is allowed")  # noqa: TRY004  the caller gets it as a bad value
    match kind:
        case "int":
            return _int(name, value)
        case "float":
            return _float(value)
        case "bool":
            if str(value).lower() not in _TRUTH:
                raise ValueError("true or false is allowed")
            return _TRUTH[str(value).lower()]
        case "date":
            return _date(value)
        case _:
            return _string(name, value)


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > 128:
        raise ValueError("a text of 1..128 characters is allowed")
    text = value.strip()
    if name == "index_code" and not _INDEX_CODE.fullmatch(text):
        text = _index_code(text)
    if name in ("code", "etf_code"):
        text = current_code(text)
        if not _CODE.fullmatch(text):
            raise ValueError(f"{value[:20]!r} is no code; {_CODES_ARE}")
    meaning = MEANINGS.get(name)
    if meaning and meaning.allowed and text not in meaning.allowed:
        raise ValueError(f"{text[:20]!r} is none of {', '.join(meaning.allowed)}")
    return text


def _list(name: str, value: Any) -> list[str]:
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError("a list of texts or a comma list is allowed")
    items = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not 1 <= len(items) <= MOST_CODES:
        raise ValueError(f"{len(items)} items; 1..{MOST_CODES} are allowed")
    if name != "codes":
        return items
    codes = [current_code(item) for item in items]
    wrong = next((item for item, code in zip(items, codes, strict=True) if not _is_code(code)), None)
    if wrong is not None:
        raise ValueError(f"{wrong[:20]!r} is no code; {_CODES_ARE}")
    return list(dict.fromkeys(codes))


def _index_code(text: str) -> str:
    try:
        return index_code(text)
    except InputError:
        raise ValueError(f"{text[:20]!r} is no index code; the form sh000001 is allowed") from None


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text) or _INDEX_CODE.fullmatch(text))


def _int(name: str, value: Any) -> int:
    if isinstance(value, bool) or not _INTEGER.fullmatch(str(value)):
        raise ValueError("an integer is allowed")
    number = int(value)
    meaning = MEANINGS.get(name)
    low, high = (meaning.low, meaning.high) if meaning else (None, None)
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{number} is outside {low}..{high}")
    return number


def _float(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError("a number is allowed") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError("a finite number is allowed")
    return number


def _date(value: Any) -> str:
    text = str(value)
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    raise ValueError(f"{text[:20]!r} is no date; YYYY-MM-DD or YYYYMMDD is allowed")
