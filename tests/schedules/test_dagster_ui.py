"""The Dagster UI as a web page of somebody else meets it, and as its own pages and programs do."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from platform_assets.definitions.dagster_internals import WorkspaceFileTarget, WorkspaceProcessContext
from resources.orchestrator import programs_authorization
from resources.settings import Settings
from schedules.supervisor.dagster_ui import SameSite, behind_login
from serving_api.app import create_app

OWN = "http://127.0.0.1:3000"
SELF = {"Origin": OWN, "Host": "127.0.0.1:3000"}
FOREIGN = {"Origin": "https://evil.example"}
VERSION = {"query": "{ version }"}
CHANGE = {"query": "mutation { setNuxSeen }"}


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Dagster's own app without a code location, as `main` serves it for the name `dagster_ui`."""
    workspace = tmp_path_factory.mktemp("ui") / "workspace.yaml"
    workspace.write_text("load_from: []\n")
    with (
        DagsterInstance.local_temp(str(workspace.parent)) as instance,
        WorkspaceProcessContext(instance, WorkspaceFileTarget([str(workspace)]), version="7") as context,
    ):
        app = SameSite(create_app_from_workspace_process_context(context), {"dagster_ui"})
        with TestClient(app, base_url=OWN) as client:
            yield client


@pytest.mark.parametrize(
    "host", ["127.0.0.1:3000", "localhost:3000", "dagster_ui:3000", "[::1]:3000", "10.0.0.7"]
)
def test_its_own_pages_and_programs_are_answered(ui: TestClient, host: str) -> None:
    for headers in ({"Host": host}, {"Host": host, "Origin": f"http://{host}"}):
        assert ui.get("/server_info", headers=headers).status_code == 200
        assert ui.post("/graphql", json=VERSION, headers=headers).json() == {"data": {"version": "7"}}


def test_its_own_page_listens_for_changes(ui: TestClient) -> None:
    with ui.websocket_connect("/graphql", headers={"Origin": OWN, "Host": "127.0.0.1:3000"}) as socket:
        socket.send_json({"type": "connection_init"})
        assert socket.receive_json()["type"] == "connection_ack"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://"]
)
def test_a_page_of_another_site_changes_and_reads_nothing(ui: TestClient, origin: str) -> None:
    headers = {"Origin": origin}
    assert ui.post("/graphql", json=CHANGE, headers=headers).status_code == 403
    assert ui.get("/server_info", headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect), ui.websocket_connect("/graphql", headers=headers) as socket:
        socket.receive_json()


def test_a_link_or_a_picture_changes_nothing(ui: TestClient) -> None:
    """A browser sends these without an Origin."""
    assert ui.get("/graphql", params=CHANGE).status_code == 405
    assert ui.get("/graphql", headers={"Accept": "text/html"}).status_code == 200, "the page to type queries"


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/graphql", "text/plain"), ("/graphql", "application/x-www-form-urlencoded"), ("/graphql", None),
        ("/graphql", "application/graphql"), ("/report_asset_materialization/raw_kline", "text/plain"),
    ],
)  # fmt: skip
def test_what_a_form_can_send_is_refused(ui: TestClient, path: str, content_type: str | None) -> None:
    """A foreign form needs no preflight for these types."""
    headers = {"Content-Type": content_type} if content_type else {}
    assert ui.post(path, params=CHANGE, content=b"x", headers=headers).status_code == 415


@pytest.mark.parametrize("host", ["evil.example:3000", "127.0.0.1.evil.example", "a@127.0.0.1"])
def test_a_name_that_resolves_to_this_machine_is_refused(ui: TestClient, host: str) -> None:
    response = ui.post("/graphql", json=VERSION, headers={"Host": host})
    assert (response.status_code, "DAGSTER_ALLOWED_HOSTS" in response.text) == (421, True)


