"""How mails leave this installation: what an administrator stored, below what the environment fixes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.secret_files import settings_box
from resources.settings import Settings

IMPLICIT_TLS_PORT = 465
SMTP_KEY = "mail.smtp"
"""Where the server's settings are stored (JSON); the password is stored sealed."""
PASSWORD_KEY = "mail.smtp.password"  # noqa: S105  the name of a stored value


@dataclass(frozen=True)
class MailSettings:
    """One SMTP account. `enabled` switches all mails but the tests that an administrator asks for."""

    host: str = ""
    port: int = IMPLICIT_TLS_PORT
    user: str = ""
    password: str = field(default="", repr=False)
    from_addr: str = ""
    enabled: bool = False

    @property
    def implicit_tls(self) -> bool:
        """TLS from the first byte; on every other port the connection is upgraded by STARTTLS."""
        return self.port == IMPLICIT_TLS_PORT

    @property
    def missing(self) -> str | None:
        """Why nothing can be sent at all, or None."""
        if not self.host:
            return "no SMTP server is configured"
        if not self.from_addr:
            return "no sender address is configured"
        return None

    @property
    def off(self) -> str | None:
        """Why mails are skipped, or None."""
        return self.missing or (None if self.enabled else "mails are switched off")


def mail_settings(settings: Settings, stored: Mapping[str, Any], password: str) -> MailSettings:
    """`stored`: the document of `SMTP_KEY`. Port and switch of the environment win over stored ones."""
    port = settings.smtp_port
    if "smtp_port" not in settings.explicit:
        port = int(stored.get("port") or port)
    enabled = settings.enable_email_notification
    if "enable_email_notification" not in settings.explicit:
        enabled = bool(stored.get("enabled", enabled))
    return MailSettings(
        host=str(stored.get("host") or ""),
        port=port,
        user=str(stored.get("user") or ""),
        password=password,
        from_addr=str(stored.get("from_addr") or ""),
        enabled=enabled,
    )


# -- The mail settings of this installation as they are stored now.


def stored_mail_settings(settings: Settings, stored: Mapping[str, str]) -> MailSettings:
    """`stored`: the values of `sys_config` by key. Raises PlatformError when the password was sealed with
    another key."""
    document: dict[str, Any] = json.loads(stored[SMTP_KEY]) if SMTP_KEY in stored else {}
    password = ""
    if PASSWORD_KEY in stored:
        opened = json.loads(settings_box(settings.data_path).unseal(stored[PASSWORD_KEY]))
        password = str(opened.get("password") or "")
    return mail_settings(settings, document, password)
