"""How many calls a family of sites takes within a time, counted for the whole deployment."""

from core.errors import Unavailable
from resources.transport.settings import FamilyRule
from resources.transport.state import Step


def count_call(step: Step, rule: FamilyRule, family: str, now: float) -> None:
    """Count one call; Unavailable when the family has had all that it takes."""
    if rule.most_calls is None:
        return
    before = (step.get("window", family) or {}).get("made", [])
    made = [at for at in before if 0 <= now - at < rule.window_sec]
    if len(made) >= rule.most_calls:
        left = made[0] + rule.window_sec - now
        raise Unavailable(
            f"{family} takes {rule.most_calls} calls in {rule.window_sec:.0f} s; the next in {left:.0f} s",
            source=rule.upstream,
            seconds_left=left,
        )
    step.put("window", family, {"made": [*made, now]})
