"""Typical accounts of an industry: the median of its ratios and the structure of its balance sheet.

Medians of P/B and P/E follow the large caps of 2024-06-26 in the real bars (banks 0.58 and 5.1, liquor 4.4
and 20, semiconductors 4.7 and 43 ...), a little higher where an industry consists of small companies; the
other columns are the usual ranges of its annual reports.
"""

from dataclasses import dataclass
from typing import Any

Range = tuple[float, float]

_COLUMNS = """
industry    p/b  p/e net%  gross%  debt%   current% fixed%  stock%  due%   cash%  research%
银行        0.58  5.6  38   -       91.5-93.5 -      0.4-0.9  -       -      6-10   -
证券        1.15  22   27   -       70-82    -       0.8-1.8  -       1-3    16-26  -
保险        1.05  10   6    -       87-92    -       0.8-1.8  -       1-3    2-4    -
多元金融    1.20  17   20   -       55-80    -       1-4      -       8-20   8-16   -
医药生物    2.60  27   11   35-75   20-45    45-65   15-28    14-30   18-32  20-40  3-10
医药商业    1.40  16   2.5  8-20    50-70    68-85   5-12     20-32   30-42  12-22  0.1-0.8
电子        2.90  36   7    15-40   30-55    45-65   18-34    18-32   24-38  16-32  4-9
半导体      3.60  46   10   25-50   15-40    48-66   16-30    18-32   16-28  28-46  10-20
计算机      3.10  42   6    30-60   25-50    62-82   5-14     8-22    28-45  22-40  8-18
软件开发    3.60  45   8    45-72   20-42    62-82   5-14     2-9     26-42  30-48  12-24
电力设备    2.20  22   6.5  14-30   45-65    55-70   15-26    16-28   28-42  18-30  3-6
机械设备    2.20  26   7    20-38   35-55    58-75   11-20    20-34   24-38  16-30  3-8
汽车        2.20  24   5    13-27   42-65    50-66   18-30    15-26   24-38  16-28  3-7
食品饮料    3.00  24   11   22-48   25-45    42-62   20-32    18-34   4-12   28-48  0.5-2
白酒        4.60  20   33   65-90   18-35    66-82   8-16     26-46   0.2-2  34-54  0.2-1.5
基础化工    1.90  22   6.5  12-28   30-52    35-52   28-42    18-32   18-32  18-34  2-4.5
有色金属    2.00  18   5    7-20    40-60    38-56   24-38    30-48   10-22  16-30  0.5-2
贵金属      3.20  24   6    9-24    35-55    38-56   24-38    30-48   2-8    20-34  0.2-1
公用事业    1.60  17   11   15-35   50-68    12-25   48-65    3-9     28-48  20-38  0.1-1
交通运输    1.40  16   9    8-30    35-60    22-42   30-50    2-8     22-40  26-44  0.1-0.6
房地产      0.75  13   6    12-27   66-82    72-86   2-8      52-70   2-6    10-20  0.1-0.4
通信        2.60  30   6.5  20-38   30-50    58-75   10-20    15-28   28-42  20-34  5-10
传媒        2.10  26   8    28-50   22-42    55-72   6-16     3-12    20-36  30-48  2-8
国防军工    2.90  45   7    20-40   35-55    60-76   12-22    22-36   28-42  16-28  4-9
家用电器    2.20  17   7.5  20-34   42-62    60-76   12-20    16-28   18-30  24-38  2.5-5
农林牧渔    2.20  24   3.5  6-20    40-62    35-52   28-42    34-50   6-16   16-28  0.3-1.5
轻工制造    1.80  21   6    16-32   35-52    45-60   22-34    18-30   20-34  18-32  2-4
建筑材料    1.40  17   7    16-30   35-52    40-58   28-40    12-24   20-38  20-34  2-4
建筑装饰    0.90  11   2.8  8-16    68-80    68-82   4-12     10-24   36-52  12-22  1.5-4
钢铁        0.90  15   2    4-10    50-66    35-48   38-50    26-42   8-18   20-34  0.5-3
煤炭        1.50  10   14   25-42   35-58    25-42   32-48    6-14    12-24  36-54  0.3-1.5
石油石化    1.30  13   4.5  10-22   42-60    30-45   35-50    24-40   14-28  18-32  0.3-1.5
纺织服饰    1.60  18   7    24-48   28-46    52-68   16-28    26-42   14-28  20-36  1-3
商贸零售    1.50  24   3    12-32   50-68    45-62   14-28    18-34   8-22   24-40  0.1-1
社会服务    2.40  30   7    22-45   30-52    40-60   18-34    2-9     20-38  32-50  0.5-3
环保        1.40  18   8    20-35   50-65    40-56   16-30    5-14    38-54  14-26  1.5-4
美容护理    3.40  30   10   45-70   18-36    58-74   12-20    14-28   10-22  34-52  2-4
综合        1.70  24   6    15-35   40-60    48-64   14-26    18-34   16-30  18-32  0.5-3
"""
_OF_FINANCE = {"银行": 0.22, "保险": 0.25}
_SPREAD = 0.40
_SPANS = ("gross", "debt", "current", "fixed", "stock", "due", "cash", "research")


@dataclass(frozen=True)
class Accounts:
    """`pb`, `pe`, `net_margin`: medians at the begin of 2024; `spread` the deviation of their logarithm. The
    ranges are fractions: `gross`, `research` of revenue, `debt`, `fixed`, `current` of all assets, `stock`
    (inventories), `due` (receivables) and `cash` of current assets. A financial company does not divide its
    balance into current and other, and reports no inventories and no cost of sales: its `due` and `cash` are
    fractions of all assets."""

    pb: float
    pe: float
    net_margin: float
    gross: Range | None
    debt: Range
    current: Range | None
    fixed: Range
    stock: Range | None
    due: Range | None
    cash: Range
    research: Range | None
    spread: float

    @property
    def is_classified(self) -> bool:
        """Whether the balance is divided into current and other."""
        return self.current is not None


def within(span: Range, share: float) -> float:
    """The value at a share of a range."""
    return span[0] + (span[1] - span[0]) * share


def _range(text: str) -> Any:
    """A range of percentages as fractions; None of a lone dash."""
    return None if text == "-" else tuple(float(part) / 100 for part in text.split("-"))


def _read() -> dict[str, Accounts]:
    made = {}
    for line in _COLUMNS.split("\n")[2:-1]:
        name, pb, pe, net, *ranges = line.split()
        spread = _OF_FINANCE.get(name, _SPREAD)
        spans = dict(zip(_SPANS, map(_range, ranges), strict=True))
        made[name] = Accounts(float(pb), float(pe), float(net) / 100, **spans, spread=spread)
    return made


_ACCOUNTS = _read()


def accounts_of(sector: str, industry: str) -> Accounts:
    """By second-level industry where that differs from its sector."""
    own = _ACCOUNTS.get(industry) or _ACCOUNTS.get(sector)
    return own or _ACCOUNTS["多元金融" if sector == "非银金融" else "综合"]