# -- with a login --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Settings, TestClient, TestClient]]:
    """(settings, the API, the Dagster UI) of one data folder with DAGSTER_LOGIN."""
    folder = tmp_path_factory.mktemp("login")
    settings = Settings(
        data_dir=str(folder), admin_seed_password="a long pass phrase 7",
        dagster_login=True, rate_limit_per_min=0,
    )  # fmt: skip
    workspace = folder / "workspace.yaml"
    workspace.write_text("load_from: []\n")
    with (
        DagsterInstance.local_temp(str(folder)) as instance,
        WorkspaceProcessContext(instance, WorkspaceFileTarget([str(workspace)]), version="7") as context,
        TestClient(create_app(settings)) as api,
        behind_login(create_app_from_workspace_process_context(context), settings) as pages,
        TestClient(SameSite(pages, set()), base_url=OWN) as ui,
    ):
        yield settings, api, ui


def token_of(api: TestClient, name: str, password: str) -> str:
    response = api.post("/api/v1/auth/login", json={"username": name, "password": password})
    assert response.status_code == 200, response.text
    return str(response.json()["access_token"])


def test_without_a_login_nothing_is_shown_or_changed(
    accounts: tuple[Settings, TestClient, TestClient],
) -> None:
    _, _, ui = accounts
    for headers in ({}, {"Authorization": "Bearer x"}, {"Cookie": "console_session=x"}):
        response = ui.get("/", headers=headers)
        assert (response.status_code, "/console/login" in response.text) == (401, True)
        assert ui.post("/graphql", json=CHANGE, headers=headers).status_code == 401
        with pytest.raises(WebSocketDisconnect), ui.websocket_connect("/graphql", headers=headers) as socket:
            socket.receive_json()
    assert ui.get("/server_info").status_code == 200, "the supervisor and the container engine look there"


def test_an_administrator_of_the_console_is_in(accounts: tuple[Settings, TestClient, TestClient]) -> None:
    settings, api, ui = accounts
    token = token_of(api, settings.admin_seed_username, settings.admin_seed_password)
    for headers in ({"Cookie": f"console_session={token}"}, {"Authorization": f"Bearer {token}"}):
        assert ui.post("/graphql", json=VERSION, headers=headers).json() == {"data": {"version": "7"}}
    with ui.websocket_connect("/graphql", headers={"Cookie": f"console_session={token}", **SELF}) as socket:
        socket.send_json({"type": "connection_init"})
        assert socket.receive_json()["type"] == "connection_ack"


def test_a_user_is_not(accounts: tuple[Settings, TestClient, TestClient]) -> None:
    _, api, ui = accounts
    form = {"username": "reader", "email": "reader@example.com", "password": "a long pass phrase 8"}
    assert api.post("/api/v1/auth/register", json=form).status_code in {200, 201}
    token = token_of(api, "reader", form["password"])
    assert ui.get("/", headers={"Cookie": f"console_session={token}"}).status_code == 401


def test_the_programs_of_the_platform_pass(accounts: tuple[Settings, TestClient, TestClient]) -> None:
    settings, _, ui = accounts
    key = programs_authorization(settings)
    assert ui.post("/graphql", json=VERSION, headers={"Authorization": key}).json() == {
        "data": {"version": "7"}
    }
    assert (settings.data_path / "secrets" / "dagster_key").stat().st_mode & 0o077 == 0


def test_nobody_is_let_in_while_accounts_cannot_be_read(
    accounts: tuple[Settings, TestClient, TestClient], tmp_path: Path
) -> None:
    """The same token, where the database is away; the platform's programs need no account."""
    settings, api, _ = accounts
    token = token_of(api, settings.admin_seed_username, settings.admin_seed_password)
    away = replace(settings, warehouse_url="mysql+pymysql://nobody:x@127.0.0.1:9/away")
    with behind_login(PlainTextResponse("inside"), away) as pages:
        ui = TestClient(pages, base_url=OWN)
        assert ui.get("/", headers={"Authorization": f"Bearer {token}"}).status_code == 401
        assert ui.get("/", headers={"Authorization": programs_authorization(away)}).text == "inside"
