"""/notifications. Open to anyone, as specified; `NOTIFICATIONS_REQUIRE_LOGIN` asks for a login."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from resources.notifications import Notification, NotificationStore
from serving_api.framework.cache_headers import NO_STORE, is_match, weak_etag
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.error_responses import TOO_FAST, TooManyAttempts
from serving_api.framework.permissions import NotificationReader
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.row_models import PageOf
from serving_api.framework.state import State
from serving_api.framework.threads import off_loop
from serving_api.settings.mail import Mail
from serving_api.settings.schemas import MailOutcome


class NotificationItem(BaseModel):
    id: str = Field(description="day and number, e.g. 20261123-4")
    kind: str = Field(description="portfolio_alert, task_failed, ...")
    title: str
    content: str
    code: str | None = Field(description="the stock that it is about")
    link: str | None = Field(description="link to details, below this API or in the Dagster UI")
    created_at: Annotated[str, BeforeValidator(instant)]
    read: bool


class UnreadNotifications(BaseModel):
    items: list[NotificationItem] = Field(description="newest first, at most 100")
    count: int = Field(description="all unread ones")


class NotificationPage(PageOf[NotificationItem]):
    """Newest first."""


class NotificationRead(BaseModel):
    ok: Literal[True]
    id: str


class NotificationsRead(BaseModel):
    ok: Literal[True]
    updated: int = Field(description="how many were unread")


MOST_UNREAD = 100
TEST_EVERY_S = 60.0


class Notifications:
    """State of one app: the rows of the newest read, and the time of the last test mail."""

    def __init__(self, state: State) -> None:
        self.store = NotificationStore(state.settings.data_path / "notifications")
        self._monotonic = state.system.monotonic
        self._rows: list[Notification] = []
        self._version: str | None = None
        self._tested_at: float | None = None

    async def unread(self) -> dict[str, Any]:
        rows = [row for row in await self._all() if not row.read]
        return {"items": [NotificationItem(**vars(row)) for row in rows[:MOST_UNREAD]], "count": len(rows)}

    async def page(self, page: int, page_size: int) -> dict[str, Any]:
        rows = await self._all()
        shown = rows[(page - 1) * page_size : page * page_size]
        items = [NotificationItem(**vars(row)) for row in shown]
        return {"items": items, "total": len(rows), "page": page, "page_size": page_size}

    def take_test(self) -> None:
        """Allows one test mail per minute and process. Raises TooManyAttempts."""
        now = self._monotonic()
        if self._tested_at is not None and now - self._tested_at < TEST_EVERY_S:
            raise TooManyAttempts(TOO_FAST, int(TEST_EVERY_S - (now - self._tested_at)) + 1)
        self._tested_at = now

    async def _all(self) -> list[Notification]:
        """Newest first. The version is read first: a change in between is seen at the next read."""
        version = await off_loop(self.store.version)
        if version != self._version:
            rows = await off_loop(lambda: list(self.store.newest_first()))
            self._rows, self._version = rows, version
        return self._rows


router = area_router(f"{PREFIX}/notifications", "notifications")


@router.get(
    "/unread",
    response_model=UnreadNotifications,
    responses={304: {"description": "unchanged since the given ETag"}},
)
@serves(cache=NO_STORE)
async def unread(call: NotificationReader) -> Response:
    """Unread notifications, newest first. Polled every 30 s, so the response has an ETag."""
    stored = call.state.part(Notifications)
    etag = weak_etag(await off_loop(stored.store.version), call.request.url.path, ())
    headers = {"ETag": etag, "Cache-Control": NO_STORE}
    if is_match(call.request.headers.get("if-none-match"), etag, answered=True):
        return Response(status_code=304, headers=headers)
    return Answer(await stored.unread(), headers=headers)


@router.get("", response_model=NotificationPage)
@serves(cache=NO_STORE)
async def history(
    call: NotificationReader,
    page: Annotated[int, Query(ge=1, le=100_000, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=100, description="rows a page")] = 20,
) -> Answer:
    """All stored notifications (90 days), newest first."""
    return Answer(await call.state.part(Notifications).page(page, page_size))


@router.post("/read-all", response_model=NotificationsRead)
async def read_all(call: NotificationReader) -> Answer:
    """Mark all as read."""
    return Answer({"ok": True, "updated": await off_loop(call.state.part(Notifications).store.mark_all_read)})


@router.post("/test-email", response_model=MailOutcome)
@serves(raises=(429,))
async def send_test_mail(call: NotificationReader) -> Answer:
    """Send a test mail to the configured sender address, once a minute."""
    call.state.part(Notifications).take_test()
    return Answer(await call.state.part(Mail).test_own_sender())


@router.post("/{id}/read", response_model=NotificationRead)
@serves(raises=(404,))
async def read_one(
    call: NotificationReader, id: Annotated[str, Path(max_length=40, description="of a notification")]
) -> Answer:
    """Mark one as read."""
    await off_loop(call.state.part(Notifications).store.mark_read, id)
    return Answer({"ok": True, "id": id})
