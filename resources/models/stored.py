"""The model providers of this installation as they are stored now, for processes that read `sys_config`."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from resources.errors import PlatformError
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY, Provider, configured_providers
from resources.secret_files import settings_box
from resources.settings import Settings

log = logging.getLogger(__name__)


def stored_providers(settings: Settings, stored: Mapping[str, str]) -> tuple[Provider, ...]:
    """`stored`: the values of `sys_config` by key. Keys that were sealed with another secret count as not
    entered, and the log says so."""
    document: dict[str, Any] = json.loads(stored[PROVIDERS_KEY]) if stored.get(PROVIDERS_KEY) else {}
    keys: dict[str, Any] = {}
    if stored.get(KEYS_KEY):
        try:
            keys = json.loads(settings_box(settings.data_path).unseal(stored[KEYS_KEY]))
        except PlatformError as error:
            log.warning("no stored key of a model provider is used: %s", error.message)
    return configured_providers(settings, document, keys)
