"""The model providers of this installation as they are stored now, for processes that read `sys_config`."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from core.errors import PlatformError
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY, Provider, configured_providers
from resources.secret_files import settings_box
from resources.settings import Settings

log = logging.getLogger(__name__)


def stored_providers(settings: Settings, stored: Mapping[str, str]) -> tuple[Provider, ...]:
    """`stored`: the values of `sys_config` by key. Values that cannot be read (such as keys that were sealed
    with another secret) count as not set, with a log record."""
    box = settings_box(settings.data_path)
    return configured_providers(
        settings, _document(PROVIDERS_KEY, stored, lambda text: text), _document(KEYS_KEY, stored, box.unseal)
    )


def _document(key: str, stored: Mapping[str, str], opened: Callable[[str], str]) -> dict[str, Any]:
    text = stored.get(key)
    if not text:
        return {}
    try:
        document = json.loads(opened(text))
    except PlatformError as error:
        log.warning("%s is left out: %s", key, error.message)
        return {}
    except ValueError:
        log.warning("%s is left out: it cannot be read", key)
        return {}
    return document if isinstance(document, dict) else {}
