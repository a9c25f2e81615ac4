"""Thresholds of the audit of a stock by the three built-in systems; all are ours."""

STRONG = 70.0
"""Score from which a conclusion is `strong`."""
PASSED = 50.0
"""Score from which a system passes a stock that no gate keeps out; below it is `weak`."""
SHOWN_FACTORS = 3
"""Best and worst factor scores that are named."""
