"""The language model of this API, as currently configured."""

import asyncio
import logging

from core.errors import PlatformError, StorageError
from resources.models.factory import language_models
from resources.models.fallback import ConfiguredModels
from resources.models.protocol import LanguageModel
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY, Provider, configured_providers
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.settings.stored import Document, StoredDocuments

log = logging.getLogger(__name__)


class Model:
    """The models of one app. Settings are read at every use, so that a change is in force at once in every
    process; pauses and failures are remembered while the settings stay the same."""

    def __init__(self, state: State) -> None:
        self._settings = state.settings
        self._monotonic = state.system.monotonic
        self._documents = StoredDocuments(state, (PROVIDERS_KEY,))
        self._keys = StoredDocuments(state, (), (KEYS_KEY,))
        self._providers: tuple[Provider, ...] = ()
        self._models: ConfiguredModels | None = None
        self._changing = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def current(self) -> LanguageModel | None:
        stored = (await self._documents.read())[PROVIDERS_KEY]
        providers = configured_providers(self._settings, stored, await self._stored_keys())
        if providers == self._providers:
            return self._models
        async with self._changing:
            if providers != self._providers:
                made = await off_loop(language_models, self._settings, providers, monotonic=self._monotonic)
                self._retire()
                self._models, self._providers = made, providers
            return self._models

    async def _stored_keys(self) -> Document:
        try:
            return (await self._keys.read())[KEYS_KEY]
        except StorageError:
            raise
        except PlatformError as error:
            log.warning("no stored key of a model provider is used: %s", error.message)
            return {}

    def _retire(self) -> None:
        """Models that are no longer configured: their connections are closed after running answers."""
        models, self._models = self._models, None
        if models is not None:
            task = asyncio.get_running_loop().create_task(models.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


async def model_of(state: State) -> LanguageModel | None:
    """The configured models as one; None when nothing is configured, and the rules answer everything."""
    return await state.part(Model).current()
