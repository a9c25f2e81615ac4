"""Citations as models write them, in the one form that the checker reads: `[E1][E2]` before the end of their
sentence."""

import re

_GROUP = re.compile(r"[\[【［(（]\s*(E\d+(?:\s*[,，、;；/和及&\s]\s*E\d+)*)\s*[\]】］)）]")
_ID = re.compile(r"E\d+")
_AFTER_THE_END = re.compile(r"([。！？；!?]+)\s*((?:\[E\d+\]\s*)+)")


def plain_citations(text: str) -> str:
    """`收于3000点。【E1、E2】` -> `收于3000点[E1][E2]。`"""
    text = _GROUP.sub(lambda found: "".join(f"[{one}]" for one in _ID.findall(found[1])), text)
    return _AFTER_THE_END.sub(lambda found: found[2].strip() + found[1], text)
