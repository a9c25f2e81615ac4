"""Profile S by hand: 60 fictitious companies, and the table of their events by date.

`FEATURES` is both the script of the world and the list from which tests take their cases, so that the two
cannot differ.
"""

from collections.abc import Callable, Mapping

import numpy as np

from core.arrays import Ints
from core.errors import DeclarationError
from simulated_market.world.company_plans import Profile, dividends, trade_date, traits
from simulated_market.world.plan import Event, Feature, Move, Plan

# -- Engineered chart patterns: day-by-day moves that end in a known breakout.


def _leg(days: int, total: float, turn: float = 1.0) -> list[Move]:
    """`days` sessions that add up to `total` (log), with a small saw so that bars are not lines."""
    step = total / days
    saw = (0.003, -0.003)
    return [Move(ret=step + saw[k % 2], gap=step * 0.3, turn=turn, wick=0.35) for k in range(days)]


def cup_handle() -> list[Move]:
    """Rim, a 20 % cup of 50 sessions, a shallow handle, then the close above the right rim."""
    cup = [*_leg(14, 0.15), *_leg(16, -0.16), *_leg(8, -0.03, 0.6), *_leg(8, 0.03, 0.6), *_leg(18, 0.16)]
    return [*cup, *_leg(8, -0.05, 0.6), Move(ret=0.07, gap=0.01, turn=3.0, wick=0.2)]


def double_bottom() -> list[Move]:
    """A fall, two equal lows, then the close above the high between them."""
    lows = [*_leg(24, -0.22), *_leg(10, 0.10), *_leg(10, -0.098, 0.8), *_leg(8, 0.07, 0.9)]
    return [*lows, Move(ret=0.06, gap=0.01, turn=2.8, wick=0.2)]


def island() -> list[Move]:
    """A fall, a gap down, five sessions beyond it, a gap up: island reversal at the bottom."""
    sea = [Move(ret=0.001 * (-1) ** k, gap=0.0, turn=0.8, wick=0.1) for k in range(5)]
    return [
        *_leg(20, -0.14),
        Move(ret=-0.045, gap=-0.042, turn=1.2, wick=0.05),
        *sea,
        Move(ret=0.055, gap=0.05, turn=2.5, wick=0.05),
    ]


def old_duck() -> list[Move]:
    """Flat base, neck (both short averages above the long one), head, quiet pullback, break of the head."""
    base = [*_leg(70, 0.0), *_leg(18, 0.20, 1.6), *_leg(9, -0.075, 0.45), *_leg(6, 0.045, 0.6)]
    return [*base, Move(ret=0.06, gap=0.01, turn=3.2, wick=0.2)]


SCENES = {"cup_handle": cup_handle, "double_bottom": double_bottom, "island": island, "old_duck": old_duck}


