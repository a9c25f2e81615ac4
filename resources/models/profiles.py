"""What differs between providers of models: addresses, names of parameters, forms of addresses as people
enter them."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

OPENAI_ADDRESS = "https://api.openai.com/v1"
_VERSIONED = re.compile(r"/(?:v\d+\w*|openai)$")
_ENDPOINTS = ("/chat/completions", "/completions", "/messages", "/models")


@dataclass(frozen=True)
class Profile:
    """One provider, or one server that people run. `model`: one that it has, as an example. `limit`: its name
    for the most tokens of an answer; `room`: how many times as many where thinking counts against it."""

    name: str
    title: str
    base_url: str
    model: str
    kind: Literal["anthropic", "openai"] = "openai"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    room: int = 1
    needs_key: bool = True


_GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
PRESETS = (
    Profile("anthropic", "Anthropic", "https://api.anthropic.com", "claude-sonnet-5", "anthropic"),
    Profile("openai", "OpenAI", OPENAI_ADDRESS, "gpt-5-mini", limit="max_completion_tokens", room=4),
    Profile("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "deepseek-chat", room=2),
    Profile("qwen", "通义千问", "https://dashscope.aliyuncs.com/compatible-mode/v1", "qwen-plus"),
    Profile("kimi", "Kimi", "https://api.moonshot.cn/v1", "kimi-k2-turbo-preview", room=4),
    Profile("glm", "智谱 GLM", "https://open.bigmodel.cn/api/paas/v4", "glm-4.6", room=4),
    Profile("gemini", "Gemini", _GEMINI, "gemini-2.5-flash", room=4),
    Profile("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "deepseek/deepseek-chat", room=4),
    Profile("ollama", "Ollama", "http://127.0.0.1:11434/v1", "qwen3:8b", needs_key=False),
    Profile("vllm", "vLLM", "http://127.0.0.1:8000/v1", "Qwen/Qwen3-8B", needs_key=False),
)  # fmt: skip
_OTHER = Profile("other", "", "", "")


def preset_address(name: str) -> str:
    """The address of a provider of this name; '' for another name."""
    return next((preset.base_url for preset in PRESETS if preset.name == name), "")


def profile_of(base_url: str) -> Profile:
    """The profile of the provider at an address; a plain one for an unknown server."""
    server = urlsplit(base_url).netloc.lower()
    return next((preset for preset in PRESETS if urlsplit(preset.base_url).netloc == server), _OTHER)


def chat_addresses(base_url: str) -> tuple[str, ...]:
    """The base addresses to try in turn, all of one server: people leave out `/v1`, or enter the address of
    the endpoint."""
    base = without_endpoint(base_url)
    if _VERSIONED.search(base):
        return (base,)
    with_version = f"{base}/v1"
    return (base, with_version) if urlsplit(base).path else (with_version, base)


def messages_address(base_url: str) -> str:
    """The address in front of `/v1/messages`, which the library adds."""
    return without_endpoint(base_url).removesuffix("/v1")


def without_endpoint(base_url: str) -> str:
    base = base_url.rstrip("/")
    for endpoint in _ENDPOINTS:
        base = base.removesuffix(endpoint)
    return base.rstrip("/")
