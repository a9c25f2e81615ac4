"""calc_factor_score: a market's scores by date, replaced from the wide rows of that date alone."""

import numpy as np
import pandas as pd

from platform_assets.compute.factors.definitions import COLUMNS, INPUT_COLUMNS
from platform_assets.datasets.factor_score import FactorScore
from resources.warehouse.batch_records import Batch
from resources.warehouse.slices import Slice
from tests.pipeline.conftest import TODAY, Services

BEFORE = "2026-08-20"


def put(services: Services, day: str, seed: int, size: int = 40) -> None:
    chance = np.random.default_rng(seed)
    rows = pd.DataFrame({"code": [f"{at:06d}" for at in range(size)], "trade_date": day, "src": "derived"})
    for column in INPUT_COLUMNS:
        rows[column] = np.round(chance.random(size) * 100)
    rows["current_price"], rows["debt_ratio"], rows["is_suspended"] = 10.0, 30.0, False
    rows["is_st"] = rows["code"] == "000001"
    rows["name"] = np.where(rows["code"] == "000002", "ST某", "某")
    services.warehouse.writer.write(
        services.warehouse.table("fusion_stock_wide"), rows, where=Slice.of_date("trade_date", day),
        batch=Batch(partition_key=day),
    )  # fmt: skip


def scores(services: Services, day: str) -> pd.DataFrame:
    rows = services.warehouse.frame("calc_factor_score")
    return rows[rows["trade_date"] == day].sort_values("code").reset_index(drop=True)


def test_a_date_is_scored_from_its_own_rows_and_replaced(alone: Services) -> None:
    put(alone, BEFORE, 1)
    first = alone.fuse("factor_score", BEFORE)
    of_before = scores(alone, BEFORE)
    put(alone, TODAY, 2)
    again = alone.fuse("factor_score", BEFORE, TODAY)

    assert [name for name in COLUMNS if name not in FactorScore.to_schema().columns] == []
    assert first.results[0].rows_written == 40
    assert [one.rows_written for one in again.results] == [0, 40]  # what follows changes no score
    pd.testing.assert_frame_equal(scores(alone, BEFORE)[list(COLUMNS)], of_before[list(COLUMNS)])
    assert of_before["composite"].between(0, 100).all()
    assert (of_before["covered_weight"] == 1).all()
    # The history of names says which stocks are under special treatment, whatever the name of the day looks
    # like.
    assert of_before[of_before["gate_blocked"]]["gate_code"].tolist() == ["st"]
    assert of_before["code"][of_before["gate_blocked"]].tolist() == ["000001"]

    whole = scores(alone, TODAY)
    put(alone, TODAY, 3)
    alone.fuse("factor_score", codes=("000005",))
    some = scores(alone, TODAY)
    differ = some["code"][(some["composite"] != whole["composite"])].tolist()
    alone.fuse("factor_score")
    assert differ == ["000005"]  # a run for one code writes that one, ranked within the whole market
    assert scores(alone, TODAY)["composite"][5] == some["composite"][5]
