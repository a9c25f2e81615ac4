"""What is noted of mails that went out, whatever happens in between."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from core.errors import PayloadError
from resources.mail import sent
from resources.mail.client import MailError, MailUnknown
from resources.mail.messages import test_mail as a_mail
from resources.mail.sent import KEEP_DAYS, SentMails
from tests.mail.test_client import NOW, account

DAY = date(2026, 11, 23)
MAIL = a_mail("robot@example.com", "desk@example.com", NOW)


def test_a_key_is_free_again_only_after_a_sure_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[Exception | None] = [MailError("refused"), MailUnknown("gone"), None]

    def send(*_: object) -> None:
        end = ends.pop(0)
        if end is not None:
            raise end

    monkeypatch.setattr(sent, "send", send)
    mails = SentMails(tmp_path)
    with pytest.raises(MailError, match="refused"):
        mails.send_once("report", account(1), MAIL, today=DAY)
    with pytest.raises(MailUnknown):
        mails.send_once("report", account(1), MAIL, today=DAY)
    assert not mails.send_once("report", account(1), MAIL, today=DAY)
    assert mails.send_once("another", account(1), MAIL, today=DAY)
    assert not SentMails(tmp_path).send_once("another", account(1), MAIL, today=DAY)


def test_old_notes_go_and_a_foreign_file_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sent, "send", lambda *_: None)
    mails = SentMails(tmp_path)
    assert mails.send_once("old", account(1), MAIL, today=DAY)
    assert mails.send_once("new", account(1), MAIL, today=DAY + timedelta(days=KEEP_DAYS + 1))
    file = tmp_path / "mail" / "sent.json"
    assert ("old" in file.read_text(), "new" in file.read_text()) == (False, True)
    for foreign in ("no json", "[1]"):
        file.write_text(foreign)
        with pytest.raises(PayloadError):
            mails.send_once("third", account(1), MAIL, today=DAY)
        assert file.read_text() == foreign
