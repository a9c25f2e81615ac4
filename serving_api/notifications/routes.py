"""/notifications. Open to anyone, as specified; `NOTIFICATIONS_REQUIRE_LOGIN` asks for a login."""

from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from serving_api.framework.cache_headers import NO_STORE, is_match, weak_etag
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import NotificationReader
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.notifications import schemas
from serving_api.notifications.service import notifications_of
from serving_api.settings.mail import mail_of
from serving_api.settings.schemas import MailOutcome

router = area_router(f"{PREFIX}/notifications", "notifications")


@router.get(
    "/unread",
    schemas.UnreadNotifications,
    cache=NO_STORE,
    responses={304: {"description": "unchanged since the given ETag"}},
)
async def unread(call: NotificationReader) -> Response:
    """Unread notifications, newest first. Polled every 30 s, so the response has an ETag."""
    stored = notifications_of(call.state)
    etag = weak_etag(await stored.version(), call.request.url.path, ())
    headers = {"ETag": etag, "Cache-Control": NO_STORE}
    if is_match(call.request.headers.get("if-none-match"), etag, answered=True):
        return Response(status_code=304, headers=headers)
    return Answer(await stored.unread(), headers=headers)


@router.get("", schemas.NotificationPage, cache=NO_STORE)
async def history(
    call: NotificationReader,
    page: Annotated[int, Query(ge=1, le=100_000, description="from 1")] = 1,
    page_size: Annotated[int, Query(ge=1, le=100, description="rows a page")] = 20,
) -> Answer:
    """All stored notifications (90 days), newest first."""
    return Answer(await notifications_of(call.state).page(page, page_size))


@router.post("/read-all", schemas.NotificationsRead)
async def read_all(call: NotificationReader) -> Answer:
    """Mark all as read."""
    return Answer({"ok": True, "updated": await notifications_of(call.state).mark_all_read()})


@router.post("/test-email", MailOutcome, raises=(429,))
async def send_test_mail(call: NotificationReader) -> Answer:
    """Send a test mail to the configured sender address, once a minute."""
    notifications_of(call.state).take_test()
    return Answer(await mail_of(call.state).test_own_sender())


@router.post("/{id}/read", schemas.NotificationRead, raises=(404,))
async def read_one(
    call: NotificationReader, id: Annotated[str, Path(max_length=40, description="of a notification")]
) -> Answer:
    """Mark one as read."""
    await notifications_of(call.state).mark_read(id)
    return Answer({"ok": True, "id": id})
