"""Soft checks of daily bars. True = fine."""

import pandas as pd

from platform_assets.declaration.scope import Context


def close_within_limits(rows: pd.DataFrame, context: Context) -> pd.Series:
    above = rows["close"] > rows["limit_up"] + 0.0101
    below = rows["close"] < rows["limit_down"] - 0.0101
    return ~(above | below)


def amount_fits_prices(rows: pd.DataFrame, context: Context) -> pd.Series:
    traded = rows["volume"] > 0
    mean = rows["amount"] / rows["volume"].where(traded)
    return ~traded | rows["amount"].isna() | mean.between(rows["low"] * 0.98, rows["high"] * 1.02)


def traded_has_amount(rows: pd.DataFrame, context: Context) -> pd.Series:
    return ~((rows["volume"] > 0) & ~(rows["amount"] > 0))


def reference_is_previous_close(rows: pd.DataFrame, context: Context) -> pd.Series:
    """The reference price equals the stored previous close unless the date is an ex-date."""
    previous = context.calendar.offset(context.scope.since, -1)
    stored = context.read(
        "fusion_kline_daily", columns=("code", "date", "close"), since=previous, until=context.scope.until
    )
    known = pd.concat([stored, rows[["code", "date", "close"]]], ignore_index=True)
    known = known.drop_duplicates(["code", "date"], keep="last").sort_values(["code", "date"])
    known["before"] = known.groupby("code")["close"].shift()
    joined = rows[["code", "date", "last_close"]].merge(known, on=["code", "date"], how="left")
    events = context.read("ref_exright", columns=("code", "date", "category"), since=context.scope.since)
    ex_dates = set(zip(events["code"], events["date"], strict=True))
    ex = pd.Series([pair in ex_dates for pair in zip(joined["code"], joined["date"], strict=True)])
    same = (joined["last_close"] - joined["before"]).abs() < 0.0051
    fine = ex | joined["before"].isna() | same
    return pd.Series(fine.to_numpy(), index=rows.index)


def reference_is_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """A listing day whose issue price no source told has no reference price, and no change."""
    return rows["last_close"].notna()


def limits_are_known(rows: pd.DataFrame, context: Context) -> pd.Series:
    """No limit and no status is given where the reference price or special treatment is not known."""
    return rows["limit_status"].notna()
