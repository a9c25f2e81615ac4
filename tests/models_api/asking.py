"""The configured models of a test: settings as a user would export them, a loop of their own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from resources.models.factory import language_models
from resources.models.fallback import ConfiguredModels
from resources.models.protocol import Message, Prompt, ToolSpec
from resources.models.providers import configured_providers
from resources.settings import load_settings
from tests.models_api.fake import FakeModels

PROTOCOLS = ("anthropic", "openai")
QUOTE = ToolSpec(
    "quote", "the quote of a stock", {"type": "object", "properties": {"code": {"type": "string"}}}
)
ASKED = Prompt("answer briefly", [Message("user", "茅台多少钱？")], [QUOTE], max_tokens=300)


def environment(fake: FakeModels, protocol: str, **more: str) -> dict[str, str]:
    """What a user would export to reach the fake in this protocol."""
    address = {"anthropic": fake.url, "openai": fake.v1}[protocol]
    name = protocol.upper()
    reported = {f"{name}_API_KEY": "sk-first", f"{name}_BASE_URL": address, f"{name}_MODEL": "a-model"}
    return {**reported, "AI_LLM_RETRY_DELAY": "0", **more}


def asked(env: dict[str, str], work: Callable[[ConfiguredModels], Awaitable[Any]], **how: Any) -> Any:
    """The result of `work` with the configured models, on a loop of its own."""

    async def run() -> Any:
        settings = load_settings(env)
        models = language_models(settings, configured_providers(settings, {}, {}), **how)
        assert models is not None
        try:
            return await work(models)
        finally:
            await models.close()

    return asyncio.run(run())
