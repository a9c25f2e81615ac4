"""Words of the console in Chinese and English: `texts/common.<language>.toml`, and one such file for each
page."""

import tomllib
from functools import cache
from pathlib import Path

LANGUAGES = ("zh", "en")
_FOLDER = Path(__file__).parent / "texts"


@cache
def texts_of(language: str, page: str = "") -> dict[str, str]:
    """Key (`section.name`) -> words: those that every page has, and those of `page` where it has a file."""
    files = [_FOLDER / f"{name}.{language}.toml" for name in ("common", page)]
    return {
        f"{section}.{name}": text
        for file in files
        if file.is_file()
        for section, words in tomllib.loads(file.read_text(encoding="utf-8")).items()
        for name, text in words.items()
    }


def preferred(accept: str) -> str:
    """The language of a browser without a choice: Chinese, unless its Accept-Language names English first."""
    first = accept.split(",", 1)[0].strip().lower()
    return "en" if first.startswith("en") else "zh"
