"""Layout of the series of one code while its indicators are computed: the rows of the kernels' scratch, and
the steps that are nothing but a table. Short kernels that run through tables compile in a fraction of the
time of one that spells every column out, and each step is a loop that the processor does four at a time."""

from collections.abc import Sequence

import numpy as np

from core.arrays import Floats, Ints
from platform_assets.compute.parameters import indicators as ours

COLUMNS = (
    "ma5", "ma10", "ma20", "ma30", "ma60", "ma120", "ma250", "ema12", "ema26", "macd_dif", "macd_dea",
    "macd_hist", "kdj_k", "kdj_d", "kdj_j", "boll_upper", "boll_mid", "boll_lower", "boll_width_pct", "rsi6",
    "rsi12", "rsi14", "rsi24", "atr14", "atr14_w", "cci14", "wr10", "wr6", "wr14", "dmi_pdi", "dmi_mdi",
    "dmi_adx", "dmi_adxr", "trix", "trix_ma", "obv", "bias6", "bias12", "bias24", "roc12", "mtm12", "psy12",
    "vr26", "bbi", "hhv20", "llv20", "sar", "vol_ma5", "vol_ma10", "vol_ratio_5", "rtsi", "chg_5d", "chg_20d",
    "chg_60d", "rs_20d", "rs_60d", "ma_align",
)  # fmt: skip
PRICE_SCALE = (
    "ma5", "ma10", "ma20", "ma30", "ma60", "ma120", "ma250", "ema12", "ema26", "macd_dif", "macd_dea",
    "macd_hist", "boll_upper", "boll_mid", "boll_lower", "atr14", "atr14_w", "mtm12", "bbi", "hhv20", "llv20",
    "sar",
)  # fmt: skip
"""In CNY: given in the prices of their own date."""


_ROWS: dict[str, int] = {name: at for at, name in enumerate(COLUMNS)}


def _row(name: str) -> int:
    """The row of a series, a new one when it has none yet."""
    return _ROWS.setdefault(name, len(_ROWS))


def _lagged(source: str, lengths: str, *, keeps_all: bool = False) -> list[tuple[int, int, int, int]]:
    """Steps (longer part, shorter part, lag, target) from the series itself, length 1, to windows of the
    requested lengths: "5=3+2" makes `source_5` of `source_3` and of `source_2` three bars before. Windows
    that are not kept use rows that all sources share."""

    def place(length: str, last: bool) -> int:
        if length == "1":
            return _row(source)
        return _row(f"{source}_{length}" if keeps_all or last else f"part_{length}")

    made = [step.split("=") for step in lengths.split()]
    steps = []
    for at, (length, parts) in enumerate(made):
        longer, shorter = parts.split("+")
        steps.append(
            (place(longer, False), place(shorter, False), int(longer), place(length, at == len(made) - 1))
        )
    return steps


def _table(rows: Sequence[tuple[int, ...]]) -> Ints:
    return np.array(rows, dtype=np.int64)


WIDTH = len(COLUMNS)
HIGH, DROP, CLOSE, VOLUME, FACTOR, INDEX = (
    _row(name) for name in ("high", "drop", "close", "volume", "factor", "index")
)
"""Inputs; prices times the factor. `drop` is minus the low, so that the lowest low is minus the highest drop;
`index` is the close of the index on the bar's date."""
TR, PLUS, MINUS, UP, UP_VOLUME, OTHER_VOLUME, TYPICAL, LOG, DX = (
    _row(name) for name in ("tr", "plus", "minus", "up", "up_volume", "other_volume", "typical", "log", "dx")
)
EMA12, EMA26, DIF, DEA, HIST = (
    _row(name) for name in ("ema12", "ema26", "macd_dif", "macd_dea", "macd_hist")
)
K, D, J, OBV, TRIX, TRIPLE = (_row(name) for name in ("kdj_k", "kdj_d", "kdj_j", "obv", "trix", "triple"))
ATR_W, SAR = _row("atr14_w"), _row("sar")

