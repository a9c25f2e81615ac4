"""A real SMTP server on loopback with TLS, and ways in which it misbehaves."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "robot", "correct horse"


@dataclass
class Inbox:
    """Handler of the server. `answer`: its reply to a complete mail; None: it closes the connection
    instead."""

    answer: str | None = "250 OK"
    refuses: str = ""
    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, to: str, options: Any
    ) -> str:
        if to == self.refuses:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        mail = message_from_bytes(content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        if self.answer is None:
            assert server.transport is not None
            server.transport.abort()
            return "250 never arrives"
        return self.answer


def _login(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    known = isinstance(data, LoginPassword) and (data.login, data.password) == (
        USER.encode(),
        PASSWORD.encode(),
    )
    return AuthResult(success=known)


@contextmanager
def smtp_server(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    inbox: Inbox,
    *,
    implicit: bool = False,
    trusted: bool = True,
) -> Iterator[int]:
    """The port. `trusted`: its certificate is of an authority that this process trusts."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    file = tmp_path / "authority.pem"
    (authority if trusted else trustme.CA()).cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    tls: dict[str, Any] = {"ssl_context": context} if implicit else {"tls_context": context}
    if not implicit:
        tls["require_starttls"] = True
    controller = Controller(
        inbox,
        hostname="127.0.0.1",
        port=_free_port(),
        authenticator=_login,
        auth_require_tls=False,
        **tls,
    )
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
