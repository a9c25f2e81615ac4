"""Makes the configured models. The libraries of the providers are loaded when the first model is made."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from resources.models.fallback import ConfiguredModels, Line, Pace, Sleep
from resources.models.keys import KeyPool
from resources.models.providers import TIMEOUT_S, Provider
from resources.settings import Settings

if TYPE_CHECKING:
    from resources.models.streaming import Adapter


def language_models(
    settings: Settings,
    providers: Sequence[Provider],
    *,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
    timeout_s: float = TIMEOUT_S,
) -> ConfiguredModels | None:
    """None without a provider. The first time takes a second, for the libraries: call it in a thread where
    others wait for the event loop. `monotonic` and `sleep`: machine time, for resting keys, probes and
    backoff. The result belongs to the event loop of its first call; close it there."""
    if not providers:
        return None
    pace = Pace(settings.ai_llm_max_retries, settings.ai_llm_retry_delay, monotonic, sleep)
    pools: dict[str, KeyPool] = {}
    lines = []
    for provider in providers:
        # Models of one provider share its keys, and what is known of them.
        keys = pools.setdefault(provider.name, KeyPool(provider.keys, monotonic))
        lines.append(Line(provider, adapter_of(provider, timeout_s), keys, pace))
    return ConfiguredModels(lines, pace)


def adapter_of(provider: Provider, timeout_s: float) -> "Adapter":
    # Each loads the library of its provider, which takes up to a second.
    if provider.kind == "anthropic":
        from resources.models.anthropic_messages import AnthropicMessages  # noqa: PLC0415

        return AnthropicMessages(provider, timeout_s)
    from resources.models.openai_chat import OpenAIChat  # noqa: PLC0415

    return OpenAIChat(provider, timeout_s)
