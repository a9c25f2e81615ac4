"""A market of hand-written rows, an administrator, and models that are scripted and reached over HTTP."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from serving_api.settings import language_model as ai_model
from tests.conftest import engine_url
from tests.models_api.fake import Asked, FakeModels
from tests.models_api.wire import Asks
from tests.serving_api.areas.handmade import Handmade, handmade
from tests.serving_api.chat import rows
from tests.serving_api.conftest import ADMIN, bearer

DAY, CODE, NAME = rows.DAY, "600519", "贵州茅台"
KEYS = ("national_will", "era_trend", "industry_turning", "competition", "stage")
_LINE = re.compile(r"^\[(E\d+)\] (\S+) (.+)：(.+)（(.+)）$", re.MULTILINE)


@dataclass
class FetchContext:
    """The API, and what tests do with it again and again."""

    made: Handmade
    admin: dict[str, str]

    def post(self, path: str, who: dict[str, str] | None = None, **body: Any) -> httpx.Response:
        return self.made.api.post(path, json=body, headers=self.admin if who is None else who)

    def run(self, code: str = CODE, **body: Any) -> dict[str, Any]:
        answer = self.post(f"/analysis/{code}/run", **body)
        assert answer.status_code == 200, answer.text
        reported: dict[str, Any] = answer.json()
        return reported

    def write(
        self, code: str = CODE, score: float = 3.0, who: dict[str, str] | None = None
    ) -> httpx.Response:
        body = {"scores": dict.fromkeys(KEYS, score), "conclusion": "人工判断"}
        return self.made.api.request(
            "PUT", f"/analysis/{code}", json=body, headers=self.admin if who is None else who
        )

    def reported(self, code: str = CODE) -> dict[str, Any]:
        found: dict[str, Any] = self.made.reported(f"/analysis/{code}")
        return found

    def cards(self, **params: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.made.reported("/decision-cards", **params)["items"]
        return found

    def login(self) -> dict[str, str]:
        """The administrator anew: a token does not outlive the days of a long test."""
        return bearer(self.made.api.post("/auth/login", json=ADMIN).json()["access_token"])

    def configure(self, fake: FakeModels) -> None:
        providers = {"anthropic": {"base_url": fake.url, "model": "a-model", "api_key": "sk-test"}}
        answer = self.post("/settings/model-config", providers=providers, active="anthropic")
        assert answer.status_code == 200, answer.text

    def without_model(self) -> None:
        assert self.post("/settings/model-config", providers={"anthropic": None}).status_code == 200

    def member(self, name: str = "reader") -> dict[str, str]:
        pair = {"username": name, "password": "pass word 1"}
        self.made.api.post("/auth/register", json={**pair, "email": f"{name}@example.com"})
        return bearer(self.made.api.post("/auth/login", json=pair).json()["access_token"])


@pytest.fixture(scope="module", autouse=True)
def _soon_given_up() -> Iterator[None]:
    """A silent model is waited for in milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ai_model, "language_models", partial(ai_model.language_models, timeout_s=0.4))
        yield


def desks(engine: str, folder: Path) -> Iterator[FetchContext]:
    """A desk over a database of its own; retries do not wait."""
    for url in engine_url(engine, folder):
        with handmade(url, folder, DAY) as made:
            state = made.api.app.state.platform
            state.settings = replace(state.settings, ai_llm_retry_delay=0.0, ai_llm_max_retries=1)
            for table, some in {**rows.companies(), **rows.market()}.items():
                made.put(table, some)
            made.put("fusion_kline_daily", [bar(CODE, DAY, 1432.5), bar(CODE, rows.BEFORE, 1414.5)])
            yield FetchContext(made, bearer(made.api.post("/auth/login", json=ADMIN).json()["access_token"]))


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[FetchContext]:
    yield from desks("sqlite", tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FetchContext]:
    """For tests that leave nothing behind."""
    yield from desks("sqlite", tmp_path_factory.mktemp("analysis"))


@pytest.fixture(params=["sqlite", "mariadb"])
def context_on_both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FetchContext]:
    yield from desks(request.param, tmp_path)


def bar(code: str, day: str, close: float, factor: float = 1.0) -> dict[str, Any]:
    return {
        "code": code, "date": day, "market": "SH", "sec_type": "stock", "open": close, "high": close,
        "low": close, "close": close, "last_close": close, "volume": 1000, "amount": close * 1000,
        "is_suspended": False, "adj_factor": factor,
    }  # fmt: skip


def facts_in(asked: Asked) -> dict[str, tuple[str, str, str]]:
    """What the question told: label -> (id, value, day), of the company; the first of each label."""
    found: dict[str, tuple[str, str, str]] = {}
    first = next(turn for turn in asked.body["messages"] if turn["role"] == "user")["content"]
    text = first if isinstance(first, str) else "".join(block["text"] for block in first)
    for one, _, label, value, day in _LINE.findall(text):
        found.setdefault(label, (one, value, day))
    return found


def submission(asked: Asked, score: float = 3.0, **changes: Any) -> dict[str, Any]:
    """What an honest analyst hands in: every number is told and cited."""
    reported = facts_in(asked)
    roe, pe = reported["净资产收益率"], reported["市盈率TTM"]
    sections = dict.fromkeys(KEYS, f"{NAME}没有更多数据。")
    sections["competition"] = f"{NAME}净资产收益率{roe[1]}[{roe[0]}]。"
    return {
        "scores": dict.fromkeys(KEYS, score),
        "conclusion": f"{NAME}市盈率{pe[1]}倍[{pe[0]}]，净资产收益率{roe[1]}[{roe[0]}]。\n盈利稳定。",
        "sections": sections,
        **changes,
    }


def honest(asked: Asked) -> Asks:
    return Asks("submit_analysis", submission(asked))


def corrupted(asked: Asked) -> Asks:
    return Asks("submit_analysis", submission(asked, conclusion=f"{NAME}净利润同比增长77.7%，值得重视。"))
