"""The plan of an instrument, made before its first price: identity, traits, names, events, scripts."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Move:
    """A scripted day of one instrument. `ret` and `gap` are fractions of preclose; modes: plain,
    seal_up, one_word_up, seal_down, one_word_down, broken_up. `turn` scales the day's turnover."""

    mode: str = "plain"
    ret: float = 0.0
    gap: float = 0.0
    turn: float = 1.0
    wick: float = 1.0


@dataclass(frozen=True)
class Event:
    """An ex-right day (index of the session). Values per 10 shares; a `cash_yield` is turned into cash
    when the price is known, likewise a `rights_price` given as a fraction of it (`rights_level`).
    `held_back` is the share of treasury stock that receives nothing."""

    day: int
    cash: float = 0.0
    bonus: float = 0.0
    rights: float = 0.0
    rights_price: float = 0.0
    cash_yield: float = 0.0
    rights_level: float = 0.0
    held_back: float = 0.0
    late: bool = False  # the terminal has the record a session after the ex-date


@dataclass(frozen=True)
class Renumbering:
    """`former_code` was the code up to the day before `date`."""

    former_code: str
    date: int


@dataclass
class Plan:
    """One instrument. Days are session indices; `list_day` < 0 = listed before the world begins.
    `names`: (first date, base name), ascending. `last_day` = last session on which it exists."""

    code: str
    market: str
    kind: str
    board: str
    names: list[tuple[int, str]]
    list_date: int
    decimals: int = 2
    industry: str = ""
    sector: str = ""
    region: str = ""
    concepts: tuple[str, ...] = ()
    price: int = 1000  # ticks at the start or issue price
    total: int = 0
    floating: int = 0
    beta: float = 1.0
    load: float = 1.0
    sigma: float = 0.0165
    turnover: float = 0.0066
    list_day: int = -1
    last_day: int | None = None
    delisting_day: int | None = None  # first day of the delisting period
    relisting_day: int | None = None
    suspensions: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    releases: list[tuple[int, float]] = field(default_factory=list)  # (day, float / total from then on)
    moves: dict[int, Move] = field(default_factory=dict)
    own_moves: int | None = None
    """Moves that the profile itself scripts, where more follow; None: all."""
    loss_maker: bool = False
    jumpy: float = 1.0  # how often it leaps, against the model's chance
    indexed: bool = True  # whether the broad indices may take it
    renumbered: Renumbering | None = None
    band: str = ""  # the class of price limits of a fund, where it is not that of its kind

    @property
    def symbol(self) -> str:
        return self.market.lower() + self.code

    @property
    def tick_unit(self) -> int:
        """1e-4 CNY in one tick."""
        return 10 if self.decimals == 3 else 100


@dataclass(frozen=True)
class Feature:
    """A thing that happens in profile S at a known date. `until` ends an episode; `values` and `text`
    carry its figures (cash, rights price, bonus, rights per 10; issue price; new name)."""

    name: str
    symbol: str
    date: int
    note: str
    until: int | None = None
    values: tuple[float, ...] = ()
    text: str = ""


def is_st_name(name: str) -> bool:
    """Whether a base name says special treatment (ST, *ST, S*ST, SST)."""
    return name.startswith(("ST", "*ST", "S*ST", "SST"))
