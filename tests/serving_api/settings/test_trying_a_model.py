"""The test of a stored provider: what happened is said, to administrators, without keys."""

from typing import Any

import pytest

from tests.models_api.fake import Fails, fake_models
from tests.models_api.wire import Asks
from tests.serving_api.conftest import Bench

KEY = "sk-secret-0123456789"


def outcome_of(own: Bench, reply: Any, **body: Any) -> tuple[int, dict[str, Any]]:
    admin = own.admin()
    with fake_models(reply) as fake:
        provider = {"base_url": fake.v1, "model": "m", "api_key": KEY}
        own.api.post("/settings/model-config", json={"providers": {"one": provider}}, headers=admin)
        answer = own.api.post("/settings/model-config/test", json=body, headers=admin)
    return answer.status_code, answer.json()


def test_an_answer_is_reported(own: Bench) -> None:
    status, body = outcome_of(own, Asks("ping", {"word": "pong"}))
    assert (status, body["ok"], body["provider"], body["model"], body["calls_tools"]) == (
        200, True, "one", "m", True,
    )  # fmt: skip
    assert body["message"].startswith("已回答")
    assert 0 <= body["first_s"] <= body["seconds"]
    assert outcome_of(own, "pong", provider="one")[1]["calls_tools"] is False


@pytest.mark.parametrize(
    ("reply", "message", "reason"),
    [
        (
            Fails(401, "invalid_api_key", f"Incorrect API key provided: {KEY}."),
            "模型凭证无效",
            "Incorrect API key",
        ),
        (Fails(402, "", "Insufficient Balance"), "模型账户额度已用尽", "Insufficient Balance"),
        (Fails(404, "model_not_found", "The model `m` does not exist"), "没有这个模型", "does not exist"),
        (Fails(503, "", "busy"), "模型暂时不可用", "HTTP 503"),
    ],
)
def test_a_failure_says_why_without_the_key(own: Bench, reply: Any, message: str, reason: str) -> None:
    status, body = outcome_of(own, reply)
    assert (status, body["ok"]) == (200, False)
    assert body["message"].startswith(message)
    assert reason in body["reason"]
    assert KEY not in str(body)


def test_only_administrators_and_only_what_can_be_asked(own: Bench) -> None:
    path = "/settings/model-config/test"
    assert own.api.post(path, json={}, headers=own.member()).status_code == 403
    assert own.api.post(path, json={}, headers=own.admin()).status_code == 422
    assert own.api.post(path, json={"provider": "nobody"}, headers=own.admin()).status_code == 422
