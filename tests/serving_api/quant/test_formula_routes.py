"""/quant/formulas: values of formulas over the stored bars."""

from typing import Any

import numpy as np

from platform_assets.compute.formulas.builtin import BUILTINS
from tests.pipeline.conftest import TODAY
from tests.serving_api.areas.conftest import Topics


def evaluated(quant: Topics, formula: str, **more: Any) -> Any:
    return quant.api.post("/quant/formulas/eval", json={"formula": formula, "limit": 500, **more})


def test_the_formulas_of_ours_are_listed_and_run(quant: Topics) -> None:
    listed = quant.reported("/quant/formulas")["items"]
    assert [one["key"] for one in listed] == [one.key for one in BUILTINS]
    for one in listed:
        reported = evaluated(quant, one["text"]).json()
        assert reported["date"] == TODAY
        if one["output"] == "bool":
            assert all(item["value"] is True for item in reported["items"])
        else:
            assert reported["total"] > 10


def test_values_are_those_of_the_bars(quant: Topics) -> None:
    reported = evaluated(quant, "(C/REF(C,20)-1)*100+V*0").json()
    by_code: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(quant.rows("fusion_kline_daily"), key=lambda row: row["date"]):
        if row["sec_type"] == "stock" and not row["is_suspended"]:
            by_code.setdefault(row["code"], []).append(row)
    expected = {}
    for code, rows in by_code.items():
        if len(rows) > 20 and rows[-1]["date"] == TODAY:
            now, then = (row["close"] * row["adj_factor"] for row in (rows[-1], rows[-21]))
            expected[code] = (now / then - 1) * 100
    assert {item["code"] for item in reported["items"]} == set(expected)
    for item in reported["items"]:
        np.testing.assert_allclose(item["value"], expected[item["code"]], rtol=1e-9, atol=1e-9)
    values = [item["value"] for item in reported["items"]]
    assert values == sorted(values, reverse=True)
    assert reported["items"][0]["name"]

    some = sorted(expected)[:3]
    up = evaluated(quant, "C>REF(C,20)", codes=[*some, "999999"]).json()
    assert {item["code"]: item["value"] for item in up["items"]} == {
        code: expected[code] > 0 for code in some
    }
    chosen = evaluated(quant, "C>REF(C,20)").json()
    assert {item["code"] for item in chosen["items"]} == {
        code for code, value in expected.items() if value > 0
    }
    short = evaluated(quant, "C", limit=2).json()
    assert (len(short["items"]), short["total"] > 10) == (2, True)
    assert (short["first_date"], short["note"]) == (TODAY, None)
    past = evaluated(quant, "C", date="2020-01-02").json()
    assert (past["items"], past["note"]) == (
        [],
        f"nothing is stored of 2020-01-02; the first stored date is {TODAY}",
    )


def test_looking_ahead_is_refused(quant: Topics) -> None:
    answer = evaluated(quant, "C > O AND\nBACKSET(C>O,3)")
    assert answer.status_code == 422
    reported = answer.json()
    assert reported["error"] == {
        "code": "lookahead",
        "position": 10,
        "line": 2,
        "column": 1,
        "token": "BACKSET",
        "expected": ["REF"],
    }
    assert reported["detail"].startswith("formula: BACKSET reads bars")
    for body in (
        {},
        {"formula": "C", "codes": []},
        {"formula": "C", "codes": ["x"]},
        {"formula": "C", "limit": 0},
    ):
        assert quant.api.post("/quant/formulas/eval", json=body).status_code == 422
