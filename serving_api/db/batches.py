"""Batches and their quality records in SQL."""

import sqlalchemy as sa

from resources.warehouse.stored import stored

BATCHES, QUALITY = stored("sys_batch"), stored("sys_quality_record")
ACCEPTED = sa.func.coalesce(BATCHES.c.rows_ok, 0) + sa.func.coalesce(BATCHES.c.rows_warning, 0)
"""Rows that a batch accepted."""
_CHILD = sa.table(BATCHES, sa.column("parent_batch_id")).alias("child")
NO_PARENT = sa.not_(sa.exists().where(_CHILD.c.parent_batch_id == sa.literal_column(f"{BATCHES}.batch_id")))
"""Batches that are no parent of others: a parent repeats the figures of its children."""
