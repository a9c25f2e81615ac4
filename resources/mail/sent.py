"""Which mails of a day were handed to the server: what was accepted is not sent a second time.

A mail is noted before it is sent and forgotten only when the server has surely refused it. A process that is
killed in between leaves it noted: one mail less is better than one twice.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from email.message import EmailMessage
from pathlib import Path

from core.errors import PayloadError
from resources.mail.client import MailError, MailUnknown, send
from resources.mail.settings import MailSettings
from resources.shared_json import locked, replace_json

KEEP_DAYS = 90


class SentMails:
    """Notes of one installation: a JSON object {key: day} in `mail/sent.json` of the data folder."""

    def __init__(self, data_path: Path) -> None:
        self._path = data_path / "mail" / "sent.json"

    def has(self, key: str) -> bool:
        """Whether a mail of this key went out before."""
        return key in self._read()

    def send_once(self, key: str, settings: MailSettings, message: EmailMessage, *, today: date) -> bool:
        """False when a mail of this key went out before. Raises MailError (the key is free again),
        MailUnknown (it is not), StorageError."""
        if not self._note(key, today):
            return False
        try:
            send(settings, message)
        except MailUnknown:
            raise
        except MailError:
            self._forget(key)
            raise
        return True

    def _note(self, key: str, today: date) -> bool:
        with self._locked() as noted:
            if key in noted:
                return False
            oldest = (today - timedelta(days=KEEP_DAYS)).isoformat()
            for old in [one for one, day in noted.items() if day < oldest]:
                del noted[old]
            noted[key] = today.isoformat()
        return True

    def _forget(self, key: str) -> None:
        with self._locked() as noted:
            noted.pop(key, None)

    @contextmanager
    def _locked(self) -> Iterator[dict[str, str]]:
        """The notes, written back at the end, while no other process has them."""
        with locked(self._path.parent):
            noted = self._read()
            before = dict(noted)
            yield noted
            if noted != before:
                replace_json(self._path, noted)

    def _read(self) -> dict[str, str]:
        """Raises PayloadError for a file that is none of ours: it must not be overwritten."""
        try:
            loaded = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise PayloadError(f"{self._path.name} holds no notes of mails") from error
        if not isinstance(loaded, dict):
            raise PayloadError(f"{self._path.name} holds no notes of mails")
        return loaded
