"""Password hashes: PBKDF2-HMAC-SHA256, 16-byte salt, 200,000 iterations, 32 bytes, constant-time compare."""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass

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
