"""Access tokens (JWT, HS256).

Lifetimes go by the machine's clock, never by the market clock: a demo with a frozen clock must not
issue tokens that never expire.
"""

import secrets
from collections.abc import Callable
from functools import lru_cache

import jwt

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
            user_id, generation, issued, expires = self._claims(token)
        except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError):
            return None
        now = self._wall()
        return (user_id, generation) if issued <= now + CLOCKS_APART_S and expires > now else None

    def _verified(self, token: str) -> tuple[int, int, float, float]:
        """(user, generation, issued, expiry) of a token that we issued: constant, so that a caller's next
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
        return user_id, int(claims.get("gen", 0)), float(claims["iat"]), float(claims["exp"])
