"""What is compressed on its way out."""

import pytest

from tests.serving_api.conftest import Bench

LARGE = ["/stocks/600519/kline", "/stocks/batch-kline?codes=600519,000001"]


@pytest.mark.parametrize("path", LARGE)
def test_a_compressed_answer_holds_the_same_bytes(bench: Bench, path: str) -> None:
    plain = bench.api.get(path, headers={"Accept-Encoding": "identity"})

    packed = [bench.api.get(path, headers={"Accept-Encoding": "gzip, deflate, br"}) for _ in range(2)]

    assert "content-encoding" not in plain.headers
    for answer in packed:
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["etag"] == plain.headers["etag"]
        assert int(answer.headers["content-length"]) < len(plain.content) / 2
        assert answer.content == plain.content


def test_small_answers_stay_as_they_are(bench: Bench) -> None:
    small = bench.api.get("/stocks/000002/kline", headers={"Accept-Encoding": "gzip"})
    document = bench.api.get("//openapi.json", headers={"Accept-Encoding": "gzip"})

    assert "content-encoding" not in small.headers
    assert document.headers["content-encoding"] == "gzip"
    assert document.json()["openapi"]
