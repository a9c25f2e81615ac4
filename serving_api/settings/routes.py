"""/settings. Plain bodies, never stored by caches."""

from typing import Any

from serving_api.framework.cache_headers import NO_STORE
from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin, Login
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.framework.state import State
from serving_api.settings import schemas
from serving_api.settings.language_model import Model, why_no_model
from serving_api.settings.mail import SAVED, Mail
from serving_api.settings.models import Models
from serving_api.settings.schemas import MENU_KEYS, MenuVisibilityChange
from serving_api.settings.stored import Document, StoredDocuments

MENU_KEY = "menu.visibility"
_LISTS = ("hide_for_user", "hide_for_admin")


class Menu:
    """The stored lists; nothing is hidden by default."""

    def __init__(self, state: State) -> None:
        self._documents = StoredDocuments(state, (MENU_KEY,))

    async def shown(self) -> dict[str, Any]:
        return _shown((await self._documents.read())[MENU_KEY])

    async def change(self, requested: MenuVisibilityChange, by: str) -> dict[str, Any]:
        """Stores the lists; one that is not given is unchanged."""
        given = {name: value for name, value in requested.model_dump().items() if value is not None}
        after = await self._documents.change(lambda stored: {MENU_KEY: {**stored[MENU_KEY], **given}}, by)
        return _shown(after[MENU_KEY])


def _shown(stored: Document) -> dict[str, Any]:
    """Each list once per entry, in the menu's order."""
    hidden = {name: set(stored.get(name, [])) for name in _LISTS}
    return {
        **{name: [key for key in MENU_KEYS if key in hidden[name]] for name in _LISTS},
        "keys": list(MENU_KEYS),
    }


router = area_router(f"{PREFIX}/settings", "settings")


@router.get("/smtp-config", response_model=schemas.SmtpConfig)
@serves(cache=NO_STORE)
async def smtp_config(call: Admin) -> Answer:
    """The mail settings without the password."""
    found = await call.state.part(Mail).settings()
    return Answer(
        schemas.SmtpConfig(**vars(found), use_tls=found.implicit_tls, has_password=bool(found.password))
    )


@router.post("/smtp-config", response_model=schemas.SettingsSaved)
async def change_smtp_config(call: Admin, body: schemas.SmtpConfigChange) -> Answer:
    """Store the mail settings; an empty password keeps the stored one."""
    await call.state.part(Mail).change(body, call.member.username)
    return Answer({"ok": True, "message": SAVED})


@router.post("/test-smtp", response_model=schemas.MailOutcome)
async def test_smtp(call: Admin, body: schemas.SmtpTest) -> Answer:
    """Send one mail now, through the stored server, and report the result."""
    return Answer(await call.state.part(Mail).test(body.to))


@router.get("/model-config", response_model=schemas.ModelConfig)
@serves(cache=NO_STORE)
async def model_config(call: Admin) -> Answer:
    """The model providers without their keys."""
    return Answer(await call.state.part(Models).shown())


@router.post("/model-config", response_model=schemas.ModelConfigSaved)
async def change_model_config(call: Admin, body: schemas.ModelConfigChange) -> Answer:
    """Merge providers into the stored ones; an empty key keeps the stored one."""
    saved = await call.state.part(Models).change(body, call.member.username)
    return Answer({"ok": True, **saved})


@router.post("/model-config/test", response_model=schemas.ModelTested)
async def test_model_config(call: Admin, body: schemas.ModelTest) -> Answer:
    """Ask a provider one short question now, and report what happened."""
    result = await call.state.part(Model).tried(body.provider)
    said = f"已回答，用时{result.seconds:.1f}秒，{'会' if result.calls_tools else '没有'}调用工具"
    return Answer({
        "ok": result.error is None, "provider": result.provider, "model": result.model,
        "message": said if result.error is None else why_no_model(result.error),
        "reason": "" if result.error is None else f"{result.error.message} {result.reason}".strip(),
        "first_s": result.first_s, "seconds": result.seconds, "calls_tools": result.calls_tools,
    })  # fmt: skip


@router.get("/menu-visibility", response_model=schemas.MenuVisibility)
@serves(cache=NO_STORE)
async def menu_visibility(call: Login) -> Answer:
    """Which entries of the menu are hidden."""
    return Answer(await call.state.part(Menu).shown())


@router.post("/menu-visibility", response_model=schemas.MenuVisibility)
async def change_menu_visibility(call: Admin, body: schemas.MenuVisibilityChange) -> Answer:
    """Hide menu entries; a list that is not given is unchanged."""
    return Answer(await call.state.part(Menu).change(body, call.member.username))
