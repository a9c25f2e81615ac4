"""Mails reach a real server over TLS; every refusal says where it came from, and nothing goes twice."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import pytest

from resources.mail import client, settings
from resources.mail.client import MailError, MailUnknown, send
from resources.mail.messages import welcome
from resources.mail.settings import MailSettings
from tests.mail.server import PASSWORD, USER, Inbox, smtp_server

NOW = datetime(2026, 11, 23, 9, 30)


def account(port: int, **how: object) -> MailSettings:
    values = {"host": "localhost", "user": USER, "password": PASSWORD, "from_addr": "robot@example.com"}
    return MailSettings(**{**values, "port": port, "enabled": True, **how})  # type: ignore[arg-type]


def mail(to: str = "reader@example.com"):  # type: ignore[no-untyped-def]
    return welcome("robot@example.com", to, "读者<b>", NOW)


@pytest.mark.parametrize("implicit", [False, True])
def test_a_mail_arrives_as_text_and_html(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, implicit: bool
) -> None:
    inbox = Inbox()
    with smtp_server(tmp_path, monkeypatch, inbox, implicit=implicit) as port:
        if implicit:
            monkeypatch.setattr(settings, "IMPLICIT_TLS_PORT", port)
        send(account(port), mail())

    (got,) = inbox.mails
    assert (got["To"], got["From"]) == ("reader@example.com", "robot@example.com")
    assert got["Date"] == "Mon, 23 Nov 2026 09:30:00 +0800"
    text, html = got.get_body(("plain",)), got.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "读者<b>，您好" in text.get_content()
    assert "读者&lt;b&gt;，您好" in html.get_content()


def test_every_refusal_says_at_which_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inbox = Inbox(refuses="nobody@example.com")
    with smtp_server(tmp_path, monkeypatch, inbox) as port:
        with pytest.raises(MailError, match="the login"):
            send(account(port, password="wrong"), mail())
        with pytest.raises(MailError, match="refused the recipient"):
            send(account(port), mail("nobody@example.com"))
        inbox.answer = "554 spam"
        with pytest.raises(MailError, match="refused the mail"):
            send(account(port), mail())
    with pytest.raises(MailError, match="cannot be reached"):
        send(account(port), mail())


def test_a_wrong_certificate_is_refused_before_the_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = Inbox()
    with (
        smtp_server(tmp_path, monkeypatch, inbox, trusted=False) as port,
        pytest.raises(MailError, match="certificate of localhost"),
    ):
        send(account(port), mail())
    assert inbox.mails == []


def test_accepted_and_perhaps_accepted_mails_are_distinguished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = Inbox(answer=None)
    with smtp_server(tmp_path, monkeypatch, inbox) as port, pytest.raises(MailUnknown):
        send(account(port), mail())
    assert len(inbox.mails) == 1


@contextmanager
def listener(greeting: bytes) -> Iterator[int]:
    """A server that says one thing and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        kept: list[socket.socket] = []

        def answer() -> None:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            kept.append(peer)
            peer.sendall(greeting)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield int(server.getsockname()[1])
        for peer in kept:
            peer.close()


def test_a_silent_server_and_one_without_tls_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    with listener(b"") as port, pytest.raises(MailError, match="did not answer within"):
        send(account(port, host="127.0.0.1"), mail(), timeout_s=0.3)
    with (
        listener(b"220 hello\r\n250 hello\r\n") as port,
        pytest.raises(MailError, match="offers no STARTTLS"),
    ):
        send(account(port, host="127.0.0.1"), mail(), timeout_s=2)


def test_nothing_is_sent_without_a_server() -> None:
    with pytest.raises(MailError, match="no SMTP server"):
        send(MailSettings(), mail())
    assert client.TIMEOUT_S == 10