# code, market, board, name, second-level industry
ROLES: tuple[tuple[str, str, str, str, str], ...] = (
    ("600040", "SH", "main", "瀚岳银行", "股份制银行"),
    ("600041", "SH", "main", "长重重工", "工程机械"),
    ("600042", "SH", "main", "泽禾酒业", "白酒"),
    ("600043", "SH", "main", "沅陵药业", "化学制药"),
    ("600044", "SH", "main", "垚川电力", "电力"),
    ("600045", "SH", "main", "蔚海能Ａ", "电力"),
    ("600046", "SH", "main", "檀溪化工", "化学原料"),
    ("600047", "SH", "main", "筠庭置业", "房地产开发"),
    ("600049", "SH", "main", "骊原矿业", "贵金属"),
    ("600124", "SH", "main", "珩渡物流", "物流"),
    ("600134", "SH", "main", "漪湾股份", "化学制品"),
    ("600140", "SH", "main", "霁野铜业", "工业金属"),
    ("601300", "SH", "main", "朝行银行", "城商行"),
    ("601301", "SH", "main", "骁津证券", "证券"),
    ("601302", "SH", "main", "昀港物流", "物流"),
    ("601303", "SH", "main", "熠陵保险", "保险"),
    ("603401", "SH", "main", "钰桥智造", "专用设备"),
    ("603403", "SH", "main", "睿浦电子", "元件"),
    ("605400", "SH", "main", "颢晖股份", "化学制品"),
    ("605401", "SH", "main", "曜衡精工", "通用设备"),
    ("000300", "SZ", "main", "澜源电气", "电网设备"),
    ("000101", "SZ", "main", "英 岭 特", "通用设备"),
    ("000102", "SZ", "main", "屹麓机电", "自动化设备"),
    ("000103", "SZ", "main", "钧野地产", "房地产开发"),
    ("000104", "SZ", "main", "琅坪食品", "饮料乳品"),
    ("000105", "SZ", "main", "邺城电缆", "电网设备"),
    ("000106", "SZ", "main", "乐汀药业", "中药"),
    ("000107", "SZ", "main", "瀚棠黄金", "贵金属"),
    ("000108", "SZ", "main", "岭屿农化", "化学制品"),
    ("000109", "SZ", "main", "朔域能源", "电力"),
    ("001401", "SZ", "main", "翎塬汽车", "汽车零部件"),
    ("001402", "SZ", "main", "沅洲车桥", "汽车零部件"),
    ("002000", "SZ", "main", "湛峡软件", "软件开发"),
    ("002257", "SZ", "main", "穹畴光电", "光学光电子"),
    ("003050", "SZ", "main", "蔚朗医药", "医疗器械"),
    ("300000", "SZ", "gem", "檀枢微电", "半导体"),
    ("300060", "SZ", "gem", "筠磐生物", "生物制品"),
    ("300114", "SZ", "gem", "骊和储能", "电池"),
    ("300361", "SZ", "gem", "珩岳智联", "软件开发"),
    ("300524", "SZ", "gem", "峤禾医疗", "医疗器械"),
    ("300544", "SZ", "gem", "漪原数科", "软件开发"),
    ("300574", "SZ", "gem", "霁川新能", "电池"),
    ("300646", "SZ", "gem", "骁衡光电", "光学光电子"),
    ("300704", "SZ", "gem", "昀渡机电", "自动化设备"),
    ("300714", "SZ", "gem", "煦麓信息", "软件开发"),
    ("301700", "SZ", "gem", "熠陵新材", "化学制品"),
    ("301701", "SZ", "gem", "钰晖智造", "专用设备"),
    ("301702", "SZ", "gem", "睿桥电子", "元件"),
    ("301703", "SZ", "gem", "颢津药业", "化学制药"),
    ("301704", "SZ", "gem", "曜浦动力", "汽车零部件"),
    ("688000", "SH", "star", "澜湾半导", "半导体"),
    ("688014", "SH", "star", "屹港微电-U", "半导体"),
    ("688024", "SH", "star", "钧庭生物", "生物制品"),
    ("688034", "SH", "star", "琅野信息-W", "软件开发"),
    ("688040", "SH", "star", "邺坪光电", "光学光电子"),
    ("688042", "SH", "star", "长汀医疗", "医疗器械"),
    ("688043", "SH", "star", "重屿精工", "专用设备"),
    ("920004", "BJ", "bj", "朝域机电", "通用设备"),
    ("920011", "BJ", "bj", "乐塬新材", "化学原料"),
    ("920012", "BJ", "bj", "瀚洲电气", "电网设备"),
)  # fmt: skip

# Prices (CNY) that a feature needs; the rest is drawn.
_PRICES: dict[str, float] = {
    "sh600041": 18.5, "sh600042": 1480.0, "sh600043": 24.0, "sh600044": 7.4, "sh600124": 16.0,
    "sh600134": 12.6, "sh600046": 1.15, "sh605400": 9.8, "sz000101": 21.0, "sz000102": 15.5,
    "sz000104": 26.0, "sz000108": 8.84, "sz000103": 2.6, "sz000109": 4.2, "sz003050": 33.0, "sh600047": 3.1,
}  # fmt: skip

