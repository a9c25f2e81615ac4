"""The page that holds the sample market against the real one."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.real_day.market.figures import Figure, compare, lag_one, sample_of
from tests.real_day.market.page import (
    BEGIN,
    DOCS,
    END,
    documented,
    main,
    market_section,
    number,
    outside,
    page,
    table,
)
from tests.real_day.market.panel import real_panel
from tests.real_day.market.plots import plots
from tests.real_day.market.real import INDUSTRIES, Real, load

DATES = pd.bdate_range("2024-01-01", periods=100).strftime("%Y-%m-%d").tolist()


def _bars(codes: int = 40, seed: int = 7) -> pd.DataFrame:
    """Quiet stocks of a draw."""
    draw = np.random.default_rng(seed)
    frames = []
    for number_ in range(codes):
        close = 10 * np.exp(np.cumsum(draw.normal(0, 0.02, len(DATES))))
        high, low = close * 1.01, close * 0.99
        frames.append(
            pd.DataFrame(
                {"date": DATES, "code": f"60{number_:04d}", "close": close, "high": high, "low": low,
                 "turnover": draw.lognormal(-4, 0.8, len(DATES))}
            )
        )  # fmt: skip
    return pd.concat(frames, ignore_index=True)


@pytest.fixture(scope="module")
def real() -> Real:
    panel = real_panel("drawn, 40 codes", _bars())
    draw = np.random.default_rng(3)
    levels = 3000 * np.cumprod(1 + draw.normal(0, 0.012, 240))
    ratios = {name: {"pe": draw.uniform(5, 60, 30), "pb": draw.uniform(0.5, 6, 30)} for name in INDUSTRIES}
    return Real(
        panels=[panel, panel],
        parts=[panel, panel],
        levels={code: {2024: levels} for code in ("000001", "399001", "000300", "000905", "000852")},
        ratios=ratios,
        credit_share=0.029,
        pool=draw.uniform(60, 200, 50),
        streaks=np.asarray([3.0, 4.0, 5.0]),
    )


def test_a_panel_knows_limits_ladders_and_free_days() -> None:
    closes = [10.0, 11.0, 12.1, 13.31, 13.2, 11.88, 20.0, 20.1]
    highs = [10.0, 11.0, 12.1, 13.31, 14.64, 13.2, 20.0, 20.2]
    frame = pd.DataFrame({"date": DATES[:8], "code": "600000", "close": closes, "high": highs, "low": closes})

    panel = real_panel("one", frame)

    assert panel.up[0].tolist() == [False, True, True, True, False, False, False, False]
    assert panel.down[0].tolist() == [False] * 5 + [True, False, False]
    assert panel.broken[0].tolist() == [False] * 4 + [True, False, False, False]
    assert panel.ladders.tolist() == [0, 1, 2, 3, 0, 0, 0, 0]
    assert np.isnan(panel.change[0][[0, 6]]).all()  # no day before; 68 % is no ordinary day
    assert panel.per_market(panel.up)[1] == 5_500


def test_boards_and_special_treatment_have_their_bands() -> None:
    frame = pd.DataFrame(
        [
            {"date": day, "code": code, "close": close, "high": close, "low": close, "st": st}
            for code, st, rise in (("300001", 0, 1.2), ("600001", 1, 1.05), ("688001", 0, 1.1))
            for day, close in zip(DATES[:2], (10.0, 10.0 * rise), strict=True)
        ]
    )

    panel = real_panel("three", frame)

    assert panel.up[:, 1].tolist() == [True, True, False]


def test_a_figure_is_inside_outside_or_not_judged() -> None:
    one = Figure(
        "deviation", "%", 1.1, 1.5, "asked for", [1.2], {"S": 1.3, "M": 2.0, "L": 0.2}, frozenset("L")
    )

    assert [one.inside(name) for name in "SML"] == [True, False, None]
    assert outside([one]) == ["deviation, M: 2.00, band 1.10 to 1.50"]
    assert table([one])[1] == [
        "deviation", "%", "1.10 to 1.50", "asked for", "1.20", "1.30", "2.00 outside", "0.200 (too few)",
    ]  # fmt: skip


def test_the_page_is_one_file_with_every_figure_and_every_plot(real: Real) -> None:
    samples = [sample_of("S")]
    figures, pictures = compare(real, samples), plots(real, samples)

    text = page(figures, pictures)

    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    assert text.count("data:image/png;base64,") == len(pictures) == 6
    assert not re.search(r"(src|href)='(?!data:)", text)
    for word in ("deviation", "rising", "limit-ups", "limit-downs", "ladder", "turnover", "amplitude",
                 "autocorrelation", "P/E of banks", "P/B of banks", "margin", "drift"):  # fmt: skip
        assert any(word in one.name for one in figures), word
    assert all(one.name in text for one in figures if "&" not in one.name)


def test_a_market_that_runs_away_is_outside(real: Real) -> None:
    """Doubling index changes and a balance of a third of the float are seen."""
    sample = sample_of("S")
    wild = {
        code: np.cumprod(1 + 2 * np.diff(level, prepend=level[0]) / level)
        for code, level in sample.levels.items()
    }
    spoilt = type(sample)(sample.profile, sample.panel, wild, sample.ratios, 0.33)

    names = {line.split(",")[0] for line in outside(compare(real, [spoilt]))}

    assert "daily change of an index" in names
    assert "margin balance of the float" in names


def test_without_its_files_there_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    section = market_section(tmp_path, tmp_path / "out")

    assert section.notes[0].startswith("no page: the set has no bars_daily_raw_hs300")
    assert section.failed == []
    assert main(["--data", str(tmp_path)]) == 2
    assert "limit_up_pool" in capsys.readouterr().err


def test_numbers_are_short() -> None:
    assert [number(value) for value in (0.1234, 1.234, 123.4)] == ["0.123", "1.23", "123.4"]
    assert lag_one(np.asarray([1.0, -1.0, 1.0, -1.0])) == pytest.approx(-1.0)


@pytest.mark.real_data
def test_the_documented_figures_are_those_of_the_small_profile_now(real_data_dir: Path) -> None:
    figures = compare(load(real_data_dir), [sample_of("S")])
    text = DOCS.read_text(encoding="utf-8")

    own = [line.split(" | ")[:5] for line in documented(figures).splitlines()[2:]]
    reported = [line.split(" | ")[:5] for line in text.split(BEGIN)[1].split(END)[0].splitlines()[2:]]

    assert [[cell.removesuffix(" |") for cell in line] for line in own] == reported
    assert outside(figures) == []


@pytest.mark.real_data
@pytest.mark.soak
def test_every_profile_lies_in_the_bands_of_the_real_files(real_data_dir: Path) -> None:
    figures = compare(load(real_data_dir), [sample_of(profile) for profile in ("S", "M", "L")])

    assert outside(figures) == []
