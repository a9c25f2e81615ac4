"""`python -m tests.changed [REVISION]`: the test files of what changed since a revision (default: the last
commit), one a line: changed tests, and tests that import a changed module themselves. What imports it by way
of others is left to `make test`."""

import subprocess
import sys
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "ashare",
    "core",
    "platform_assets",
    "resources",
    "schedules",
    "serving_api",
    "simulated_market",
    "tests",
)


def changed_files(revision: str) -> set[str]:
    """Paths of changed and of new files, relative to the root."""
    commands = (["diff", "--name-only", revision], ["ls-files", "--others", "--exclude-standard"])
    return {
        path
        for command in commands
        for path in subprocess.check_output(["git", *command], cwd=ROOT, text=True).splitlines()
    }


def test_files(changed: set[str]) -> list[str]:
    """Test files of changed paths."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    modules = {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in changed
        if path.endswith(".py")
    } & graph.modules
    importers = modules.union(*map(graph.find_modules_that_directly_import, modules))
    paths = (f"{name.replace('.', '/')}.py" for name in importers)
    return sorted(path for path in paths if Path(path).name.startswith("test_") and (ROOT / path).exists())


if __name__ == "__main__":
    sys.stdout.write("\n".join(test_files(changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD"))))
