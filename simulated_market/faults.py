"""Faults on demand: failures of real upstreams, scheduled by (upstream, call, occurrence).

A plan is a list of rules. A responder asks `take(upstream, call)` once per request and applies the fault that
it gets. The terminal has several servers, and a rule may name those that it concerns. Rules come from a file
(`SAMPLE_FAULTS`) or are posted to `/_control/faults`.
"""

import fnmatch
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

KINDS = frozenset(
    {
        "timeout",  # accept, then stay silent
        "status",  # args: code (403, 429, 456, 500, 501, 503), body?
        "reset",  # RST instead of an answer
        "truncate",  # args: keep (fraction or bytes) of the body, then close
        "html",  # an HTML page with status 200 instead of the format
        "empty",  # status 200 (or a valid frame) with an empty body
        "garbage",  # bytes in the wrong encoding / random bytes
        "slow",  # args: bytes_per_second
        "dead",  # terminal protocol: answers `0000` to every data call; with `servers` those alone
        "cut_list",  # args: rows=100: a list ends early while its count stays
        "lots_for_shares",  # args: board='star' ...: volume of one board in the other unit
        "wrong_instrument",  # args: serve='sh000001', under='000001': an index under a stock's code
        "late_record",  # terminal: args code, days=1: an ex-right comes so many trade dates after its ex-date
        "stale_day",  # the newest trade date is missing, the day before is served in its place; args: cached?
        "negative_price",  # a price below zero (as additive adjusted series have)
        "no_series",  # an answer with the quote of a security and no series (Tencent's bars)
        "swap_open_close",  # parser-blind: columns exchanged
        "unregistered",  # a page instead of data until the visitor has registered (chinamoney)
        "unknown_report",  # args: report: the data centre's newer dialect does not know it (9501)
        "untidy_rows",  # args: every=40, day: one row of a report in so many twice, as many half-filled
        "override_bar",  # args: code, date, close (...): the upstream corrects a bar
        # applied to the rows of the finished answer (`corrupted_responses`); the terminal knows those with *
        "cut_rows",  # args: counted: the first half of every list
        "double_rows",  # * every row of every list twice
        "prices_x100",  # * every number with decimals a hundredfold
        "volumes_x100",  # every whole number from 10,000 on a hundredfold
        "shift_columns",  # * figures one column further
        "swap_rows",  # under every name the figures of the next one
        "zero_row",  # * args: code: its figures are zeros
        "spoil_rows",  # args: rows=1, how='text'/'null'/'repeat', least=2: that many rows of every list
        "set_fields",  # args: match, fields: JSON objects with the values of `match` get those of `fields`
    }
)


@dataclass(frozen=True)
class Fault:
    """The change that a responder makes to one answer."""

    kind: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Rule:
    """Matches calls by upstream and call name (shell patterns); fires on occurrences
    `first`..`first+count-1` (1-based; count 0 = for ever). `servers`: numbers of the terminal's servers, from
    1; none = whichever server is asked."""

    upstream: str
    call: str
    fault: Fault
    first: int = 1
    count: int = 0
    seen: int = 0
    servers: frozenset[int] = frozenset()

    def hit(self, upstream: str, call: str, server: int) -> bool:
        if self.servers and server not in self.servers:
            return False
        if not (fnmatch.fnmatch(upstream, self.upstream) and fnmatch.fnmatch(call, self.call)):
            return False
        self.seen += 1
        return self.seen >= self.first and (self.count == 0 or self.seen < self.first + self.count)


class FaultPlan:
    """The rules in force. Thread-safe; deterministic for a given order of calls."""

    def __init__(self, rules: list[Rule] | None = None) -> None:
        self._lock = threading.Lock()
        self._rules = list(rules or [])

    def take(self, upstream: str, call: str, server: int = 0) -> Fault | None:
        """The fault for this request, if any; the first rule that fires wins. `server`: number of the
        terminal server that is asked, 0 for an upstream with one address."""
        with self._lock:
            hits = [rule.fault for rule in self._rules if rule.hit(upstream, call, server)]
        return hits[0] if hits else None

    def documents(self) -> list[dict[str, Any]]:
        """The rules in force in their JSON form, with the number of calls that each has seen."""
        with self._lock:
            return [
                {
                    "upstream": rule.upstream, "call": rule.call, "kind": rule.fault.kind,
                    "args": dict(rule.fault.args), "first": rule.first, "count": rule.count,
                    "seen": rule.seen, "servers": sorted(rule.servers),
                }
                for rule in self._rules
            ]  # fmt: skip

    def clear(self) -> None:
        with self._lock:
            self._rules = []

    def replace(self, documents: list[dict[str, Any]]) -> None:
        """Install rules from their JSON form: {upstream, call, kind, args?, first?, count?,
        servers?}."""
        rules = []
        for document in documents:
            kind = str(document["kind"])
            if kind not in KINDS:
                raise ValueError(f"kind: unknown fault {kind!r}, one of {', '.join(sorted(KINDS))}")
            rules.append(
                Rule(
                    upstream=str(document.get("upstream", "*")),
                    call=str(document.get("call", "*")),
                    fault=Fault(kind, dict(document.get("args", {}))),
                    first=int(document.get("first", 1)),
                    count=int(document.get("count", 0)),
                    servers=frozenset(int(one) for one in document.get("servers", ())),
                )
            )
        with self._lock:
            self._rules = rules
