"""The kernels' cache: its content decides the folder of a kernel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from platform_assets.compute import kernels, warm


def test_a_module_that_a_kernel_uses_moves_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {
        "main.py": "from platform_assets.compute.helper import step\nimport numpy\n",
        "helper.py": "from platform_assets.compute.parameters import limits\n",
        "parameters/limits.py": "LIMIT = 1\n",
        "parameters/__init__.py": "",
        "other.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(kernels, "ROOT", tmp_path)

    def now() -> str:
        kernels.digest.cache_clear()
        kernels._imported.cache_clear()
        return kernels.digest(tmp_path / "main.py")

    before = now()
    (tmp_path / "other.py").write_text("X = 1\n")
    assert now() == before
    (tmp_path / "parameters" / "limits.py").write_text("LIMIT = 2\n")
    assert now() != before


def test_warming_up_leaves_nothing_to_compile(tmp_path: Path) -> None:
    taken = warm.warm()
    assert set(taken) >= {"indicators", "chips", "patterns"}
    from platform_assets.compute.chips.run import all_codes
    from platform_assets.compute.patterns.scan import scan

    assert len(all_codes.signatures) == 1
    assert len(scan.signatures) == 1


@pytest.mark.soak
def test_a_second_process_reads_what_the_first_compiled(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    made = []
    for _ in range(2):
        subprocess.run([sys.executable, "-m", "platform_assets.compute.warm"], env=environment, check=True)
        made.append({(path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*.nb?")})
    assert made[0]
    assert made[0] == made[1]
