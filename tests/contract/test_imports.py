"""What importing a package loads. Which package may import which: `[tool.importlinter]` in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_importing_the_api_loads_neither_dagster_nor_numba_nor_the_tool_protocol() -> None:
    code = "import sys, serving_api.app; print([m for m in ('dagster', 'numba', 'mcp') if m in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)

    assert shown.stdout.strip() == "[]"
