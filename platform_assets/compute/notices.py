"""Category and importance of a notice, by the words of its title.

The first category whose words occur wins, so the order decides: a correction of an annual report is a
report, the reply to an inquiry about a takeover is about the takeover.
"""

import re

from core.text_keys import plain_form

CATEGORIES = ("report", "dividend", "equity", "reorg", "risk", "trade", "other")
_ROUTINE, _NOTABLE, _GRAVE = 1, 2, 3

_WORDS: tuple[tuple[str, str], ...] = (
    ("risk", "退市|终止上市|立案|行政处罚|监管措施|警示函|风险提示|风险警示|违约|破产|失信|冻结|诉讼|仲裁"
             "|无法表示意见|问询函|关注函|停产"),
    ("reorg", "重大资产|资产重组|重组|吸收合并|要约收购|收购报告书|控制权变更|实际控制人变更|分拆"),
    ("dividend", "权益分派|利润分配|分红|派息|送股|转增"),
    ("equity", "增持|减持|回购|质押|解除限售|限售股|股权激励|期权|员工持股|定向增发|向特定对象发行"
               "|非公开发行|配股|可转换公司债|可转债|股份变动|权益变动|股本"),
    ("report", "年度报告|季度报告|年报|季报|业绩预告|业绩快报|业绩预增|业绩预减|审计报告|财务报表|财务报告"),
    ("trade", "合同|中标|对外投资|关联交易|担保|采购|战略合作|框架协议|停牌|复牌|异常波动"),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(words)) for name, words in _WORDS)
_GRAVE_WORDS = re.compile(
    "退市|终止上市|立案|行政处罚|违约|破产|重大资产重组|要约收购|控制权变更|实际控制人变更|无法表示意见|停产"
)
_MINOR_WORDS = re.compile("摘要|英文版|法律意见|核查意见|提示性公告的说明|已取消|更正|补充|制度|细则")
_WEIGHTY = frozenset({"report", "dividend", "risk", "reorg"})


def category_of(title: str) -> str:
    """One of `CATEGORIES`."""
    plain = plain_form(title)
    return next((name for name, pattern in _PATTERNS if pattern.search(plain)), "other")


def importance_of(title: str) -> int:
    """3 for notices that change a company's state, 2 for those that holders wait for, 1 for all others."""
    plain = plain_form(title)
    if _MINOR_WORDS.search(plain):
        return _ROUTINE
    if _GRAVE_WORDS.search(plain):
        return _GRAVE
    return _NOTABLE if category_of(plain) in _WEIGHTY else _ROUTINE
