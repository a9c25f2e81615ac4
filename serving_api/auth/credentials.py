"""Credentials: hashes of passwords, access tokens, and the lock after failed logins.

Passwords: PBKDF2-HMAC-SHA256, 16-byte salt, 200,000 iterations, 32 bytes, constant-time compare. Tokens: JWT,
HS256; lifetimes go by the machine's clock, never by the market clock: a demo with a frozen clock must not
issue tokens that never expire. Lockout: five failures in a row of one address and name block further logins
for 300 s, and so do twenty of one address or fifty of one name within that time; separate from the global
rate limit, and per process. Attempts of one pair run one after another, and an attempt counts while it runs,
so that parallel guesses cannot bypass the count.
"""

import asyncio
import base64
import hashlib
import hmac
import math
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache

import jwt

from serving_api.framework.error_responses import LOCKED, TooManyAttempts

ITERATIONS = 200_000
SALT_BYTES = 16
KEY_BYTES = 32
_NAME = "pbkdf2_sha256"


def _derive(password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations, KEY_BYTES)


@dataclass(frozen=True)
class Passwords:
    """Makes and checks hashes. Slow on purpose: call it off the event loop."""

    iterations: int = ITERATIONS

    def hash(self, password: str) -> str:
        """`pbkdf2_sha256$<iterations>$<salt>$<key>`, both parts base64."""
        salt = secrets.token_bytes(SALT_BYTES)
        key = _derive(password, salt, self.iterations)
        encoded = [base64.b64encode(part).decode() for part in (salt, key)]
        return "$".join([_NAME, str(self.iterations), *encoded])

    def verify(self, password: str, stored: str | None) -> bool:
        """Whether `password` matches `stored`. Without a stored hash the same work is done, so that the
        response time does not reveal whether a user exists."""
        if stored is None:
            _derive(password, bytes(SALT_BYTES), self.iterations)
            return False
        try:
            name, iterations, salt, key = stored.split("$")
            expected = base64.b64decode(key, validate=True)
            made = _derive(password, base64.b64decode(salt, validate=True), int(iterations))
        except ValueError:
            return False
        return name == _NAME and hmac.compare_digest(made, expected)


MAX_KNOWN = 4096
"""Cached tokens whose signature was verified."""
MOST_ID = 2**63 - 1
"""The largest id that both databases can store."""
CLOCKS_APART_S = 5.0
"""Seconds by which the clock of the issuing machine may be ahead of ours."""
_ALGORITHM = "HS256"
_REQUIRED = ["exp", "iat", "iss", "aud", "sub"]


class Tokens:
    """Issues and reads tokens of one issuer and audience. `wall` returns seconds since the epoch."""

    def __init__(
        self, secret: bytes, *, issuer: str, audience: str, ttl_s: int, wall: Callable[[], float]
    ) -> None:
        self._secret = secret
        self._issuer = issuer
        self._audience = audience
        self.ttl_s = ttl_s
        self._wall = wall
        self._claims = lru_cache(MAX_KNOWN)(self._verified)

    def issue(self, user_id: int, role: str, generation: int) -> str:
        now = int(self._wall())
        claims = {
            "sub": str(user_id),
            "role": role,
            "gen": generation,
            "iat": now,
            "exp": now + self.ttl_s,
            "iss": self._issuer,
            "aud": self._audience,
            "jti": secrets.token_hex(8),
        }
        return jwt.encode(claims, self._secret, algorithm=_ALGORITHM)

    def holder(self, token: str) -> tuple[int, int] | None:
        """(user, generation) of a token whose signature, issuer, audience and times hold; else None."""
        try:
            user_id, generation, begins, expires = self._claims(token)
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError):
            return None
        now = self._wall()
        return (user_id, generation) if begins <= now + CLOCKS_APART_S and expires > now else None

    def _verified(self, token: str) -> tuple[int, int, float, float]:
        """(user, generation, begin, expiry) of a token that we issued: constant, so that a caller's next
        requests need no second verification. Errors are not cached."""
        claims = jwt.decode(
            token,
            self._secret,
            algorithms=[_ALGORITHM],
            issuer=self._issuer,
            audience=self._audience,
            # Times are checked against our own clock.
            options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
        user_id = int(claims["sub"])
        if not 0 < user_id <= MOST_ID:
            raise ValueError("no user has this id")
        begins = max(float(claims["iat"]), float(claims.get("nbf", 0)))
        return user_id, int(claims.get("gen", 0)), begins, float(claims["exp"])


MAX_FAILURES, MAX_OF_ADDRESS, MAX_OF_NAME = 5, 20, 50
LOCK_S = 300
MAX_KEPT = 20_000
"""Counters in memory; the one that was used longest ago goes first."""
Key = tuple[str | None, str | None]
"""(address, name); None: any."""


@dataclass
class _Failures:
    count: int = 0
    first_at: float = 0.0
    running: int = 0
    """attempts whose result is not known yet"""
    locked_until: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass
class Attempt:
    """One login attempt; it counts as failed unless its caller says that it succeeded."""

    succeeded: bool = False


class Lockout:
    """Failures by address and name, by address, and by name. `wall` returns seconds."""

    def __init__(self, wall: Callable[[], float], *, max_kept: int = MAX_KEPT) -> None:
        self._wall = wall
        self._max_kept = max_kept
        self._kept: OrderedDict[Key, _Failures] = OrderedDict()

    @asynccontextmanager
    async def attempt(self, address: str, username: str) -> AsyncIterator[Attempt]:
        """Guards one attempt. Raises TooManyAttempts while locked, before any password is checked. An
        attempt that ends in an unexpected error is not counted."""
        name = username.casefold()
        pair = self._failures((address, name))
        wide = (
            (self._failures((address, None)), MAX_OF_ADDRESS),
            (self._failures((None, name)), MAX_OF_NAME),
        )
        async with pair.turn:
            now = self._wall()
            wait = max(failures.locked_until for failures in (pair, wide[0][0], wide[1][0])) - now
            if wait > 0:
                raise TooManyAttempts(LOCKED, max(1, math.ceil(wait)))
            for failures, limit in wide:
                if failures.count and now - failures.first_at > LOCK_S:
                    failures.count = 0
                if failures.count + failures.running >= limit:
                    raise TooManyAttempts(LOCKED, 1)
            attempt = Attempt()
            for failures, _ in wide:
                failures.running += 1
            try:
                yield attempt
            finally:
                for failures, _ in wide:
                    failures.running -= 1
            if attempt.succeeded:
                pair.count = 0
                return
            for failures, limit in ((pair, MAX_FAILURES), *wide):
                self._count(failures, limit)

    def _count(self, failures: _Failures, limit: int) -> None:
        now = self._wall()
        failures.first_at = failures.first_at if failures.count else now
        failures.count += 1
        if failures.count >= limit:
            failures.count = 0
            failures.locked_until = now + LOCK_S

    def _failures(self, key: Key) -> _Failures:
        failures = self._kept.get(key)
        if failures is None:
            failures = self._kept[key] = _Failures()
            if len(self._kept) > self._max_kept:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return failures
