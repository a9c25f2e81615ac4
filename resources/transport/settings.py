"""The numbers of the transport: pacing, breakers, retry, pool. Defaults are the specification's.

A *family* names what one limit covers: all hosts of the portal are one family, because a
block hits all of them at once. A family without a rule of its own gets the general random pause.
"""

from dataclasses import dataclass, fields

from resources.settings import Settings


@dataclass(frozen=True)
class BreakerRule:
    """Opens after `threshold` consecutive failures (or one refusal), probes again after `cooldown_sec`."""

    name: str
    threshold: int
    cooldown_sec: float


@dataclass(frozen=True)
class FamilyRule:
    """How the calls of one family are spaced and guarded.

    Two calls of one `pace` group start at least `gap` + random(`jitter_min`..`jitter_max`) seconds
    apart. `upstream` is the name under which the calls are counted.
    """

    upstream: str
    pace: str
    gap: float
    jitter_min: float
    jitter_max: float
    breaker: BreakerRule | None = None
    most_calls: int | None = None
    """Calls within `window_sec` of the whole deployment; None: as many as the gaps allow."""
    window_sec: float = 0.0


PUSH2HIS_CALLS = 10
"""Calls of history after which the portal's host for it cuts the connection."""
EM_BREAKER = "em_breaker"
PUSH2HIS_BREAKER = "push2his_breaker"
PUSH2EX_BREAKER = "push2ex_breaker"
EXCHANGE_BREAKER = "exchange_breaker"
SEARCH_BREAKER = "search_breaker"

# One breaker for the exchange client, however many exchange sites it talks to.
_EXCHANGE_FAMILIES = frozenset({"exchange", "sse", "szse", "bse"})


@dataclass(frozen=True)
class TransportSettings:
    """All seconds. `pacing` False (mock mode) sets every pause to 0; breakers stay in force."""

    pacing: bool = True
    em_min_interval: float = 0.3
    em_jitter_min: float = 0.1
    em_jitter_max: float = 0.5
    tencent_min_interval: float = 0.2
    xq_min_interval: float = 1.0
    # One call a second is tolerated there; bursts are answered without rows, then with 403.
    cninfo_min_interval: float = 1.0
    pause_min: float = 0.3
    pause_max: float = 1.0

    em_breaker_failure_threshold: int = 4
    em_breaker_cooldown_sec: float = 120.0
    push2his_failure_threshold: int = 2
    push2his_cooldown_sec: float = 600.0
    push2his_window_sec: float = 600.0
    push2ex_failure_threshold: int = 2
    push2ex_cooldown_sec: float = 30.0
    exchange_failure_threshold: int = 5
    exchange_cooldown_sec: float = 600.0
    search_failure_threshold: int = 2
    search_cooldown_sec: float = 600.0
    # A process that died while probing must not keep the breaker half-open for ever.
    probe_lease_sec: float = 45.0

    host_failure_threshold: int = 2
    host_cooldown_sec: float = 30.0

    retry_budget_max: int = 6
    retry_attempts: int = 3
    retry_base_sec: float = 0.5
    retry_cap_sec: float = 8.0
    # An upstream that asks for a longer pause than this is not asked again within the call.
    retry_after_max_sec: float = 30.0

    http_max_connections: int = 20
    http_max_keepalive: int = 10
    http_keepalive_expiry: float = 30.0
    http_timeout: float = 10.0
    http_connect_timeout: float = 5.0
    max_body_bytes: int = 32 * 1024 * 1024

    def breakers(self) -> tuple[BreakerRule, ...]:
        """Every breaker that exists, in the order in which snapshots show them."""
        return (
            BreakerRule(EM_BREAKER, self.em_breaker_failure_threshold, self.em_breaker_cooldown_sec),
            BreakerRule(PUSH2EX_BREAKER, self.push2ex_failure_threshold, self.push2ex_cooldown_sec),
            BreakerRule(EXCHANGE_BREAKER, self.exchange_failure_threshold, self.exchange_cooldown_sec),
            BreakerRule(SEARCH_BREAKER, self.search_failure_threshold, self.search_cooldown_sec),
            BreakerRule(PUSH2HIS_BREAKER, self.push2his_failure_threshold, self.push2his_cooldown_sec),
        )

    def family(self, family: str) -> FamilyRule:
        """The rule of a family; any name is allowed."""
        main, anomaly, exchange, search, history = self.breakers()
        if family in {"eastmoney", "push2ex", "em_search", "push2his"}:
            return FamilyRule(
                upstream="eastmoney",
                pace="eastmoney",
                gap=self.em_min_interval,
                jitter_min=self.em_jitter_min,
                jitter_max=self.em_jitter_max,
                breaker={"push2ex": anomaly, "em_search": search, "push2his": history}.get(family, main),
                most_calls=PUSH2HIS_CALLS if family == "push2his" else None,
                window_sec=self.push2his_window_sec,
            )
        if family == "tencent":
            return FamilyRule(family, family, self.tencent_min_interval, 0.0, 0.0)
        if family == "xueqiu":
            return FamilyRule(family, family, self.xq_min_interval, 0.0, 0.0)
        if family == "cninfo":
            return FamilyRule(family, family, self.cninfo_min_interval, 0.0, self.pause_min)
        if family == "tdx":
            return FamilyRule(family, family, 0.0, 0.0, 0.0)
        return FamilyRule(
            upstream=family,
            pace=family,
            gap=0.0,
            jitter_min=self.pause_min,
            jitter_max=self.pause_max,
            breaker=exchange if family in _EXCHANGE_FAMILIES else None,
        )

    def seconds(self, family: str, calls: int) -> float:
        """Least seconds that so many calls of a family take, one after the other: its pauses, and what its
        limit within a time makes one wait."""
        if not self.pacing:
            return 0.0
        rule = self.family(family)
        paused = calls * (rule.gap + (rule.jitter_min + rule.jitter_max) / 2)
        windows = (calls - 1) // rule.most_calls if rule.most_calls and calls else 0
        return max(paused, windows * rule.window_sec)


def transport_settings(settings: Settings) -> TransportSettings:
    """The transport's numbers from the settings of the same names. Mock mode does not pace, and a calm sample
    market takes any number of calls."""
    names = {row.name for row in fields(settings)} & {row.name for row in fields(TransportSettings)}
    values = {name: getattr(settings, name) for name in names}
    if settings.data_source == "mock":
        values["pacing"] = False
        if settings.sample_state == "calm":
            values["push2his_window_sec"] = 0.0
    return TransportSettings(**values)
