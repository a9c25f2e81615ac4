"""`ashare import`."""

from pathlib import Path
from typing import Any

import click

from ashare.completions import words
from ashare.output import Output

DATASETS = (
    "kline_daily", "kline_bar", "index_daily", "exright", "finance_indicator", "dividend", "fund_flow",
)  # fmt: skip


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--map", "maps", multiple=True, type=click.Path(), metavar="FILE|COLUMN=SOURCE[:UNIT[:FORMAT]]",
              help="A TOML or YAML mapping, or one column of it; may be repeated.")  # fmt: skip
@click.option(
    "--dataset",
    metavar="NAME",
    shell_complete=words(*DATASETS),
    help=f"Of a mapping: {', '.join(DATASETS)}.",
)
@click.option("--name", metavar="NAME", help="Name of the import; its source is import:NAME.")
@click.option(
    "--adjust",
    metavar="MODE",
    shell_complete=words("none", "qfq", "hfq"),
    help="How prices of the file are adjusted: none, qfq, hfq.",
)
@click.option("--factor", metavar="COLUMN", help="Column that adjusted prices were multiplied by.")
@click.option("--place", metavar="PLACE", help="Among the sources: first, last (default), 'after SOURCE'.")
@click.option("--encoding", metavar="NAME", help="Of CSV; default utf-8.")
@click.option("--sheet", metavar="NAME", help="Of Excel; default the first.")
@click.option(
    "--columns-before",
    metavar="DAY",
    help="Bars of a package from before DAY go into column files. Default: of more than 250,000 bars those "
    "from before this month.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be stored, refused and changed.")
@click.option("--skip-refused", is_flag=True, help="Leave out the rows that are refused.")
@click.pass_obj
def command(out: Output, /, **given: Any) -> int:
    """Bring rows of FILE into the platform: an installation of the terminal or a package of its publisher
    (vipdoc, T0002/hq_cache, hsjday.zip, a day package, gpcw*.zip, gbbq, sh600000.day), which need no mapping;
    with a mapping CSV, Parquet, Excel, a folder of them, or a folder of qlib.

    Nothing is written unless every row is fine; --skip-refused leaves out those that are not. The same file
    a second time writes nothing; one that was interrupted goes on.
    """
    from ashare.work.import_file import run  # noqa: PLC0415  see ashare.main

    return run(out, **given)
