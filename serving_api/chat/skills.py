"""The skills that a question is answered with."""

from collections.abc import Sequence

from serving_api.skills.service import Skill, Skills
from serving_api.state import State


async def matching(state: State, message: str, wanted: Sequence[str]) -> list[Skill]:
    """At most three that are switched on: those that the caller names, then the best ones."""
    return await state.part(Skills).matching(message, wanted)
