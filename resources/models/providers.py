"""Which models may be asked, and in which order: the environment above what administrators stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from resources.models.profiles import OPENAI_ADDRESS, preset_address
from resources.settings import Settings

PROVIDERS_KEY = "models.providers"
"""Where the providers are stored (JSON: providers, active, fallback); their keys are stored sealed."""
KEYS_KEY = "models.keys"
ANTHROPIC, OPENAI = "anthropic", "openai"
TIMEOUT_S = 60.0
"""Client timeout (specification, AI limits)."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Provider:
    """One model behind one address. `kind` is the wire protocol; `base_url` is empty for the address that
    the official library knows; several `keys` make a pool."""

    name: str
    kind: Literal["anthropic", "openai"]
    model: str
    base_url: str = ""
    keys: tuple[str, ...] = field(default=(), repr=False)

    @property
    def local(self) -> bool:
        """On this machine, where servers of models commonly ask for no key."""
        return urlsplit(self.base_url).hostname in LOOPBACK

    @property
    def usable(self) -> bool:
        return bool(self.model and (self.keys or self.local) and (self.kind == "anthropic" or self.base_url))


def configured_providers(
    settings: Settings, stored: Mapping[str, Any], keys: Mapping[str, Any]
) -> tuple[Provider, ...]:
    """The usable ones in the order in which they are asked; () when there is none. `stored`: the document of
    PROVIDERS_KEY, `keys`: that of KEYS_KEY (key or comma list by provider).

    First the active one; where none is chosen, what the environment has, then what is stored, by name. After
    it the stored fallbacks, then the other ones of the environment."""
    known = _stored(settings, stored, keys)
    of_environment = _of_environment(settings, known)
    known |= {one.name: one for one in of_environment}
    names = [name for name in (stored.get("active"),) if name]
    if not names:
        either = [*(one.name for one in of_environment), *sorted(known)]
        names = [name for name in either if known[name].usable][:1]
    names += [*stored.get("fallback", []), *(one.name for one in of_environment)]
    ordered: list[Provider] = []
    for name in dict.fromkeys(names):
        if name in known:
            ordered += _with_fallback_models(known[name], settings)
    return tuple(one for one in ordered if one.usable)


def split(text: str) -> tuple[str, ...]:
    """The items of a comma list."""
    return tuple(item.strip() for item in text.split(",") if item.strip())


def _stored(settings: Settings, stored: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Provider]:
    found = {}
    for name, fields in stored.get("providers", {}).items():
        speaks_anthropic = name == ANTHROPIC or name.startswith(f"{ANTHROPIC}-")
        found[name] = Provider(
            name=name,
            kind="anthropic" if speaks_anthropic else "openai",
            model=str(fields.get("model") or (settings.anthropic_model if speaks_anthropic else "")),
            base_url=str(fields.get("base_url") or ("" if speaks_anthropic else preset_address(name))),
            keys=split(str(keys.get(name) or "")),
        )
    return found


def _of_environment(settings: Settings, stored: Mapping[str, Provider]) -> Sequence[Provider]:
    """A key of the environment goes to the address of the environment alone, whatever else is stored."""
    found = []
    if settings.anthropic_api_key:
        model = settings.anthropic_model
        if ANTHROPIC in stored and "anthropic_model" not in settings.explicit:
            model = stored[ANTHROPIC].model
        found.append(Provider(
            ANTHROPIC, "anthropic", model, settings.anthropic_base_url, split(settings.anthropic_api_key),
        ))  # fmt: skip
    if settings.openai_api_key:
        model = settings.openai_model or (stored[OPENAI].model if OPENAI in stored else "")
        address = settings.openai_base_url or OPENAI_ADDRESS
        found.append(Provider(OPENAI, "openai", model, address, split(settings.openai_api_key)))
    return found


def _with_fallback_models(provider: Provider, settings: Settings) -> list[Provider]:
    others = split(settings.anthropic_fallback_models) if provider.name == ANTHROPIC else ()
    models = dict.fromkeys((provider.model, *others))
    return [replace(provider, model=model) for model in models]
