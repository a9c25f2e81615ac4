"""The mail settings of this installation as they are stored now."""

import json
from collections.abc import Mapping
from typing import Any

from resources.mail.settings import PASSWORD_KEY, SMTP_KEY, MailSettings, mail_settings
from resources.secret_files import settings_box
from resources.settings import Settings


def stored_mail_settings(settings: Settings, stored: Mapping[str, str]) -> MailSettings:
    """`stored`: the values of `sys_config` by key. Raises PlatformError when the password was sealed with
    another key."""
    document: dict[str, Any] = json.loads(stored[SMTP_KEY]) if SMTP_KEY in stored else {}
    password = ""
    if PASSWORD_KEY in stored:
        opened = json.loads(settings_box(settings.data_path).unseal(stored[PASSWORD_KEY]))
        password = str(opened.get("password") or "")
    return mail_settings(settings, document, password)