F = Feature
FEATURES: tuple[Feature, ...] = (
    # identity and names
    F("same_digits_as_index", "sz000300", 20240102, "a stock under the six digits of the CSI 300 index"),
    F("polyphone_name", "sh600041", 20240102, "长 (cháng) and 重 (zhòng) in one name"),
    F("polyphone_name", "sh601300", 20240102, "朝 (zhāo or cháo) and 行 (háng) in one name"),
    F("full_width_name", "sh600045", 20240102, "a full-width Ａ ends the name"),
    F("blanks_in_name", "sz000101", 20240102, "blanks between the syllables"),
    F("unprofitable_suffix", "sh688014", 20240910, "STAR suffix -U"),
    F("weighted_votes_suffix", "sh688034", 20240102, "STAR suffix -W"),
    F("high_price", "sh600042", 20240102, "price above 1,000 CNY"),
    F("penny_stock", "sh600046", 20240102, "price around 1 CNY: one tick is almost a percent"),
    F("bank_without_gross_margin", "sh600040", 20240102, "reports have no gross margin"),
    F("rename", "sz000105", 20250303, "ordinary rename", text="邺源电气"),
    # ex-rights: values = cash, rights price, bonus, rights per 10 shares
    F("cash_dividend", "sh600043", 20240620, "name prefix XD on that day", values=(5.0, 0, 0, 0)),
    F("cash_dividend", "sh600042", 20250626, "big cash dividend", values=(276.24, 0, 0, 0)),
    F("bonus", "sh600124", 20240718, "10 for 10: halves the price, prefix XR", values=(0, 0, 10.0, 0)),
    F("cash_and_bonus", "sh600134", 20250612, "cash and 4.9 bonus, prefix DR", values=(2.0, 0, 4.9, 0)),
    F("cash_and_bonus", "sz000101", 20240606, "8 bonus, cash, Shenzhen: no prefix", values=(1.5, 0, 8.0, 0)),
    F("rights_issue", "sz000102", 20241022, "3 rights per 10 at 8.20", values=(0, 8.2, 0, 3.0)),
    F("two_events_one_week", "sz000104", 20250708, "first of two ex-dates", values=(1.0, 0, 0, 0)),
    F("two_events_one_week", "sz000104", 20250710, "second of two ex-dates", values=(0, 0, 3.0, 0)),
    F("treasury_shares", "sz003050", 20250522, "1.2 % treasury stock, 0.01 off", values=(10.0, 0, 0, 0)),
    F("ex_right_while_suspended", "sh600044", 20250716, "ex-date inside a suspension", values=(2.5, 0, 0, 0)),
    # suspensions
    F("suspension", "sh600041", 20240415, "ten sessions", until=20240426),
    F("suspension", "sh600044", 20250714, "five sessions with an ex-date", until=20250718),
    F("suspension", "sh601302", 20260825, "suspended over the newest dates of late August", until=20260904),
    F("long_suspension", "sz000106", 20241008, "half a year", until=20250409),
    F("long_suspension", "sz003050", 20260914, "over the newest dates of autumn", until=20261218),
    F("relisting", "sz000108", 20250811, "back after 13 months without a price limit", values=(0.46,)),
    F("suspension_before_relisting", "sz000108", 20240708, "until the re-listing", until=20250808),
    # special treatment
    F("st", "sh600047", 20250506, "enters ST", text="ST筠庭"),
    F("star_st", "sz000103", 20240430, "enters *ST", text="*ST钧野"),
    F("star_st_to_st", "sz000103", 20250527, "*ST becomes ST", text="ST钧野"),
    F("st_removed", "sz000103", 20260512, "ST lifted", text="钧野地产"),
    F("st", "sz000109", 20260429, "ST over the change of the ST band", text="ST朔域"),
    F("st_limit_five_percent", "sz000109", 20260703, "sealed at +5 %, the last day of the old band"),
    F("st_limit_ten_percent", "sz000109", 20260706, "sealed at +10 %, the first day of the new band"),
    F("gem_st", "sz300704", 20250429, "ST on ChiNext keeps 20 %", text="ST昀渡"),
    # listings and delistings: values = issue price, first close / issue price - 1
    F("listing", "sh688014", 20240910, "STAR, unprofitable, five free days", values=(18.60, 1.35)),
    F("listing", "sh605401", 20250318, "Shanghai main board, five free days", values=(12.88, 0.92)),
    F("listing", "sz301704", 20251105, "ChiNext, five free days", values=(27.30, 1.86)),
    F("listing", "bj920012", 20260210, "Beijing, one free day", values=(9.45, 2.40)),
    F("listing", "sh688043", 20260818, "still in its free days around 2026-08-21", values=(31.02, 0.75)),
    F("lockup_release", "sh688014", 20250910, "float share rises to 45 %", values=(0.45,)),
    F("lockup_release", "sz301703", 20250620, "float share rises to 100 %", values=(1.0,)),
    F("star_st", "sh605400", 20240429, "first warning of the later delisting", text="*ST颢晖"),
    F("limit_down_streak", "sh605400", 20250507, "four one-word limit-downs", until=20250512),
    F("delisting_period", "sh605400", 20250610, "first day free, then 10 %; prefix 退市", text="退市颢晖"),
    F("delisting", "sh605400", 20250630, "last session; gone the day after", until=20250630),
    # limit boards
    F("limit_up_streak", "sz002000", 20250908, "five boards, the first two one-word", until=20250912),
    F("limit_up_streak", "sz300114", 20260817, "four 20 % boards up to 2026-08-20", until=20260820),
    F("limit_up_streak", "sh600140", 20260820, "two boards over 2026-08-21", until=20260821),
    F("broken_limit_up", "sz002000", 20250915, "touched and lost on the sixth day"),
    F("broken_limit_up", "sh603401", 20260821, "touched and lost"),
    F("limit_down", "sz001402", 20260821, "sealed limit-down"),
    F("limit_up", "sh688000", 20250110, "20 % on STAR"),
    F("limit_up", "bj920004", 20250110, "30 % on Beijing"),
    # market days
    F("crash", "sh000001", 20250616, "most codes limit-down, partial rebound next day"),
    F("rally_week", "sh000001", 20260309, "everything up, a third limit-up on the last day", until=20260313),
    # patterns: date = breakout
    F("cup_handle", "sz002257", 20250820, "close above the right rim"),
    F("double_bottom", "sh603403", 20260121, "close above the high between two lows"),
    F("island", "sz300524", 20250325, "gap up out of an island"),
    F("old_duck", "sz300646", 20260626, "close above the head top"),
)  # fmt: skip


