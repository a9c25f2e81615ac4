"""/auth: registration, login, the user's own account. Plain bodies, never stored by caches."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import BackgroundTasks, File, Query, UploadFile
from starlette.responses import Response

from core.errors import NotFound
from serving_api.auth import avatars, schemas
from serving_api.auth.service import Accounts
from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX, instant
from serving_api.framework.error_responses import BadRequest
from serving_api.framework.permissions import Anyone, Login
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.framework.user import User

router = area_router(f"{PREFIX}/auth", "auth")
AVATAR_PATH = f"{PREFIX}/auth/avatar"
_UPLOAD_ROOM = 64 * 1024
"""Bytes of a multipart body besides the image itself."""


def _shown(state: State, user: User, model: type[schemas.UserSummary] = schemas.Me) -> dict[str, Any]:
    """The user with today's AI calls: the count of an earlier day stays stored until the next call, but is
    not shown."""
    quota = state.part(Accounts).quota_of(user)
    today = {"ai_usage_count": quota.used, "ai_quota": asdict(quota)}
    shown = {**asdict(user), **today, "last_login_at": instant(user.last_login_at)}
    return model.model_validate(shown).model_dump()


def _bearer(accounts: Accounts, token: str) -> dict[str, Any]:
    return {"access_token": token, "token_type": "bearer", "expires_in": accounts.tokens.ttl_s}


@router.post("/register", response_model=schemas.Registered)
@serves(raises=(409,))
async def register(call: Anyone, body: schemas.Registration, background: BackgroundTasks) -> Answer:
    """Create an active account; a welcome mail goes out in the background."""
    accounts = call.state.part(Accounts)
    user = await accounts.add(body, "user")
    if accounts.on_registered is not None:
        background.add_task(accounts.on_registered, user)
    return Answer(schemas.Registered.model_validate({**vars(user), "message": "注册成功"}))


@router.post("/login", response_model=schemas.LoggedIn)
@serves(raises=(401, 403))
async def login(call: Anyone, body: schemas.Credentials) -> Answer:
    """Exchange a user name and password for a token."""
    accounts = call.state.part(Accounts)
    token, user = await accounts.login(body.username, body.password, call.request.state.client_address)
    return Answer({**_bearer(accounts, token), "user": _shown(call.state, user, schemas.UserSummary)})


@router.get("/me", response_model=schemas.Me)
@serves(cache=NO_STORE)
async def me(call: Login) -> Answer:
    """The caller's account, with the rest of today's AI calls."""
    return Answer(_shown(call.state, call.member))


@router.post("/profile", response_model=schemas.ProfileChanged)
@serves(raises=(409,))
async def profile(call: Login, body: schemas.ProfileChange) -> Answer:
    """Change name, address or phone; fields that are not given stay unchanged."""
    user = await call.state.part(Accounts).change_profile(call.member, body)
    return Answer({"user": _shown(call.state, user), "message": "资料已更新"})


@router.post("/change-password", response_model=schemas.PasswordChanged)
async def change_password(call: Login, body: schemas.PasswordChange) -> Answer:
    """Set a new password; the old one must be correct. All older tokens become invalid: use the one in the
    response."""
    accounts = call.state.part(Accounts)
    token = await accounts.change_password(call.member, body)
    return Answer({"message": "密码已修改", **_bearer(accounts, token)})


@router.post("/avatar", response_model=schemas.AvatarStored)
@serves(max_body=avatars.MAX_BYTES + _UPLOAD_ROOM)
async def upload_avatar(
    call: Login, file: Annotated[UploadFile, File(description="png, jpg or webp, <= 2 MB")]
) -> Answer:
    """Store the caller's image; its type is detected from the content."""
    content = await file.read(avatars.MAX_BYTES + 1)
    avatar = await call.state.part(Accounts).change_avatar(call.member, content, AVATAR_PATH)
    return Answer({"avatar": avatar})


@router.get(
    "/avatar",
    responses={200: {"content": {kind: {} for kind in avatars.MEDIA_TYPES.values()}}},
    response_class=Response,
)
@serves(cache=NO_STORE, raises=(404,))
async def read_avatar(call: Login) -> Response:
    """The caller's image."""
    found = call.state.part(Accounts).avatars.get(call.member.id)
    if found is None:
        raise NotFound("还没有上传头像")
    content, media_type = found
    return Response(content, media_type=media_type, headers={"X-Content-Type-Options": "nosniff"})


@router.get("/verify-email", response_model=schemas.Message)
@serves(cache=NO_STORE, raises=(400,))
async def verify_email(
    call: Anyone, token: Annotated[str, Query(description="from a verification mail")] = ""
) -> Answer:
    """No verification token is ever created, so none is ever valid."""
    raise BadRequest("验证链接无效或已过期")
