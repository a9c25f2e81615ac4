"""Alembic environment: runs on the connection that `migrate.run_data_migrations` hands over."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], target_metadata=None)
context.run_migrations()