def companies(profile: Profile, days: Ints, seed: int) -> list[Plan]:
    """The 60 plans of profile S with every feature applied."""
    plans: dict[str, Plan] = {}
    for index, (code, market, board, name, industry) in enumerate(ROLES):
        since = {"gem": 2010, "star": 2020, "bj": 2021}.get(board, 1993)
        listed = trade_date(
            (since + index * 5 % (2023 - since)) * 10_000 + (3 + index % 9) * 100 + 5 + index % 20
        )
        plan = Plan(code, market, "stock", board, [(0, name)], listed, industry=industry)
        plan = traits(plan, index, seed, price=_PRICES.get(plan.symbol))
        plan.loss_maker = plan.symbol in _LOSS_MAKERS
        plans[plan.symbol] = plan
    for feature in FEATURES:
        if feature.symbol in plans and feature.name in _HANDLERS:
            _HANDLERS[feature.name](plans[feature.symbol], feature, days)
    for index, plan in enumerate(plans.values()):
        if plan.symbol not in _SCRIPTED:
            dividends(plan, index, days, seed)
        plan.names.sort()
    for plan in plans.values():
        plan.jumpy = _JUMPY
    _daily_boards(list(plans.values()), days, 1)
    if len(plans) != profile.stocks:
        raise DeclarationError(
            f"profile {profile.name} promises {profile.stocks} stocks, there are {len(plans)} companies"
        )
    return list(plans.values())


