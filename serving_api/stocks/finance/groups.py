"""The indicators of a report, in groups, with their names and units."""

GROUPS: tuple[tuple[str, str, tuple[tuple[str, str, str], ...]], ...] = (
    ("per_share", "每股指标", (
        ("eps", "基本每股收益", "CNY"), ("deducted_eps", "扣非每股收益", "CNY"),
        ("eps_diluted", "稀释每股收益", "CNY"), ("bvps", "每股净资产", "CNY"),
        ("capital_reserve_ps", "每股公积金", "CNY"), ("undistributed_ps", "每股未分配利润", "CNY"),
        ("ocfps", "每股经营现金流", "CNY"), ("epsjbtz", "基本每股收益同比增长", "pct"),
        ("bpstz", "每股净资产同比增长", "pct"), ("mgzbgjtz", "每股公积金同比增长", "pct"),
        ("mgwfplrtz", "每股未分配利润同比增长", "pct"), ("mgjyxjjetz", "每股经营现金流同比增长", "pct"),
    )),
    ("growth", "成长能力", (
        ("revenue", "营业总收入", "CNY"), ("gross_profit", "毛利润", "CNY"),
        ("net_profit", "归属净利润", "CNY"), ("deducted_net_profit", "扣非净利润", "CNY"),
        ("revenue_yoy", "营业总收入同比增长", "pct"), ("net_profit_yoy", "归属净利润同比增长", "pct"),
        ("deducted_net_profit_yoy", "扣非净利润同比增长", "pct"),
        ("yyzsrgdhbzc", "营业总收入滚动环比增长", "pct"),
        ("netprofitrphbzc", "归属净利润滚动环比增长", "pct"),
        ("kfjlrgdhbzc", "扣非净利润滚动环比增长", "pct"), ("revenue_qoq", "营业总收入单季环比增长", "pct"),
        ("net_profit_qoq", "归属净利润单季环比增长", "pct"),
        ("djd_deductdpnp_qoq", "扣非净利润单季环比增长", "pct"),
        ("djd_toi_yoy", "营业总收入单季同比增长", "pct"), ("djd_dpnp_yoy", "归属净利润单季同比增长", "pct"),
        ("djd_deductdpnp_yoy", "扣非净利润单季同比增长", "pct"),
    )),
    ("profitability", "盈利能力", (
        ("roe", "净资产收益率(加权)", "pct"), ("roe_deducted", "净资产收益率(扣非/加权)", "pct"),
        ("roe_diluted", "净资产收益率(摊薄)", "pct"), ("roa", "总资产收益率", "pct"),
        ("roic", "投入资本回报率", "pct"), ("roejqtz", "净资产收益率同比增长", "pct"),
        ("zzcjlltz", "总资产收益率同比增长", "pct"), ("roictz", "投入资本回报率同比增长", "pct"),
        ("gross_margin", "毛利率", "pct"), ("xsmll_tb", "毛利率同比变动", "pct"),
        ("net_margin", "净利率", "pct"), ("taxrate", "实际税率", "pct"),
    )),
    ("quality", "收益质量", (
        ("yszkyysr", "预收账款/营业收入", ""), ("xsjxlyysr", "销售净现金流/营业收入", ""),
        ("jyxjlyysr", "经营净现金流/营业收入", ""),
    )),
    ("solvency", "财务风险", (
        ("current_ratio", "流动比率", ""), ("quick_ratio", "速动比率", ""), ("xjllb", "现金流量比率", ""),
        ("debt_ratio", "资产负债率", "pct"), ("zcfzltz", "资产负债率同比增长", "pct"),
        ("qycs", "权益乘数", ""), ("cqbl", "产权比率", ""),
    )),
    ("operation", "营运能力", (
        ("zzczzts", "总资产周转天数", "days"), ("inventory_days", "存货周转天数", "days"),
        ("receivable_days", "应收账款周转天数", "days"), ("asset_turnover", "总资产周转率", "times"),
        ("chzzl", "存货周转率", "times"), ("yszkzzl", "应收账款周转率", "times"),
    )),
    ("bank", "银行指标", (
        ("net_interest_margin", "净息差", "pct"), ("nonperloan", "不良贷款率", "pct"),
        ("loan_provision_ratio", "贷款拨备率", "pct"), ("newcapitalader", "资本充足率", "pct"),
        ("hxyjbczl", "核心资本充足率", "pct"), ("bldkbbl", "不良贷款拨备覆盖率", "pct"),
        ("totaldeposits", "存款总额", "CNY"), ("grossloans", "贷款总额", "CNY"),
        ("ltdrr", "存贷款比例", "pct"), ("nzbje", "资本净额", "CNY"),
    )),
    ("broker", "证券公司指标", (
        ("jzb", "净资本", "CNY"), ("jzc", "净资产", "CNY"), ("jzbjzc", "净资本/净资产", "pct"),
        ("zygpgmjzc", "自营股票规模/净资本", "pct"), ("zygdsylzqjzb", "自营固定收益类证券/净资本", "pct"),
        ("yyfxzb", "营运风险准备", "CNY"), ("jjywfxzb", "经纪业务风险准备", "CNY"),
        ("zqzyywfxzb", "证券自营业务风险准备", "CNY"), ("zqcxywfxzb", "证券承销业务风险准备", "CNY"),
        ("rzrqywfxzb", "融资融券业务风险准备", "CNY"),
    )),
    ("insurer", "保险公司指标", (
        ("total_roi", "总投资收益率", "pct"), ("net_roi", "净投资收益率", "pct"),
        ("earned_premium", "已赚保费", "CNY"), ("compensate_expense", "赔付支出", "CNY"),
        ("surrender_rate_life", "退保率(寿险)", "pct"), ("solvency_ar", "偿付能力充足率", "pct"),
        ("nbv_life", "新业务价值(寿险)", "CNY"), ("nbv_rate", "新业务价值率", "pct"),
        ("nhjz_current_amt", "内含价值", "CNY"),
    )),
)  # fmt: skip
"""Groups of indicators: (key, name, (indicator, name, unit)). Other indicators of a report are in `other`."""
