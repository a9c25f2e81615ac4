"""Questions as people ask them, and what the first sentence of a useful answer says. The second set was
written before the rules were changed and tried once when they were done."""

from dataclasses import dataclass

OFFERED = r"可以这样问：“.+”；“.+”；“.+”"


@dataclass(frozen=True)
class Wanted:
    """`first`: a pattern in the first sentence; `never`: one that is nowhere in the answer."""

    question: str
    first: str
    before: tuple[str, ...] = ()
    never: str = "证券列表中的"


FIRST = (
    Wanted("茅台现在股价多少", r"贵州茅台最新价1432\.50元"),
    Wanted("贵州茅台的市盈率是多少？", r"贵州茅台市盈率TTM 21\.53倍"),
    Wanted("五 粮 液股 估值贵不贵", r"五粮液股市盈率TTM 14\.85倍"),
    Wanted("工商银行今天为什么跌", r"工商银行下跌0\.54%.*原因不能由数据断定"),
    Wanted(
        "贵州茅台和五粮液股哪个估值低",
        r"贵州茅台市盈率TTM 21\.53倍.*五粮液股市盈率TTM 14\.85倍.*贵州茅台较高",
    ),
    Wanted("那五粮液股呢", r"五粮液股市净率3\.12倍", ("贵州茅台市净率多少",)),
    Wanted("和工商银行比呢", r"贵州茅台市盈率TTM 21\.53倍.*工商银行市盈率TTM 7\.12倍", ("贵州茅台市盈率",)),
    Wanted("市盈率最低的股票前三", r"符合条件的股票有\d+只"),
    Wanted("今天涨得最多的是哪只股票", r"符合条件的股票有\d+只"),
    Wanted("市盈率低于20，ROE大于9%的银行股", r"符合条件的股票有\d+只"),
    Wanted("今天大盘怎么样", r"上证指数报3825\.76点.*上涨0\.83%"),
    Wanted("今天涨停多少家", r"涨停71家"),
    Wanted("上一次CPI是多少", r"居民消费价格同比 0\.40%"),
    Wanted("食品饮料板块今天表现", r"食品饮料行业上涨2\.14%"),
    Wanted("哪个行业涨得最好", r"食品饮料行业上涨2\.14%"),
    Wanted("谢谢", OFFERED),
    Wanted("你好", OFFERED),
    Wanted("asdfghjkl", rf"没有听懂.*{OFFERED}"),
    Wanted("今天天气怎么样", rf"没有听懂.*{OFFERED}"),
    Wanted("贵洲茅台的市值", r"贵州茅台总市值1\.80万亿元|贵州茅台总市值17995\.00亿元"),
    Wanted("gzmt股价", r"贵州茅台最新价1432\.50元"),
    Wanted("工行的股息率", r"工商银行股息率3\.62%"),
    Wanted("它的净利润呢", r"工商银行归母净利润1681\.03亿元", ("工商银行怎么样",)),
    Wanted("谁持有贵州茅台最多", r"贵州茅台的主要股东：“茅台集团”.*持股54\.07%"),
    Wanted("茅台下次财报什么时候", r"贵州茅台2026-09-30报告期的财报预约在2026-10-28"),
    Wanted("茅台最近有什么公告", r"贵州茅台最近的公告：“贵州茅台2026年半年度报告”"),
    Wanted("华为的股价是多少", rf"没有找到名为“华为”的证券.*{OFFERED}"),
    Wanted("沪深300ETF多少钱", r"沪深300ETF最新价4\.12元"),
    Wanted("茅台能买吗", r"不给买卖建议"),
    Wanted("近一个月涨幅超过10%的医药股", r"符合条件的股票有1只"),
)
UNSEEN = (
    Wanted("宁德时代收盘价多少钱啊", r"宁德时代最新价262\.30元"),
    Wanted("招行市净率", r"招商银行市净率0\.91倍"),
    Wanted("请问东方财富的换手率是多少", r"东方财富换手率2\.35%"),
    Wanted("ningdeshidai 市盈率", r"宁德时代市盈率TTM 24\.10倍"),
    Wanted("宁得时代怎么样", r"宁德时代"),
    Wanted("药 明 康 德 的毛利率", r"药明康德毛利率41\.20%"),
    Wanted("宁德时代怎么突然大涨", r"宁德时代上涨3\.18%.*原因不能由数据断定"),
    Wanted("招商银行和平安银行谁的股息率高", r"招商银行股息率4\.85%.*平安银行股息率5\.60%.*平安银行较高"),
    Wanted("和平安银行比怎么样", r"招商银行.*平安银行", ("招商银行股息率多少",)),
    Wanted("那药明康德呢？", r"药明康德.*主力资金净流", ("宁德时代主力资金怎么样",)),
    Wanted("股息率最高的十只股票", r"符合条件的股票有\d+只"),
    Wanted("跌得最惨的股票有哪些", r"符合条件的股票有\d+只"),
    Wanted("市值最大的公司是谁", r"符合条件的股票有\d+只"),
    Wanted("市净率小于1且股息率大于4%的股票有哪些", r"符合条件的股票有\d+只"),
    Wanted("帮我选市盈率低于30、会跳舞的股票", r"没有听懂.*会跳舞.*没有选股", never=r"符合条件的股票有"),
    Wanted("创业板指今天涨了多少", r"创业板指.*上涨1\.52%"),
    Wanted("上证指数多少点", r"上证指数报3825\.76点"),
    Wanted("最新的PMI", r"制造业采购经理指数 49\.70"),
    Wanted("GDP增速怎么样", r"没有存储这一项宏观数据|国内生产总值"),
    Wanted("银行板块资金流入还是流出", r"银行行业.*净流出3\.70亿元"),
    Wanted("哪些板块跌得最厉害", r"银行行业下跌0\.92%"),
    Wanted("恒生指数怎么样", r"恒生指数上涨0\.66%"),
    Wanted("腾讯的市盈率", rf"没有找到名为“腾讯”的证券.*{OFFERED}"),
    Wanted("510300现价", r"沪深300ETF最新价4\.12元"),
    Wanted("宁德时代什么时候解禁", r"宁德时代.*2026-10-15|没有存储宁德时代的未来半年的解禁"),
    Wanted("东方财富十大股东有谁", r"没有存储东方财富的股东名单|东方财富的主要股东"),
    Wanted("感谢你的帮助", OFFERED),
    Wanted("帮我写一首诗", rf"没有听懂.*{OFFERED}"),
    Wanted("现在该不该卖掉宁德时代", r"不给买卖建议"),
    Wanted("今天有多少只股票跌停", r"跌停6家"),
)
