"""The reading of the economy: votes of series, phases, and when nothing is said."""

from datetime import date, timedelta

from platform_assets.compute.macro_reading import reading


def months(count: int, until: str = "2026-07-01") -> list[str]:
    found, day = [], date.fromisoformat(until)
    for _ in range(count):
        found.append(day.isoformat())
        day = (day - timedelta(days=1)).replace(day=1)
    return found[::-1]


def points(**values: list[float]) -> dict[str, list[tuple[str, float]]]:
    return {name: list(zip(months(len(series)), series, strict=True)) for name, series in values.items()}


def test_growth_and_prices_name_the_phase() -> None:
    reported = reading(
        points(
            cn_pmi_mfg=[49.0, 50.4], cn_pmi_nonmfg=[50.9], cn_cpi_yoy=[1.0, 0.9, 0.8, 0.5],
            cn_ppi_yoy=[-1.0, -1.2, -1.5, -2.0], cn_lpr_1y=[3.1, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0],
        ),
        "2026-08-21",
    )  # fmt: skip

    assert reported["available"]
    assert reported["phase"] == "复苏"
    assert {name: one["score"] for name, one in reported["dimensions"].items()} == {
        "growth": 1.0, "prices": -1.0, "money": 1.0,
    }  # fmt: skip


def test_stale_figures_judge_nothing() -> None:
    reported = reading(points(cn_pmi_mfg=[51.0], cn_cpi_yoy=[1.0, 1.0, 1.0, 2.0]), "2026-12-21")

    assert not reported["available"]
    assert reported["phase"] is None
    assert reported["reason"] == "缺少新鲜的增长、物价数据，无法判断"
    assert {one["status"] for one in reported["signals"]} == {"stale", "missing"}
