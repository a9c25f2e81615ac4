"""A call that an upstream client does not have is found by mypy before any fetch function runs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

MISSPELT = (
    "ctx.eastmoney.stock_lists()",
    "ctx.eastmoney.daily_bars('sh600000', begin='2026-01-05')",
    "ctx.tencent.quote(['sh600000'])",
    "ctx.tdx.bars('sh600000', 'day', '800')",
    "ctx.cninfo.announcements('2026-01-05', 5)",
    "ctx.sse.margin()",
    "ctx.szse.billboards('2026-01-05', '2026-01-06')",
    "ctx.futures('shfe').dayly('2026-01-05')",
    "ctx.once('sw', lambda view: view.sw.currents('l1'))",
    "ctx.xuequi.quote('sh600000')",
)
"""Ten calls that fail at run time: a wrong name, a missing or wrong argument, an unknown client."""


def test_every_misspelt_client_call_is_a_type_error(tmp_path: Path) -> None:
    head = (
        "from resources.upstreams.fetch_context import FetchContext\ndef fetch(ctx: FetchContext) -> None:\n"
    )
    calls = ("ctx.eastmoney.stock_list()", *MISSPELT)
    path = tmp_path / "fetch_functions.py"
    path.write_text(head + "".join(f"    {call}\n" for call in calls))

    # A cache of its own: mypy drops what it remembers of a module when the options differ.
    options = ("--follow-imports", "silent", "--cache-dir", ".mypy_cache/client_types")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    red = {int(line) for line in re.findall(r"fetch_functions\.py:(\d+): error", found.stdout)}
    first = head.count("\n") + 1
    assert red == set(range(first + 1, first + 1 + len(MISSPELT))), found.stdout + found.stderr


def test_every_dataset_function_names_the_type_of_its_fetch_context() -> None:
    untyped = []
    for path in sorted((ROOT / "platform_assets/datasets").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                given = [one for one in node.args.args if one.arg in {"ctx", "view"}]
                wrong = [one for one in given if ast.unparse(one.annotation or node) != "FetchContext"]
                untyped += [f"{path.name}:{node.lineno} {node.name}"] * len(wrong)
    assert untyped == []
