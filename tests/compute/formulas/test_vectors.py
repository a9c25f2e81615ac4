"""Indicators written as formulas give the published numbers of the series of sixty bars."""

import numpy as np
import pytest

from platform_assets.compute import series
from platform_assets.compute.formulas.evaluate import along
from platform_assets.compute.formulas.parser import parse
from tests.compute.vectors import INDICATORS, bars, expected

_MACD = "DIF:=EMA(C,12)-EMA(C,26); DEA:=EMA(DIF,9); "
_MOVES = (
    "LC:=REF(C,1); TR:=MAX(MAX(H-L,ABS(H-LC)),ABS(L-LC)); HD:=H-REF(H,1); LD:=REF(L,1)-L; S:=SUM(TR,14); "
    "PDI:=SUM(IF(HD>0 AND HD>LD,HD,0),14)*100/S; MDI:=SUM(IF(LD>0 AND LD>HD,LD,0),14)*100/S; "
    "ADX:=MA(ABS(PDI-MDI)/(PDI+MDI)*100,6); "
)
_TRIX = "T:=EMA(EMA(EMA(C,12),12),12); TRIX:=(T/REF(T,1)-1)*100; "


def _rsi(n: int) -> str:
    return f"D:=C-REF(C,1); SMA(MAX(D,0),{n},1)/SMA(ABS(D),{n},1)*100"


FORMULAS = {
    "ma20": "MA(C,20)",
    "ema26": "EMA(C,26)",
    "dif": _MACD + "DIF",
    "dea": _MACD + "DEA",
    "hist": _MACD + "2*(DIF-DEA)",
    **{f"rsi{n}": _rsi(n) for n in (6, 12, 14, 24)},
    "boll_up": "MA(C,20)+2*STD(C,20)",
    "boll_low": "MA(C,20)-2*STD(C,20)",
    "boll_up_ddof0": "MA(C,20)+2*STDP(C,20)",
    "atr14_ma": _MOVES + "MA(TR,14)",
    "cci14": "TYP:=(H+L+C)/3; (TYP-MA(TYP,14))/(0.015*AVEDEV(TYP,14))",
    "wr10": "(HHV(H,10)-C)/(HHV(H,10)-LLV(L,10))*100",
    "wr14": "(HHV(H,14)-C)/(HHV(H,14)-LLV(L,14))*100",
    "pdi": _MOVES + "PDI",
    "mdi": _MOVES + "MDI",
    "adx": _MOVES + "ADX",
    "adxr": _MOVES + "(ADX+REF(ADX,6))/2",
    "bias12": "(C/MA(C,12)-1)*100",
    "roc12": "(C/REF(C,12)-1)*100",
    "psy12": "COUNT(C>REF(C,1),12)/12*100",
    "trix12": _TRIX + "TRIX",
    "trix_ma": _TRIX + "MA(TRIX,9)",
    "bbi": "(MA(C,3)+MA(C,6)+MA(C,12)+MA(C,20))/4",
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_gives_the_published_numbers(name: str) -> None:
    block = series.blocks(bars(), "open", "high", "low", "close", "volume")
    values = along(parse(FORMULAS[name]), block, block["close"].shape)[0]
    tolerance = 1e-3 if name == "psy12" else 1e-4
    for at, published in expected(INDICATORS)[name].items():
        np.testing.assert_allclose(values[at], published, atol=tolerance, rtol=0)
