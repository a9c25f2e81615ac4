"""/skills: listed for anyone, changed by administrators; plain."""

from typing import Annotated

from fastapi import Path

from serving_api.framework.envelope import PREFIX
from serving_api.framework.permissions import Admin, Anyone
from serving_api.framework.responses import Answer
from serving_api.framework.routing import area_router, serves
from serving_api.skills import queries, schemas
from serving_api.skills.service import Skills

router = area_router(f"{PREFIX}/skills", "skills")

SkillKey = Annotated[
    str, Path(max_length=48, pattern=r"^[a-z][a-z0-9_]{1,47}$", description="key of a skill")
]


@router.get("", response_model=schemas.Skills)
@serves(tables=(queries.TABLE,))
async def skills(call: Anyone) -> Answer:
    """Every skill, shipped ones first."""
    skills = {"items": await call.state.part(Skills).all()}
    return Answer(schemas.Skills.model_validate(skills, from_attributes=True))


@router.post("/install", response_model=schemas.SkillInstalled)
@serves(raises=(404, 409))
async def install(call: Admin, body: schemas.SkillInstall) -> Answer:
    """Install a definition (409 where its key is taken), or switch a known skill on by its key."""
    known, by = call.state.part(Skills), call.member.username
    if body.definition is not None:
        await known.install(body.definition, by)
        return Answer({"ok": True, "key": body.definition.key})
    await known.toggle(body.key or "", enabled=True, by=by)
    return Answer({"ok": True, "key": body.key})


@router.post("/{key}/uninstall", response_model=schemas.SkillRemoved)
@serves(raises=(404, 409))
async def uninstall(call: Admin, key: SkillKey) -> Answer:
    """Remove an installed skill; a shipped one can only be switched off (409)."""
    await call.state.part(Skills).uninstall(key)
    return Answer({"ok": True})


@router.post("/{key}/toggle", response_model=schemas.SkillToggled)
@serves(raises=(404,))
async def toggle(call: Admin, key: SkillKey, body: schemas.SkillToggle) -> Answer:
    """Switch a skill on or off."""
    await call.state.part(Skills).toggle(key, body.enabled, call.member.username)
    return Answer({"key": key, "enabled": body.enabled})
