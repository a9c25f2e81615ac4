"""Words of the console in Chinese and English, from `texts/<language>.toml`."""

import tomllib
from functools import cache
from pathlib import Path

LANGUAGES = ("zh", "en")
_FOLDER = Path(__file__).parent / "texts"


@cache
def texts_of(language: str) -> dict[str, str]:
    """Key (`section.name`) -> words."""
    sections = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": text for section, words in sections.items() for name, text in words.items()}


def preferred(accept: str) -> str:
    """The language of a browser without a choice: Chinese, unless its Accept-Language names English first."""
    first = accept.split(",", 1)[0].strip().lower()
    return "en" if first.startswith("en") else "zh"
