"""Which models are asked, from the environment and from what administrators stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from resources.models.providers import KEYS_KEY, PROVIDERS_KEY, configured_providers
from resources.models.stored import stored_providers
from resources.secret_files import settings_box
from resources.settings import Settings, load_settings


def names(env: dict[str, str], stored: dict[str, Any] | None = None, **keys: str) -> list[tuple[str, str]]:
    """(provider, model) in the order in which they are asked."""
    return [(one.name, one.model) for one in configured_providers(load_settings(env), stored or {}, keys)]


def document(active: str | None = None, fallback: tuple[str, ...] = (), **providers: Any) -> dict[str, Any]:
    return {"providers": providers, "active": active, "fallback": list(fallback)}


LOCAL = {"base_url": "http://127.0.0.1:8080/v1", "model": "local-model"}
DEEP = {"base_url": "https://api.example.com/v1", "model": "deep"}


def test_nothing_is_configured_by_default() -> None:
    assert names({}) == []
    assert names({}, document("deep", deep=DEEP)) == [], "a provider without its key"


def test_one_variable_is_enough() -> None:
    assert names({"ANTHROPIC_API_KEY": "sk-a"}) == [("anthropic", Settings().anthropic_model)]


def test_an_openai_compatible_provider_needs_a_model() -> None:
    assert names({"OPENAI_API_KEY": "sk-o"}) == []
    (one,) = configured_providers(load_settings({"OPENAI_API_KEY": "sk-o", "OPENAI_MODEL": "m"}), {}, {})
    assert (one.kind, one.base_url) == ("openai", "https://api.openai.com/v1")


def test_fallback_models_of_the_environment_follow_the_model() -> None:
    env = {
        "ANTHROPIC_API_KEY": "sk-a, sk-b,",
        "ANTHROPIC_MODEL": "big",
        "ANTHROPIC_FALLBACK_MODELS": "small,big",
    }
    providers = configured_providers(load_settings(env), {}, {})

    assert [(one.model, one.keys) for one in providers] == [
        ("big", ("sk-a", "sk-b")),
        ("small", ("sk-a", "sk-b")),
    ]


def test_stored_providers_are_asked_in_their_order() -> None:
    stored = document("deep", ("local", "anthropic"), deep=DEEP, local=LOCAL, anthropic={"model": "claude"})

    assert names({}, stored, deep="sk-d", anthropic="sk-a") == [
        ("deep", "deep"), ("local", "local-model"), ("anthropic", "claude"),
    ]  # fmt: skip


def test_where_none_is_active_the_first_that_can_answer_is() -> None:
    stored = document(None, (), beta=DEEP, alpha=DEEP, gamma=DEEP)

    assert names({}, stored, beta="sk-b", gamma="sk-c") == [("beta", "deep")]
    assert names({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m"}, stored, beta="sk-b") == [
        ("anthropic", "m")
    ]


def test_a_known_provider_needs_no_address() -> None:
    (one,) = configured_providers(load_settings({}), document("kimi", kimi={"model": "k2"}), {"kimi": "sk-k"})

    assert (one.kind, one.base_url) == ("openai", "https://api.moonshot.cn/v1")
    assert names({}, document("ollama", ollama={"model": "qwen3:8b"})) == [("ollama", "qwen3:8b")]


def test_a_server_on_this_machine_needs_no_key() -> None:
    assert names({}, document("local", local=LOCAL)) == [("local", "local-model")]


def test_a_name_that_begins_with_anthropic_uses_its_protocol() -> None:
    stored = document("anthropic-small", **{"anthropic-small": {"model": "small"}})
    (one,) = configured_providers(load_settings({}), stored, {"anthropic-small": "sk-a"})

    assert (one.kind, one.model) == ("anthropic", "small")


def test_the_environment_wins_and_its_key_goes_to_its_address_alone() -> None:
    stored = document("anthropic", anthropic={"base_url": "https://elsewhere.example.com", "model": "stored"})
    keys = {"anthropic": "sk-stored"}
    (of_both,) = configured_providers(load_settings({"ANTHROPIC_API_KEY": "sk-env"}), stored, keys)
    (of_store,) = configured_providers(load_settings({}), stored, keys)

    assert (of_both.keys, of_both.base_url, of_both.model) == (("sk-env",), "", "stored")
    assert (of_store.keys, of_store.base_url) == (("sk-stored",), "https://elsewhere.example.com")
    assert names({"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "env"}, stored) == [("anthropic", "env")]


def test_an_address_of_the_environment_has_to_be_one() -> None:
    with pytest.raises(InputError, match="ANTHROPIC_BASE_URL"):
        load_settings({"ANTHROPIC_BASE_URL": "api.example.com"})


def test_no_key_is_shown_by_settings_or_providers() -> None:
    settings = load_settings({"ANTHROPIC_API_KEY": "sk-env-1,sk-env-2", "OPENAI_API_KEY": "sk-env-3"})
    shown = f"{settings.masked()} {configured_providers(settings, {}, {})}"

    assert "sk-env" not in shown
    assert {"sk-env-1", "sk-env-2", "sk-env-3"} <= set(settings.secrets)


def test_a_run_reads_the_same_sealed_documents(tmp_path: Path) -> None:
    settings = load_settings({"DATA_DIR": str(tmp_path)})
    sealed = settings_box(tmp_path).seal(json.dumps({"deep": "sk-d"}))
    stored = {PROVIDERS_KEY: json.dumps(document("deep", deep=DEEP)), KEYS_KEY: sealed}

    (one,) = stored_providers(settings, stored)
    assert (one.name, one.keys) == ("deep", ("sk-d",))
    assert stored_providers(settings, {}) == ()


def test_keys_that_another_installation_sealed_count_as_not_entered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings({"DATA_DIR": str(tmp_path / "here"), "ANTHROPIC_API_KEY": "sk-env"})
    sealed = settings_box(tmp_path / "elsewhere").seal(json.dumps({"deep": "sk-d"}))
    stored = {PROVIDERS_KEY: json.dumps(document("deep", deep=DEEP)), KEYS_KEY: sealed}

    assert [one.name for one in stored_providers(settings, stored)] == ["anthropic"]
    assert "enter it again" in caplog.text
    assert [one.name for one in stored_providers(settings, {PROVIDERS_KEY: "{broken"})] == ["anthropic"]
    assert [one.name for one in stored_providers(settings, {PROVIDERS_KEY: "[]"})] == ["anthropic"]
