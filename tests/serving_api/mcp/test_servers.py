"""/mcp/servers: per user, headers sealed and masked, addresses of the public internet alone."""

from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import InputError
from serving_api.mcp.addresses import public_addresses
from serving_api.mcp.servers import Servers
from tests.serving_api.conftest import Bench

PUBLIC = {"tools.example.com": ["93.184.215.14"], "two.example.com": ["93.184.215.14", "10.0.0.8"]}
REBINDING = {"evil.example.com": ["127.0.0.1"], "metadata.example.com": ["169.254.169.254"]}
SECRET = "Bearer tool-secret-1"


async def resolve(host: str) -> Sequence[str]:
    """As the machine's resolver: addresses in any notation, names of a table."""
    import socket

    known = {**PUBLIC, **REBINDING}
    if host in known:
        return known[host]
    try:
        return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)]
    except OSError:
        raise OSError("no such name") from None


@pytest.fixture
def users(own_on_both: Bench) -> Bench:
    state = own_on_both.api.app.state.platform
    state.parts[Servers] = Servers(state, resolve)
    return own_on_both


def server(name: str = "one", url: str = "https://tools.example.com/mcp", **more: Any) -> dict[str, Any]:
    return {"name": name, "url": url, "transport": "streamable_http", "enabled": True, **more}


def save(bench: Bench, who: dict[str, str], *servers: dict[str, Any]) -> Any:
    return bench.api.post("//mcp/servers", json={"servers": list(servers)}, headers=who)


def test_servers_belong_to_their_user_and_headers_never_come_back(users: Bench) -> None:
    first, second = users.member("first"), users.member("second")
    answer = save(users, first, server(headers={"Authorization": SECRET}), server("two", enabled=False))

    assert answer.json()["saved"] == 2
    shown = users.api.get("/mcp/servers", headers=first).json()["servers"]
    assert shown == answer.json()["servers"]
    assert shown[0] == {**server(), "headers": {"Authorization": "***"}}
    assert [one["name"] for one in shown] == ["one", "two"]
    assert users.api.get("//mcp/servers", headers=second).json() == {"servers": []}
    warehouse = users.warehouse()
    with warehouse.engine.connect() as connection:
        stored = connection.exec_driver_sql("SELECT headers_sealed FROM mcp_server").scalars().all()
    warehouse.close()
    assert len(stored) == 2
    assert SECRET not in str(stored)


def test_a_masked_header_keeps_its_value(users: Bench) -> None:
    who = users.member()
    save(users, who, server(headers={"Authorization": SECRET, "X-Team": "a"}))
    save(users, who, server(headers={"Authorization": "***"}))
    servers: Servers = users.api.app.state.platform.parts[Servers]

    warehouse = users.warehouse()
    with warehouse.engine.connect() as connection:
        sealed = connection.exec_driver_sql("SELECT headers_sealed FROM mcp_server").scalar_one()
    warehouse.close()
    assert servers._opened(sealed) == {"Authorization": SECRET}
    lost = save(users, who, server(headers={"X-Team": "***"}))
    assert lost.status_code == 422
    assert lost.json()["detail"].startswith("servers.0.headers.X-Team")


INSIDE = (
    "http://127.0.0.1:8000/mcp", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/",
    "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:10.0.0.1]/", "http://[fe80::1]/",
    "http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[::]/",
    "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data", "http://100.64.0.1/", "http://224.0.0.1/",
    "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
    "http://１２７.0.0.1/", "http://router.local/", "http://db.internal/", "http://printer.lan/",
    "https://evil.example.com/mcp", "https://metadata.example.com/", "https://two.example.com/",
    "https://nobody.example.com/", "ftp://tools.example.com/", "file:///etc/passwd",
    "//tools.example.com", "javascript:alert(1)", "https://user:pass@tools.example.com/", "https://", "http://[::1",
    "https://tools.example.com\\@127.0.0.1/", "https://tools.example.com/ x", "https://a..b/",
)  # fmt: skip


def test_an_address_inside_is_refused_and_named(own: Bench) -> None:
    state = own.api.app.state.platform
    state.parts[Servers] = Servers(state, resolve)
    member = own.member()
    for url in INSIDE:
        answer = save(own, member, server("good"), server("bad", url))
        assert answer.status_code == 422, url
        assert answer.json()["detail"].startswith("servers.1.url"), url

    assert own.api.get("/mcp/servers", headers=member).json() == {"servers": []}


def test_an_administrator_may_enter_addresses_inside(own: Bench) -> None:
    admin = own.admin()

    assert save(own, admin, server(url="http://127.0.0.1:9000/mcp")).status_code == 200
    assert save(own, admin, server(url="ftp://127.0.0.1/")).status_code == 422


def test_a_connection_checks_again_and_gets_the_addresses(own: Bench) -> None:
    """A name that meant a public address when it was stored, and the machine itself later."""
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    async def moved(host: str) -> Sequence[str]:
        return next(answers)

    first = own.api.call(public_addresses, "https://tools.example.com/", "url", moved)
    assert [str(one) for one in first] == ["93.184.215.14"]
    with pytest.raises(InputError, match="no public address"):
        own.api.call(public_addresses, "https://tools.example.com/", "url", moved)


def test_another_body_is_refused(own: Bench) -> None:
    state = own.api.app.state.platform
    state.parts[Servers] = Servers(state, resolve)
    member = own.member()
    bodies: list[Any] = [
        [server()], {"servers": server()}, {}, {"servers": [server(), server()]},
        {"servers": [{"name": "x"}]}, {"servers": [server(transport="stdio")]},
        {"servers": [server(command="rm")]},
        {"servers": [server(headers={"X Y": "1"})]}, {"servers": [server(headers={"X": "a\r\nb"})]},
        {"servers": [server(str(at)) for at in range(21)]}, {"servers": [], "more": 1},
    ]  # fmt: skip
    for body in bodies:
        answer = own.api.post("//mcp/servers", json=body, headers=member)
        assert answer.status_code == 422, body
        assert answer.json()["detail"]
        assert answer.json()["errors"]


def test_without_a_login_there_is_no_list(own: Bench) -> None:
    assert own.api.get("//mcp/servers").status_code == 401
    assert own.api.post("//mcp/servers", json=[]).status_code == 401
