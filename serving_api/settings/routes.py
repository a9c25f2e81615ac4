"""/settings. Plain bodies, never stored by caches."""

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin, Login
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router
from serving_api.settings import schemas
from serving_api.settings.mail import SAVED, Mail
from serving_api.settings.menu import Menu
from serving_api.settings.models import Models

router = area_router(f"{PREFIX}/settings", "settings")


@router.get("/smtp-config", schemas.SmtpConfig, cache=NO_STORE)
async def smtp_config(call: Admin) -> Answer:
    """The mail settings without the password."""
    found = await call.state.part(Mail).settings()
    return Answer(
        {
            "host": found.host,
            "port": found.port,
            "user": found.user,
            "from_addr": found.from_addr,
            "use_tls": found.implicit_tls,
            "has_password": bool(found.password),
            "enabled": found.enabled,
        }
    )


@router.post("/smtp-config", schemas.SettingsSaved)
async def change_smtp_config(call: Admin, body: schemas.SmtpConfigChange) -> Answer:
    """Store the mail settings; an empty password keeps the stored one."""
    await call.state.part(Mail).change(body, call.member.username)
    return Answer({"ok": True, "message": SAVED})


@router.post("/test-smtp", schemas.MailOutcome)
async def test_smtp(call: Admin, body: schemas.SmtpTest) -> Answer:
    """Send one mail now, through the stored server, and report the result."""
    return Answer(await call.state.part(Mail).test(body.to))


@router.get("/model-config", schemas.ModelConfig, cache=NO_STORE)
async def model_config(call: Admin) -> Answer:
    """The model providers without their keys."""
    return Answer(await call.state.part(Models).shown())


@router.post("/model-config", schemas.ModelConfigSaved)
async def change_model_config(call: Admin, body: schemas.ModelConfigChange) -> Answer:
    """Merge providers into the stored ones; an empty key keeps the stored one."""
    saved = await call.state.part(Models).change(body, call.member.username)
    return Answer({"ok": True, **saved})


@router.get("/menu-visibility", schemas.MenuVisibility, cache=NO_STORE)
async def menu_visibility(call: Login) -> Answer:
    """Which entries of the menu are hidden."""
    return Answer(await call.state.part(Menu).shown())


@router.post("/menu-visibility", schemas.MenuVisibility)
async def change_menu_visibility(call: Admin, body: schemas.MenuVisibilityChange) -> Answer:
    """Hide menu entries; a list that is not given is unchanged."""
    return Answer(await call.state.part(Menu).change(body, call.member.username))