def continue_companies(plans: list[Plan], days: Ints, first: int, seed: int) -> None:
    """What happens to the companies in sessions from `first` on, behind those of the profile; nothing before
    them changes."""
    for index, plan in enumerate(plans):
        plan.own_moves = len(plan.moves)
        if plan.symbol not in _SCRIPTED:
            dividends(plan, index, days, seed, int(days[first]) // 10_000)
    _daily_boards(plans, days, first)


def _daily_boards(plans: list[Plan], days: Ints, first: int) -> None:
    """Scripts what thousands of companies show on every day and sixty would not: a limit-up that holds, the
    longest streak, and one that breaks. Days of the feature table are avoided."""
    able = [plan for plan in plans if plan.board == "main"]
    start, number = first, 0
    while start < len(days):
        height = _LADDERS[number % len(_LADDERS)]
        leader = _undisturbed(able, number * 7, (start, start + height), days)
        for day in range(start, min(start + height, len(days))):
            turn = 1.9 if day == start + height - 1 else 1.4
            leader.moves[day] = Move(mode="seal_up", gap=(0.004, 0.018, 0.031)[day % 3], turn=turn)
        if start + height < len(days):
            back = 0.012 + 0.004 * (start % 7)
            leader.moves[start + height] = Move(mode="broken_up", ret=back, gap=0.02, turn=2.4)
        start, number = start + height, number + 1
    # A day on which no leader ends has its broken limit-up elsewhere.
    broken = {day for plan in able for day, move in plan.moves.items() if move.mode == "broken_up"}
    for day in sorted(set(range(first, len(days))) - broken):
        plan = _undisturbed(able, day * 11, (day, day), days)
        plan.moves[day] = Move(mode="broken_up", ret=0.008 + 0.005 * (day % 9), gap=0.006, turn=1.8)


def _undisturbed(able: list[Plan], first: int, span: tuple[int, int], days: Ints) -> Plan:
    """The first company from place `first` on with nothing scripted in some sessions around `span`."""
    around = set(range(span[0] - 3, span[1] + 4))
    today = int(days[span[0]])

    def free(plan: Plan) -> bool:
        listed = (plan.list_day < 0 or plan.list_day + 10 <= span[0]) and plan.last_day is None
        rests = any(a - 3 <= span[1] and b + 3 >= span[0] for a, b in plan.suspensions)
        ex_days = {event.day for event in plan.events}
        name = [name for since, name in sorted(plan.names) if since <= today][-1]
        return listed and not rests and not around & (plan.moves.keys() | ex_days) and "ST" not in name

    order = [able[(first + k) % len(able)] for k in range(len(able))]
    for plan in sorted(order, key=lambda one: len(one.moves)):  # none above all others in the end
        if free(plan):
            return plan
    raise DeclarationError(f"no scripted company is free for a limit-up on {today}")


def day_of(days: Ints, date: int) -> int:
    """Session index of a trade date; a feature on a closed day is a mistake of the table."""
    at = int(np.searchsorted(days, date))
    if at == len(days) or int(days[at]) != date:
        raise DeclarationError(f"{date} of a scripted company is no session of the profile")
    return at


def _ex_right(plan: Plan, f: Feature, days: Ints) -> None:
    cash, price, bonus, rights = f.values
    held = 0.012 if f.name == "treasury_shares" else 0.0
    plan.events.append(
        Event(day_of(days, f.date), cash=cash, bonus=bonus, rights=rights, rights_price=price, held_back=held)
    )


def _suspension(plan: Plan, f: Feature, days: Ints) -> None:
    plan.suspensions.append((day_of(days, f.date), day_of(days, f.until or f.date)))


def _relisting(plan: Plan, f: Feature, days: Ints) -> None:
    plan.relisting_day = day_of(days, f.date)
    plan.moves[plan.relisting_day] = Move(ret=f.values[0], gap=f.values[0] * 0.8, turn=4.0)


def _named(plan: Plan, f: Feature, days: Ints) -> None:
    plan.names.append((int(days[day_of(days, f.date)]), f.text))


def _listing(plan: Plan, f: Feature, days: Ints) -> None:
    issue, gain = f.values
    plan.list_day, plan.list_date, plan.price = day_of(days, f.date), f.date, round(issue * 100)
    plan.floating = plan.total // 4
    plan.moves[plan.list_day] = Move(ret=gain, gap=gain * 0.7, wick=3.0)
    for k, ret in enumerate((-0.085, 0.062, -0.12, 0.13), start=1):
        plan.moves[plan.list_day + k] = Move(ret=ret, gap=ret * 0.2, wick=2.0)


def _release(plan: Plan, f: Feature, days: Ints) -> None:
    plan.releases.append((day_of(days, f.date), f.values[0]))


def _delisting_period(plan: Plan, f: Feature, days: Ints) -> None:
    _named(plan, f, days)
    plan.delisting_day = day_of(days, f.date)
    plan.moves[plan.delisting_day] = Move(ret=-0.58, gap=-0.45, turn=3.0)


def _delisting(plan: Plan, f: Feature, days: Ints) -> None:
    plan.last_day = day_of(days, f.date)


def _sealed(mode: str) -> Callable[[Plan, Feature, Ints], None]:
    def apply(plan: Plan, f: Feature, days: Ints) -> None:
        first, last = day_of(days, f.date), day_of(days, f.until or f.date)
        one_word = {
            "seal_up": 2 if last - first > 3 else 0,
            "seal_down": last - first + 1 if last > first else 0,
        }
        for k, day in enumerate(range(first, last + 1)):
            chosen = mode.replace("seal", "one_word") if k < one_word[mode] else mode
            plan.moves[day] = Move(mode=chosen, gap=0.012 if mode == "seal_up" else -0.012, turn=1.6)

    return apply


def _broken(plan: Plan, f: Feature, days: Ints) -> None:
    plan.moves[day_of(days, f.date)] = Move(mode="broken_up", ret=0.034, gap=0.02, turn=2.2)


def _scripted_run(plan: Plan, f: Feature, days: Ints) -> None:
    moves = SCENES[f.name]()
    start = day_of(days, f.date) - len(moves) + 1
    plan.moves.update({start + k: move for k, move in enumerate(moves)})


_HANDLERS: Mapping[str, Callable[[Plan, Feature, Ints], None]] = {
    **dict.fromkeys(
        ("cash_dividend", "bonus", "cash_and_bonus", "rights_issue", "two_events_one_week", "treasury_shares",
         "ex_right_while_suspended"),
        _ex_right,
    ),
    **dict.fromkeys(("suspension", "long_suspension", "suspension_before_relisting"), _suspension),
    **dict.fromkeys(("rename", "st", "star_st", "star_st_to_st", "st_removed", "gem_st"), _named),
    "relisting": _relisting,
    "listing": _listing,
    "lockup_release": _release,
    "delisting_period": _delisting_period,
    "delisting": _delisting,
    **dict.fromkeys(
        ("limit_up_streak", "limit_up", "st_limit_five_percent", "st_limit_ten_percent"), _sealed("seal_up")
    ),
    **dict.fromkeys(("limit_down_streak", "limit_down"), _sealed("seal_down")),
    "broken_limit_up": _broken,
    **dict.fromkeys(SCENES, _scripted_run),
}  # fmt: skip
# Stocks with scripted ex-rights, patterns or trouble get no drawn dividends in addition.
_QUIET = {
    "cash_dividend", "bonus", "cash_and_bonus", "rights_issue", "two_events_one_week", "treasury_shares",
    "ex_right_while_suspended", "st", "star_st", "delisting", "relisting", "listing", "gem_st", *SCENES,
}  # fmt: skip
_SCRIPTED = {f.symbol for f in FEATURES if f.name in _QUIET}
# Boards in a row of one leader after the other: most end after one or two, the highest after six.
_LADDERS = (1, 2, 1, 3, 1, 1, 2, 1, 4, 1, 2, 1, 1, 5, 1, 2, 1, 3, 1, 1, 2, 6, 1, 1, 2, 1, 3)
_JUMPY = 0.3  # the daily boards take the place of most drawn leaps
_LOSS_MAKERS = frozenset({
    "sh600047", "sz000103", "sz000109", "sz300704", "sh605400", "sh688014", "sh688034", "sz000108",
    "sh600046", "sz300574", "sh688040", "sz301701",
})  # fmt: skip
