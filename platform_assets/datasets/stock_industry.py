"""Boards and blocks of every stock, and fusion_stock_industry: one row of classifications per stock.

raw_concept_blocks (portal boards) and raw_block_member (terminal block files) are owned here. The SW
classification comes as members of its indices (raw_index_constituent), the regulator's industry from the
company pages (aux_profile).

The level of an SW index follows from its code: 801xx0 is a first level, another 801xxx a second, 85xxxx a
third. The codes of a second level do not always begin as those of its first: 801092 belongs to 801880.
"""

import pandas as pd
import pandera.pandas as pa

from core.declaration import columns as t
from core.declaration.columns import Model, col, key
from core.declaration.dataset import Dataset, Raw, Source
from core.declaration.frames import canonical_json
from core.declaration.interfaces import REQUIRED, TEXT, batch, latest, market, stock
from core.declaration.rules import Fields, Partition, Soft, calendar_days
from core.declaration.scope import Context
from platform_assets.datasets._blocks import portal_blocks, portal_boards, terminal_blocks, terminal_boards
from platform_assets.datasets._dated import sw_level


class RawConceptBlock(Model):
    """Membership of one stock in one board of the portal, or in one block of the terminal."""

    code: t.Code = key("security code")
    block_code: t.S16 = key("BKxxxx; of the terminal its index, else its name")
    src: t.K32 = key("upstream")
    block_name: t.S64 = col(title="board name", nullable=False, fixed=True)
    block_type: t.S8 = col(
        title="industry, concept, region", fixed=True, isin=["industry", "concept", "region"]
    )
    change_pct: t.Pct = col("pct", "change of the board")
    reason: t.S255 = col(title="why the stock belongs to it", no_source="no documented field")
    is_hot: t.Bool = col(title="board among the 20 strongest of its kind")
    rank_no: t.Int = col(title="rank of the board by change", ge=1)


class RawBlockMember(Model):
    """Membership of one security in one block of the terminal's files."""

    block_type: t.S4 = key("zs index, gn concept, fg style, hy industry", isin=["zs", "gn", "fg", "hy"])
    block_code: t.S32 = key("index code of the block, else its name")
    block_name: t.S64 = col(title="block name", nullable=False)
    code: t.Code = key("security code")
    name: t.S64 = col(title="name of the security")
    member_count: t.Int = col(title="members of the block", ge=1)


class StockIndustry(Model):
    """Classifications of one stock."""

    code: t.Code = key("security code")
    name: t.S64 = col(title="name")
    industry: t.S64 = col(title="sw_l2_name, else em_industry, else tdx_industry", computed=True)
    em_industry: t.S64 = col(title="industry board of the portal")
    tdx_industry: t.S64 = col(title="industry of the terminal source")
    csrc_industry: t.S64 = col(title="regulator's industry")
    sw_l1: t.S16 = col(title="SW level 1 code")
    sw_l1_name: t.S32 = col(title="SW level 1 name")
    sw_l2: t.S16 = col(title="SW level 2 code")
    sw_l2_name: t.S32 = col(title="SW level 2 name")
    sw_l3: t.S16 = col(title="SW level 3 code")
    sw_l3_name: t.S32 = col(title="SW level 3 name")
    region: t.S32 = col(title="region board")
    concepts: t.Json = col(title="names of the concept boards")
    concept_count: t.Int = col(title="number of concept boards", computed=True)

    @pa.dataframe_check
    def has_a_classification(cls, rows: pd.DataFrame) -> pd.Series:
        known = rows[["em_industry", "tdx_industry", "sw_l1", "csrc_industry", "region", "concepts"]]
        return known.notna().any(axis=1)


# -- staging and derivation -------------------------------------------------------------------------


