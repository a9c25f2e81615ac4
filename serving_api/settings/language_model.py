"""The language model of this API, as currently configured."""

import asyncio
import logging

from core.errors import (
    Declined,
    InputError,
    PayloadError,
    Permanent,
    PlatformError,
    QuotaExhausted,
    Refused,
    StorageError,
    WrongName,
)
from resources.models.factory import language_models
from resources.models.fallback import ConfiguredModels
from resources.models.protocol import LanguageModel
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY, Provider, configured_providers
from resources.models.trying import Tried, tried
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.settings.stored import Document, StoredDocuments

log = logging.getLogger(__name__)


_WHY: tuple[tuple[type[PlatformError], str], ...] = (
    (QuotaExhausted, "模型账户额度已用尽或欠费，请管理员充值或更换模型"),
    (Refused, "模型凭证无效或无权限，请管理员检查密钥"),
    (WrongName, "没有这个模型，或模型地址不对，请管理员检查设置"),
    (Declined, "模型服务商的内容审查拒绝了这个问题"),
    (Permanent, "模型不接受这样的请求，请管理员测试模型设置"),
    (PayloadError, "模型的回答不能读取"),
)
AWAY = "模型暂时不可用"


def why_no_model(error: PlatformError) -> str:
    """Why no model answered, for its reader: 暂时 only where waiting helps."""
    return next((why for family, why in _WHY if isinstance(error, family)), AWAY)


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

    async def tried(self, name: str | None) -> Tried:
        """One question to a provider, by default the first. Raises InputError where it cannot be asked."""
        stored = dict((await self._documents.read())[PROVIDERS_KEY])
        if name is not None:
            stored |= {"active": name, "fallback": []}
        providers = configured_providers(self._settings, stored, await self._stored_keys())
        provider = next((one for one in providers if name in (None, one.name)), None)
        if provider is None:
            raise InputError("provider", "not configured, or without its key, address or model")
        return await tried(provider, self._monotonic)

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
