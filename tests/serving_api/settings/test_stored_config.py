"""What PUT /datamgr/config stores, the next start of a process reads."""

import pytest

from resources.stored_settings import platform_settings
from tests.serving_api.conftest import Bench


def test_a_value_that_is_put_is_in_force_after_the_next_start(
    own_on_both: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, admin = own_on_both, own_on_both.admin()
    changes = {"WEB_SEARCH_MAX_RESULTS": "9", "MODEL_WEB_SEARCH": "off", "STOP_LOSS_PROXIMITY": "4.5"}
    for key, value in changes.items():
        answer = own.api.request("PUT", "/datamgr/config", headers=admin, json={"key": key, "value": value})
        assert answer.status_code == 200, answer.text
    monkeypatch.setenv("DATA_DIR", str(own.folder))
    monkeypatch.setenv("WAREHOUSE_URL", own.url)
    monkeypatch.setenv("STOP_LOSS_PROXIMITY", "2")

    settings = platform_settings()

    assert settings.web_search_max_results == 9
    assert settings.model_web_search is False
    assert settings.stop_loss_proximity == 2.0
