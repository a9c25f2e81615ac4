"""The mail server as administrators set it, and mails that are sent at once: tests and welcome mails."""

import logging
from collections.abc import Callable
from email.message import EmailMessage
from typing import Any

from core.errors import InputError, PlatformError
from resources.mail import messages
from resources.mail.client import MailError, send
from resources.mail.settings import PASSWORD_KEY, SMTP_KEY, MailSettings, mail_settings
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.framework.user import User
from serving_api.settings.schemas import SmtpConfigChange
from serving_api.settings.stored import Document, StoredDocuments

SENT = "已发送"
SAVED = "已保存"
logger = logging.getLogger(__name__)


class Mail:
    """The mail settings of one app; read again at every use, so that several processes agree."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._documents = StoredDocuments(state, (SMTP_KEY,), (PASSWORD_KEY,))

    async def settings(self) -> MailSettings:
        return self._of(await self._documents.read())

    def _of(self, documents: dict[str, Document]) -> MailSettings:
        password = str(documents[PASSWORD_KEY].get("password") or "")
        return mail_settings(self._state.settings, documents[SMTP_KEY], password)

    async def change(self, requested: SmtpConfigChange, by: str) -> None:
        """Raises InputError for values that the environment fixes differently, and for another server without
        its password: the stored one is sent to the server that it was given for."""
        explicit = self._state.settings.explicit
        fixed: dict[str, tuple[str, Any]] = {
            "port": ("smtp_port", requested.port),
            "enabled": ("enable_email_notification", requested.enabled),
        }
        for name, (setting, value) in fixed.items():
            if setting in explicit and getattr(self._state.settings, setting) != value:
                raise InputError(name, f"is fixed by the environment ({setting.upper()}); change it there")

        def merged(stored: dict[str, Document]) -> dict[str, Document]:
            plain = requested.model_dump(exclude={"password"})
            password, before = stored[PASSWORD_KEY], stored[SMTP_KEY]
            if requested.password:
                password = {"password": requested.password}
            elif any(before.get(name) != plain[name] for name in ("host", "port")):
                if password and requested.user:
                    raise InputError("password", "the mail server is another one: give its password")
                password = {}
            return {SMTP_KEY: plain, PASSWORD_KEY: password}

        await self._documents.change(merged, by)

    async def test(self, to: str) -> dict[str, Any]:
        """Sends a test mail now, whether mails are switched on or not: it tests the configuration. {ok,
        message}."""
        settings = await self.settings()
        return await self._sent(settings, lambda: messages.test_mail(settings.from_addr, to, self._now()))

    async def test_own_sender(self) -> dict[str, Any]:
        """Sends to the configured sender only. {ok, message, skipped?}."""
        settings = await self.settings()
        if settings.off:
            return {"ok": True, "skipped": True, "message": f"未发送：{settings.off}"}
        return await self.test(settings.from_addr)

    async def welcome(self, user: User) -> None:
        """Runs in the background after a registration: a mail that cannot be sent is only logged."""
        try:
            settings = await self.settings()
            if settings.off:
                logger.info("no welcome mail: %s", settings.off)
                return
            mail = messages.welcome(settings.from_addr, user.email, user.username, self._now())
            await off_loop(send, settings, mail)
        except PlatformError as error:
            logger.warning("no welcome mail: %s", error.message)

    async def _sent(self, settings: MailSettings, make: Callable[[], EmailMessage]) -> dict[str, Any]:
        if settings.missing:
            return {"ok": False, "message": settings.missing}
        try:
            await off_loop(send, settings, make())
        except MailError as error:
            return {"ok": False, "message": error.message}
        return {"ok": True, "message": SENT}

    def _now(self) -> Any:
        return self._state.system.local()
