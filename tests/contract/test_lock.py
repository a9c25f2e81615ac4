"""The lock files: the same versions as constraints.txt, a hash for each, and no address of a registry."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements.lock", "requirements-test.lock", "docker/requirements.lock")
IMAGE = ("server", "postgres", "celery")
_ENTRY = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)


def _name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _pins(file: str) -> dict[str, str]:
    return {
        _name(name): version for name, version in _ENTRY.findall((ROOT / file).read_text(encoding="utf-8"))
    }


@pytest.mark.parametrize("file", LOCKS)
def test_a_lock_has_the_versions_of_the_constraints_with_hashes(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    constraints = _pins("constraints.txt")
    # pip, setuptools and wheel belong to the environment: no package's version depends on theirs.
    locked = {name: one for name, one in _pins(file).items() if name not in {"pip", "setuptools", "wheel"}}

    assert locked == {name: constraints.get(name) for name in locked}
    for entry in re.split(r"\n(?=\S)", text.strip()):
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    assert not re.search(r"https?:|file:|index-url|find-links", text)


def test_what_the_project_asks_for_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for file, asked in (
        ("requirements.lock", [*project["dependencies"], *extras["server"]]),
        (
            "docker/requirements.lock",
            [*project["dependencies"], *(one for name in IMAGE for one in extras[name])],
        ),
        (
            "requirements-test.lock",
            [one for names in (project["dependencies"], *extras.values()) for one in names],
        ),
    ):
        names = {_name(re.split(r"[\[<>=~!; ]", one)[0]) for one in asked} - {_name(project["name"])}
        assert names <= _pins(file).keys(), file
