"""webapi.cninfo.com.cn: PE of industries by date. Both classifications are derived from the world's sectors:
CSRC classes are sectors under a letter, CNI classes sectors and their second level."""

import base64
from collections import defaultdict
from datetime import datetime, timedelta
from statistics import mean, median

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7

from simulated_market.days import dates_between
from simulated_market.valuations import Lines
from simulated_market.wire import HttpRequest, Reply, View, json_reply
from simulated_market.world.dates import day_of, iso_of
from simulated_market.world.model import Security
from simulated_market.world.vocabulary import INDUSTRIES, SECTORS

_KEY = b"1234567887654321"
_EPOCH = datetime(1970, 1, 1)
_SHANGHAI = timedelta(hours=8)
_FRESH = timedelta(minutes=10)
_HOUR = "15:30"
REFUSED = json_reply({"resultcode": 401, "resultmsg": "无效的请求", "records": []}, spaced=True)
_SCHEMES = {"008001": "证监会行业分类", "008200": "国证行业分类"}
_LETTERS = {
    "银行": "J", "非银金融": "J", "计算机": "I", "房地产": "K", "公用事业": "D", "交通运输": "G",
    "传媒": "R", "商贸零售": "F", "建筑装饰": "E", "农林牧渔": "A", "煤炭": "B", "石油石化": "B",
    "社会服务": "O", "环保": "N",
}  # fmt: skip
_LETTER_NAMES = {
    "A": "农、林、牧、渔业",
    "B": "采矿业",
    "C": "制造业",
    "D": "电力、热力、燃气及水生产和供应业",
    "E": "建筑业",
    "F": "批发和零售业",
    "G": "交通运输、仓储和邮政业",
    "I": "信息传输、软件和信息技术服务业",
    "J": "金融业",
    "K": "房地产业",
    "N": "水利、环境和公共设施管理业",
    "O": "居民服务、修理和其他服务业",
    "R": "文化、体育和娱乐业",
}


def ratios(lines: Lines, request: HttpRequest, view: View) -> Reply:
    """Records of one date; none before 15:30 of it. A request with an old time header is refused."""
    if not is_fresh(request, view):
        return REFUSED
    params = request.params()
    scheme, day = params.get("sortcode", ""), day_of(params.get("tdate", ""))
    groups = _groups(view, scheme) if scheme in _SCHEMES and dates_between(view, day, day, _HOUR) else {}
    records = []
    for (level, code, name), members in groups.items():
        sums = lines.totals(view, members, day)
        if sums is None:
            continue
        values = [
            level,
            round(mean(sums.ratios), 2) if sums.ratios else None,
            round(median(sums.ratios), 2) if sums.ratios else None,
            sums.pe,
            round(sums.earnings / 1e8, 4),
            name,
            code,
            _SCHEMES[scheme],
            round(sums.cap / 1e8, 4),
            len(sums.ratios),
            iso_of(day),
            sums.count,
        ]
        records.append({f"F{at:03d}": value for at, value in enumerate(values, start=1)})
    return json_reply({"resultcode": 200, "resultmsg": "success", "records": records}, spaced=True)


def _groups(view: View, scheme: str) -> dict[tuple[str, str, str], list[Security]]:
    found: dict[tuple[str, str, str], list[Security]] = defaultdict(list)
    for one in view.world.securities(view.now):
        if one.kind != "stock" or one.sector not in INDUSTRIES:
            continue
        number = SECTORS.index(one.sector) + 10
        if scheme == "008001":
            letter = _LETTERS.get(one.sector, "C")
            found["1", letter, _LETTER_NAMES[letter]].append(one)
            found["2", f"{letter}{number}", f"{one.sector}业"].append(one)
        else:
            second = INDUSTRIES[one.sector].index(one.industry) + 1
            found["1", f"Z{number}", one.sector].append(one)
            found["2", f"Z{number}{second:02d}", one.industry].append(one)
    return dict(sorted(found.items()))


def is_fresh(request: HttpRequest, view: View) -> bool:
    """Whether the header holds the seconds of this moment, encrypted as the pages do it."""
    encrypted = {name.lower(): value for name, value in request.headers.items()}.get("accept-enckey", "")
    try:
        decryptor = Cipher(algorithms.AES(_KEY), modes.CBC(_KEY)).decryptor()
        padded = decryptor.update(base64.b64decode(encrypted, validate=True)) + decryptor.finalize()
        unpadder = PKCS7(128).unpadder()
        seconds = int(unpadder.update(padded) + unpadder.finalize())
    except ValueError:
        return False
    return abs(_EPOCH + timedelta(seconds=seconds) + _SHANGHAI - view.now) < _FRESH
