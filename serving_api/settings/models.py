"""Model providers: addresses and models in one document, keys sealed in another."""

from typing import Any
from urllib.parse import urlsplit

from core.errors import InputError
from resources.models.profiles import PRESETS
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY
from serving_api.framework.state import State
from serving_api.settings.schemas import MOST_PROVIDERS, ModelConfigChange, ModelProviderChange
from serving_api.settings.stored import Document, StoredDocuments


class Models:
    """The stored providers."""

    def __init__(self, state: State) -> None:
        self._documents = StoredDocuments(state, (PROVIDERS_KEY,), (KEYS_KEY,))

    async def shown(self) -> dict[str, Any]:
        return _shown(await self._documents.read())

    async def change(self, requested: ModelConfigChange, by: str) -> dict[str, Any]:
        """Merge providers. Raises InputError when `active` or `fallback` name an unknown provider."""
        return _shown(await self._documents.change(lambda stored: _merged(stored, requested), by))


def _merged(stored: dict[str, Document], requested: ModelConfigChange) -> dict[str, Document]:
    chosen = stored[PROVIDERS_KEY]
    providers: Document = dict(chosen.get("providers", {}))
    keys = dict(stored[KEYS_KEY])
    for name, change in requested.providers.items():
        if change is None:
            providers.pop(name, None)
            keys.pop(name, None)
            continue
        before = providers.get(name, {})
        providers[name] = {**before, **_given(change)}
        if not change.api_key and name in keys and _server(providers[name]) != _server(before):
            raise InputError("api_key", f"{name} has another address: give the key for it again")
        if change.api_key:
            keys[name] = change.api_key
    if len(providers) > MOST_PROVIDERS:
        raise InputError("providers", f"at most {MOST_PROVIDERS} can be stored")
    active = requested.active if requested.active is not None else chosen.get("active")
    fallback = requested.fallback if requested.fallback is not None else chosen.get("fallback", [])
    # A removed provider is also removed from the earlier choice; a new choice must name existing ones.
    if requested.active is None and active not in providers:
        active = None
    if requested.fallback is None:
        fallback = [name for name in fallback if name in providers]
    _check("active", [] if active is None else [active], providers)
    _check("fallback", fallback, providers)
    return {PROVIDERS_KEY: {"providers": providers, "active": active, "fallback": fallback}, KEYS_KEY: keys}


def _server(provider: Document) -> tuple[str, str]:
    """(scheme, host and port) that the provider's key is sent to."""
    address = urlsplit(provider.get("base_url") or "")
    return address.scheme, address.netloc.lower()


def _given(change: ModelProviderChange) -> Document:
    return change.model_dump(exclude={"api_key"}, exclude_none=True)


def _check(name: str, asked: list[str], providers: Document) -> None:
    unknown = next((one for one in asked if one not in providers), None)
    if unknown is not None:
        known = ", ".join(sorted(providers)) or "none"
        raise InputError(name, f"{unknown!r} is no stored provider; stored: {known}")


def _shown(documents: dict[str, Document]) -> dict[str, Any]:
    chosen, keys = documents[PROVIDERS_KEY], documents[KEYS_KEY]
    return {
        "providers": {
            name: {
                "base_url": provider.get("base_url"),
                "model": provider.get("model"),
                "has_key": bool(keys.get(name)),
            }
            for name, provider in sorted(chosen.get("providers", {}).items())
        },
        "presets": [
            {name: getattr(preset, name) for name in ("name", "title", "base_url", "model", "needs_key")}
            for preset in PRESETS
        ],
        "active": chosen.get("active"),
        "fallback": chosen.get("fallback", []),
    }