def from_boards(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Boards of one stock folded into one row per source."""
    grouped = rows.sort_values(["code", "src", "block_name"])
    out = grouped[["code", "src"]].drop_duplicates().reset_index(drop=True)
    for kind, column in (("industry", "em_industry"), ("region", "region")):
        # The industry of the terminal's files comes with its blocks.
        mine = (grouped["block_type"] == kind) & (grouped["src"] == "eastmoney")
        one = grouped[mine].drop_duplicates(["code", "src"])
        out = out.merge(one[["code", "src", "block_name"]], on=["code", "src"], how="left")
        out = out.rename(columns={"block_name": column})
    concepts = grouped[grouped["block_type"] == "concept"].groupby(["code", "src"])["block_name"].agg(list)
    pairs = zip(out["code"], out["src"], strict=True)
    out["concepts"] = [canonical_json(concepts[pair]) if pair in concepts.index else None for pair in pairs]
    return out


def from_blocks(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The terminal's industry blocks."""
    own = rows[(rows["block_type"] == "hy") & (rows["src"] == "tdx")]
    industry = own.sort_values(["code", "block_code"]).drop_duplicates("code")
    return pd.DataFrame(
        {"code": industry["code"], "tdx_industry": industry["block_name"], "src": industry["src"]}
    )


def from_classes(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Newest membership of each stock in the SW indices, one column pair per level."""
    own = rows[rows["provider"] == "sw"]
    own = own[own["as_of_date"] == own.groupby("code")["as_of_date"].transform("max")]
    out = own[["code", "src"]].drop_duplicates("code").reset_index(drop=True)
    levels = own["index_code"].map(sw_level)
    for level in ("l1", "l2", "l3"):
        one = own[levels == level].drop_duplicates("code", keep="last")
        named = one[["code", "index_code", "index_name"]]
        out = out.merge(named, on="code", how="left").rename(
            columns={"index_code": f"sw_{level}", "index_name": f"sw_{level}_name"}
        )
    return out


def from_pages(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The regulator's industry of the company pages."""
    reported = rows[rows["csrc_industry"].notna()]
    return reported[["code", "src", "csrc_industry"]]


def add_names(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    master = context.read("fusion_stock_master", columns=("code", "name"))
    rows["name"] = rows["code"].map(dict(zip(master["code"], master["name"], strict=True)))
    return rows


def choose_industry(rows: pd.DataFrame, context: Context) -> pd.DataFrame:
    rows["industry"] = rows["sw_l2_name"].fillna(rows["em_industry"]).fillna(rows["tdx_industry"])
    counts = rows["concepts"].map(lambda text: text.count('","') + 1 if isinstance(text, str) else None)
    rows["concept_count"] = counts
    return rows


def level_2_in_one_level_1(rows: pd.DataFrame, context: Context) -> pd.Series:
    """All stocks of a second level belong to the first level that most of them belong to."""
    both = rows["sw_l1"].notna() & rows["sw_l2"].notna()
    usual = rows[both].groupby("sw_l2")["sw_l1"].agg(lambda some: some.mode().iloc[0])
    return ~both | (rows["sw_l2"].map(usual) == rows["sw_l1"])


def is_classified(rows: pd.DataFrame, context: Context) -> pd.Series:
    """Every listed stock has a first level, as soon as any has."""
    if rows["sw_l1"].isna().all():
        return pd.Series(True, index=rows.index)
    return rows["sw_l1"].notna()


def concepts_are_few(rows: pd.DataFrame, context: Context) -> pd.Series:
    return rows["concept_count"].isna() | (rows["concept_count"] <= 80)


DATASET = Dataset(
    name="stock_industry",
    subject="companies",
    title="Industry, region and concepts",
    model=StockIndustry,
    domain="wide",
    partition=Partition.SNAPSHOT,
    dimension=True,
    raw=(
        Raw(
            name="concept_blocks",
            title="Portal boards by stock",
            model=RawConceptBlock,
            partition=Partition.SNAPSHOT,
            sources=(Source("eastmoney", portal_boards), Source("tdx", terminal_boards)),
            replace_by=("src",),
            per_code=True,
            may_be_empty=False,
        ),
        Raw(
            name="block_member",
            title="Terminal blocks by member",
            model=RawBlockMember,
            partition=Partition.SNAPSHOT,
            sources=(Source("tdx", terminal_blocks), Source("eastmoney", portal_blocks)),
            replace_by=("block_type",),
            freshness=calendar_days(15),
            topical=True,
            may_be_empty=False,
        ),
    ),
    feeds={
        "raw_concept_blocks": from_boards,
        "raw_block_member": from_blocks,
        "raw_index_constituent": from_classes,
        "aux_profile": from_pages,
    },
    order=("eastmoney", "tdx", "sw", "em_f10"),
    fuse=Fields(),
    derive=(add_names, choose_industry),
    soft=(
        Soft(level_2_in_one_level_1, "SW level 2 outside its level 1"),
        Soft(is_classified, "no SW level 1"),
        Soft(concepts_are_few, "more than 80 concepts"),
    ),
    reads=("fusion_stock_master",),
    freshness=calendar_days(7),
    tasks=("fusion_wide_sync", "eod_core"),
    interfaces=(
        latest("get_stock_industry", "classifications of a code", 3600),
        batch("get_stock_industry_batch", "classifications of many codes", 3600),
        market(
            "get_realtime_industry_ranking",
            "live_industry_ranking",
            "industry change ranking: top, bottom, total",
            ttl=30,
            returns="object",
        ).takes(top_n=20),
        market("get_industry_members", "industry_members", "members of an industry", ttl=3600).takes(
            industry_code=REQUIRED, level="sw_l1"
        ),
        market("get_industry_list", "industry_list", "industries with member counts", ttl=86400).takes(
            level="sw_l1"
        ),
        stock("get_industry_peers", "industry_peers", "peers of one code with key figures", ttl=600).takes(
            code=REQUIRED, level="sw_l2", limit=20
        ),
        stock(
            "get_concept_blocks",
            "matching",
            "industry, concept and region blocks of one code",
            ttl=3600,
            table="raw_concept_blocks",
        ).takes(code=REQUIRED),
        market(
            "get_concept_members", "matching", "codes of one concept", ttl=3600, table="raw_concept_blocks"
        ).takes(block_code=REQUIRED),
        market(
            "get_block_list", "blocks", "blocks with member counts", ttl=3600, table="raw_block_member"
        ).takes(block_type="gn", keyword=TEXT),
        market(
            "get_block_members", "matching", "codes of one block", ttl=3600, table="raw_block_member"
        ).takes(block_code=REQUIRED, block_type=TEXT),
        stock("get_stock_blocks", "matching", "blocks of one code", ttl=3600, table="raw_block_member").takes(
            code=REQUIRED
        ),
    ),
)
