"""The skills used for a question."""

from collections.abc import Sequence

from serving_api.framework.state import State
from serving_api.skills.service import Skill, Skills


async def matching(state: State, message: str, requested: Sequence[str]) -> list[Skill]:
    """At most three that are switched on: those that the caller names, then the best matches."""
    return await state.part(Skills).matching(message, requested)
