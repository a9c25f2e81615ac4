"""The model that the API asks follows the settings as they are now."""

from pathlib import Path
from typing import Any

import pytest

from core.errors import Refused
from resources.models.protocol import Message, Prompt
from serving_api.settings.language_model import model_of
from tests.models_api.fake import Fails, fake_models
from tests.serving_api.conftest import Bench

ASKED = Prompt("", [Message("user", "你好")])


async def asked(bench: Bench) -> str | None:
    """The model's answer, or None where everything answers by rules."""
    model = await model_of(bench.api.app.state.platform)
    return None if model is None else (await model.reply(ASKED)).text


def test_a_changed_setting_is_in_force_at_once(own_on_both: Bench) -> None:
    api, admin = own_on_both.api, own_on_both.admin()

    def change(**body: Any) -> None:
        answer = api.post("/settings/model-config", json=body, headers=admin)
        assert answer.status_code == 200, answer.text

    assert api.call(asked, own_on_both) is None
    with fake_models("我是甲") as first, fake_models("我是乙") as second:
        change(providers={"one": {"base_url": first.v1, "model": "m", "api_key": "sk-1, sk-2"}}, active="one")
        assert api.call(asked, own_on_both) == "我是甲"
        change(providers={"two": {"base_url": second.v1, "model": "m", "api_key": "sk-3"}}, active="two")
        assert api.call(asked, own_on_both) == "我是乙"
        change(active="one")
        assert api.call(asked, own_on_both) == "我是甲"
        change(providers={"one": None, "two": None})
        assert api.call(asked, own_on_both) is None

    assert [asked.key for asked in first.asked] == ["sk-1", "sk-1"]
    assert [asked.key for asked in second.asked] == ["sk-3"]


def test_a_refused_key_rests_until_it_is_replaced(own: Bench) -> None:
    admin = own.admin()
    with fake_models(lambda seen: "好" if seen.key == "sk-new" else Fails(401)) as fake:
        provider = {"base_url": fake.v1, "model": "m", "api_key": "sk-old"}
        own.api.post("/settings/model-config", json={"providers": {"one": provider}}, headers=admin)
        for _ in range(2):
            with pytest.raises(Refused):
                own.api.call(asked, own)
        assert len(fake.asked) == 1, "the same models, which remember"
        own.ticks.advance(31)
        with pytest.raises(Refused):
            own.api.call(asked, own)
        assert len(fake.asked) == 2
        provider["api_key"] = "sk-new"
        own.api.post("/settings/model-config", json={"providers": {"one": provider}}, headers=admin)
        assert own.api.call(asked, own) == "好"


def test_another_secret_file_leaves_the_rules(own: Bench) -> None:
    admin = own.admin()
    body = {"providers": {"one": {"base_url": "https://api.example.com/v1", "model": "m", "api_key": "sk-1"}}}
    own.api.post("/settings/model-config", json=body, headers=admin)
    key: Path = own.folder / "secrets" / "settings_key"
    key.write_bytes(b"x" * 32)
    own.api.app.state.platform.parts.clear()

    assert own.api.call(asked, own) is None
