"""Secrets of this installation: random bytes in files of mode 600, and texts sealed with them."""

import base64
import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from core.errors import PlatformError

SECRET_BYTES = 32


def load_secret(path: Path) -> bytes:
    """The secret of this file; made on first use (folder 700, file 600), by whichever process comes first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    if not path.exists():
        aside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link fails when another process was first; a rename would replace its secret.
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    path.chmod(0o600)
    secret = path.read_bytes()
    if len(secret) < SECRET_BYTES:
        raise PlatformError(f"{path.name} holds {len(secret)} bytes, {SECRET_BYTES} are needed")
    return secret


class SecretBox:
    """Seals texts for storage in the database, with a key that is not in the database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: Fernet | None = None

    def seal(self, text: str) -> str:
        return self._fernet().encrypt(text.encode()).decode("ascii")

    def unseal(self, sealed: str) -> str:
        """Raises PlatformError when it was sealed with another key, or changed since."""
        try:
            return self._fernet().decrypt(sealed.encode("ascii", "replace")).decode()
        except InvalidToken as error:
            raise PlatformError(
                f"a stored secret cannot be read with the key in {self._path.name}: enter it again"
            ) from error

    def _fernet(self) -> Fernet:
        if self._known is None:
            key = load_secret(self._path)[:SECRET_BYTES]
            self._known = Fernet(base64.urlsafe_b64encode(key))
        return self._known


def settings_box(data_path: Path) -> SecretBox:
    """The box of what administrators enter through the API."""
    return SecretBox(data_path / "secrets" / "settings_key")
