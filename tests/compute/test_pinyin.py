"""Readings of names: the likely one of real companies, and every other plausible one."""

import csv
import gzip
from pathlib import Path

import pytest

from platform_assets.compute.pinyin import MOST_READINGS, READINGS, Reading, likely_reading, other_readings

NAMES = """
长电科技 cdkj changdiankeji|长飞光纤 cfgx changfeiguangxian|步长制药 bczy buchangzhiyao
长园集团 cyjt changyuanjituan|岳阳兴长 yyxc yueyangxingchang|成长科技 czkj chengzhangkeji
重药控股 cykg chongyaokonggu|重庆啤酒 cqpj chongqingpijiu|三一重工 syzg sanyizhonggong
*ST二重 stez sterzhong|朝阳科技 cykj chaoyangkeji|会稽山 kjs kuaijishan|会畅科技 hckj huichangkeji
藏格矿业 zgky zanggekuangye|西藏矿业 xzky xizangkuangye|奇正藏药 qzzy qizhengzangyao
厦门空港 xmkg xiamenkonggang|厦工股份 xggf xiagonggufen|厦门国贸 xmgm xiamenguomao
华厦眼科 hxyk huaxiayanke|亚厦股份 ysgf yashagufen|平安银行 payh pinganyinhang|三人行 srx sanrenxing
世联行 slh shilianhang|仁和药业 rhyy renheyaoye|同和药业 thyy tongheyaoye|南都电源 nddy nandudianyuan
成都银行 cdyh chengduyinhang|美的集团 mdjt meidijituan|大参林 dsl dashenlin|苏泊尔 sbe suboer
东阿阿胶 deej dongeejiao|佛山照明 fszm foshanzhaoming|必得科技 bdkj bidekeji|瑞鹄模具 rhmj ruihumuju
贵州茅台 gzmt guizhoumaotai|万  科Ａ wka wankea|TCL科技 tclkj tclkeji|XD长电科 cdk changdianke
""".replace("\n", "|").strip("|")


def readings_of(name: str) -> tuple[Reading, ...]:
    likely = likely_reading(name)
    return (likely, *other_readings(name, likely))


@pytest.mark.parametrize("line", NAMES.split("|"))
def test_a_real_name_is_read_as_its_company_is_called(line: str) -> None:
    name, initials, spelling = line.rsplit(" ", 2)
    assert readings_of(name)[0] == Reading(initials, spelling)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("长电科技", Reading("zdkj", "zhangdiankeji")),
        ("乐歌股份", Reading("yggf", "yuegegufen")),
        ("三人行", Reading("srh", "sanrenhang")),
        ("太钢重工", Reading("tgcg", "taigangchonggong")),
        ("友阿股份", Reading("yegf", "youegufen")),
        ("朝阳科技", Reading("zykj", "zhaoyangkeji")),
        ("世联行", Reading("slx", "shilianxing")),
        ("长乐参行", Reading("zych", "zhangyuecanhang")),
    ],
)
def test_another_plausible_reading_is_known(name: str, other: Reading) -> None:
    found = readings_of(name)
    assert other in found[1:] or len(found) == MOST_READINGS
    assert len(set(found)) == len(found) <= MOST_READINGS


@pytest.mark.parametrize("name", ["重庆水务", "招商银行", "西藏旅游", "厦门钨业", "贵州茅台"])
def test_a_word_that_is_read_one_way_has_one_reading(name: str) -> None:
    assert len(readings_of(name)) == 1


def test_a_reading_of_another_name_has_no_others() -> None:
    assert other_readings("长电科技", Reading("gzmt", "guizhoumaotai")) == ()
    assert other_readings("长电科技", Reading("cd", "changdian")) == ()
    # With another reported reading, ours is among the others.
    assert Reading("cdkj", "changdiankeji") in other_readings("长电科技", Reading("zdkj", "zhangdiankeji"))


def test_all_real_names_have_their_plausible_readings(real_data_dir: Path) -> None:
    """5,800 names of 2026 and 5,300 of 2024."""
    with (real_data_dir / "stock_basic_2026-03-04.csv").open() as file:
        names = {row["name"].replace("(退)", "") for row in csv.DictReader(file)}
    with gzip.open(real_data_dir / "stock_list_em_2024.csv.gz", "rt") as file:
        names |= {row["name"] for row in csv.DictReader(file) if row["name"] != "-"}

    read = {name: readings_of(name) for name in names}

    assert len(read) > 6000
    long = {name: found for name, found in read.items() if "长" in name}
    assert len(long) > 60
    assert [name for name, found in long.items() if "chang" not in found[0].spelling] == []
    assert [name for name, found in long.items() if not any("zhang" in one.spelling for one in found)] == []
    assert [name for name, found in read.items() if "厦门" in name and found[0].initials[:2] != "xm"] == []
    wrong = [name for name, found in read.items() if not all(one.initials and one.spelling for one in found)]
    assert wrong == []
    assert max(map(len, read.values())) <= 4
    several = [name for name, found in read.items() if len(found) > 1]
    assert all(any(letter in READINGS for letter in name) for name in several)
    assert len(several) < len(read) // 10
