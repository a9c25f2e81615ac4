"""Login, cookie and headers of the console, without a browser."""

import re
from typing import Any

import pytest

from serving_api.console.pages import PAGES
from serving_api.console.texts import LANGUAGES, texts_of
from tests.serving_api.conftest import ADMIN, Bench

OWN_FORM = {"Sec-Fetch-Site": "same-origin"}
CONSOLE = {"X-Console": "1"}


def login(bench: Bench, **headers: str) -> Any:
    answer = bench.api.post("//console-session", data=ADMIN, headers={**OWN_FORM, **headers})
    # Each test says itself which request carries the cookie.
    bench.api.forget_cookies()
    return answer


def cookie(bench: Bench) -> dict[str, str]:
    value = login(bench).headers["set-cookie"].partition(";")[0]
    return {"Cookie": value}


def test_a_login_sets_a_cookie_that_scripts_and_other_sites_cannot_use(own: Bench) -> None:
    answer = login(own)

    assert answer.status_code == 303
    assert answer.headers["location"] == "console/"
    flags = answer.headers["set-cookie"].lower().split("; ")
    assert {"httponly", "samesite=strict"} <= set(flags)
    assert "secure" not in flags
    # The browser's default path is the folder of the address: the prefix of a reverse proxy.
    assert not [flag for flag in flags if flag.startswith("path")]


def test_behind_https_the_cookie_is_sent_by_https_alone(own: Bench) -> None:
    assert "secure" in login(own, Origin="https://research.example").headers["set-cookie"].lower()


def test_the_cookie_counts_with_the_header_of_the_console_alone(own: Bench) -> None:
    mine = cookie(own)

    assert own.api.get("/auth/me", headers={**mine, **CONSOLE}).json()["username"] == ADMIN["username"]
    assert own.api.get("/auth/me", headers=mine).status_code == 401
    assert own.api.get("/auth/me", headers=CONSOLE).status_code == 401
    wrong = {**mine, **CONSOLE, "Authorization": "Bearer wrong"}
    assert own.api.get("/auth/me", headers=wrong).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://test"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_a_login_that_another_page_sends_is_refused(own: Bench, headers: dict[str, str]) -> None:
    answer = own.api.post("//console-session", data=ADMIN, headers=headers)

    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_an_old_browser_says_its_origin(own: Bench) -> None:
    answer = own.api.post("//console-session", data=ADMIN, headers={"Origin": "http://test"})

    assert "set-cookie" in answer.headers


def test_a_refused_login_says_why_on_the_form(own: Bench) -> None:
    answer = own.api.post("//console-session", data={**ADMIN, "password": "no"}, headers=OWN_FORM)

    assert answer.headers["location"] == "console/login?refused=401"
    page = own.api.get("//console/login?refused=401", headers={"Accept-Language": "en"})
    assert texts_of("en")["login.refused_401"] in page.text
    assert "set-cookie" not in answer.headers


def test_leaving_removes_the_cookie(own: Bench) -> None:
    mine = cookie(own)

    answer = own.api.post("//console-session", data={"leave": "1"}, headers={**OWN_FORM, **mine})

    assert "max-age=0" in answer.headers["set-cookie"].lower()


def test_every_page_forbids_scripts_in_its_markup(own: Bench) -> None:
    for path in ("login", "nowhere", *(page.path for page in PAGES)):
        answer = own.api.get(f"//console/{path}")
        policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
        assert policy["script-src"] == "'self'"
        assert policy["connect-src"] == "'self'"
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", answer.text, re.DOTALL)
        assert [text for attributes, text in scripts if "json" not in attributes and text.strip()] == []
        assert not re.search(r"""\son\w+\s*=|(?:href|src|action)=["'](?:https?:|//|/)""", answer.text)


def test_a_page_below_any_depth_leads_to_the_same_files(own: Bench) -> None:
    for path, up in (("login", "../"), ("stock/600519", "../../")):
        text = own.api.get(f"//console/{path}").text
        assert f'href="{up}console/files/' in text
    assert own.api.get("//console").headers["location"] == "console/"
    assert own.api.get("//").headers["location"] == "console/"


def test_an_address_without_a_page_says_what_to_do(own: Bench) -> None:
    for path in ("nowhere", "stock/abc", "stock/6000400"):
        answer = own.api.get(f"//console/{path}", headers={"Accept-Language": "en"})
        assert answer.status_code == 404
        assert texts_of("en")["missing.do"].replace("'", "&#39;") in answer.text


def test_files_are_kept_by_their_version_and_nothing_else_is_served(own: Bench) -> None:
    address = re.search(r'href="\.\./(console/files/\w+/)console\.css', own.api.get("//console/login").text)
    assert address is not None
    for name in ("console.css", "stock.js", "plotly.min.js"):
        answer = own.api.get(f"//{address[1]}{name}", headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-encoding"] == "gzip"
    assert own.api.get("//console/files/older/console.css").headers["cache-control"] == "no-cache"
    for name in ("../session.py", "..%2fsession.py", "absent.js", "%2fetc%2fpasswd"):
        assert own.api.get(f"//{address[1]}{name}").status_code == 404


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_both_languages_say_the_same_things_with_the_same_values(page: str) -> None:
    chinese, english = (texts_of(language, page) for language in LANGUAGES)

    assert len(chinese) > len(texts_of("zh"))
    assert chinese.keys() == english.keys()
    assert {key for key in chinese if values(chinese[key]) != values(english[key])} == set()


def values(text: str) -> set[str]:
    return set(re.findall(r"\{\w+\}", text))