SUMS = _table(
    _lagged(
        "close",
        "2=1+1 3=2+1 5=3+2 6=3+3 10=5+5 12=6+6 20=10+10 24=12+12 30=20+10 60=30+30 120=60+60 240=120+120 "
        "250=240+10",
        keeps_all=True,
    )
    + _lagged("volume", "2=1+1 3=2+1 5=3+2 10=5+5", keeps_all=True)
    + [step for name in ("tr", "plus", "minus") for step in _lagged(name, "2=1+1 3=2+1 6=3+3 12=6+6 14=12+2")]
    + _lagged("up", "2=1+1 3=2+1 6=3+3 12=6+6")
    + [
        step
        for name in ("up_volume", "other_volume")
        for step in _lagged(name, "2=1+1 3=2+1 6=3+3 12=6+6 24=12+12 26=24+2")
    ]
    + _lagged("trix", "2=1+1 3=2+1 6=3+3 9=6+3")
)
DX_SUMS = _table(_lagged("dx", "2=1+1 3=2+1 6=3+3"))
HIGHEST = _table(
    [
        step
        for name in ("high", "drop")
        for step in _lagged(
            name, "2=1+1 4=2+2 6=4+2 8=4+4 9=8+1 10=8+2 14=8+6 20=10+10 40=20+20 60=40+20", keeps_all=True
        )
    ]
)
"""Highest of the last bars; before there are so many: of those that there are."""

_MEANS = [(f"close_{n}", float(n), f"ma{n}") for n in (5, 10, 20, 30, 60, 120, 250)] + [
    ("volume_5", 5.0, "vol_ma5"),
    ("volume_10", 10.0, "vol_ma10"),
    ("tr_14", 14.0, "atr14"),
    ("trix_9", 9.0, "trix_ma"),
    ("up_12", 0.12, "psy12"),
]
MEANS = _table([(_row(source), _row(target)) for source, _, target in _MEANS])
MEAN_DIVISORS: Floats = np.array([divisor for _, divisor, _ in _MEANS])

_CHANGES = [("close", f"close_{n}", 0, float(n), f"bias{n}") for n in (6, 12, 24)] + [
    ("close", "close", 12, 1.0, "roc12"),
    *(("close", "close", n, 1.0, f"chg_{n}d") for n in (5, 20, 60)),
    *(("index", "index", n, 1.0, f"index_{n}") for n in (20, 60)),
]
CHANGES = _table([(_row(top), _row(bottom), lag, _row(target)) for top, bottom, lag, _, target in _CHANGES])
"""(top, bottom, lag of the bottom, target): target = (top x scale / bottom - 1) x 100."""
CHANGE_SCALES: Floats = np.array([scale for *_, scale, _ in _CHANGES])

WILLIAMS = _table([(_row(f"high_{n}"), _row(f"drop_{n}"), n, _row(f"wr{n}")) for n in (10, 6, 14)])
RSI_LENGTHS = np.array([6.0, 12.0, 14.0, 24.0])
RSI_ROWS = _table([(_row(f"rsi{n}"),) for n in (6, 12, 14, 24)])
PRICES = _table([(_row(name),) for name in PRICE_SCALE])

HIGH9, DROP9, HIGH10, DROP10, HIGH20, DROP20, HIGH60, DROP60 = (
    _row(f"{side}_{n}") for n in (9, 10, 20, 60) for side in ("high", "drop")
)
CLOSE3, CLOSE6, CLOSE12, CLOSE20 = (_row(f"close_{n}") for n in (3, 6, 12, 20))
VOLUME5, UP26, OTHER26 = _row("volume_5"), _row("up_volume_26"), _row("other_volume_26")
TR14, PLUS14, MINUS14, DX6 = _row("tr_14"), _row("plus_14"), _row("minus_14"), _row("dx_6")
SHIFT, TILT, SPREAD, AWAY = _row("shift"), _row("tilt"), _row("spread"), _row("away")
MA5, MA10, MA20, MA60 = _row("ma5"), _row("ma10"), _row("ma20"), _row("ma60")
UPPER, MID, LOWER, BAND = (_row(f"boll_{name}") for name in ("upper", "mid", "lower", "width_pct"))
PDI, MDI, ADX, ADXR = (_row(f"dmi_{name}") for name in ("pdi", "mdi", "adx", "adxr"))
CCI, MTM, VR, BBI, HHV20, LLV20 = (_row(name) for name in ("cci14", "mtm12", "vr26", "bbi", "hhv20", "llv20"))
VOL_RATIO, RTSI, ALIGN, RSI14 = (_row(name) for name in ("vol_ratio_5", "rtsi", "ma_align", "rsi14"))
CHG20, CHG60, INDEX20, INDEX60, RS20, RS60 = (
    _row(name) for name in ("chg_20d", "chg_60d", "index_20", "index_60", "rs_20d", "rs_60d")
)
COUNT = len(_ROWS)
"""Rows of the scratch."""

EQUAL = ours.EQUAL
"""Two averages nearer than this share of them are equal: what summing leaves is no crossing."""
FLAT = ours.FLAT
LEAD = 16
"""Bars before the first requested one from which window figures are computed: ADXR looks back 6 + 5 of
them."""
ALIGNED, REGRESSED, DIRECTED, MOMENTUM, PLACED = ours.RTSI_WEIGHTS
RTSI_BARS = ours.RTSI_BARS
