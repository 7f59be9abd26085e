"""Run by Alembic for each command; the connection comes from schema.migrations."""

from __future__ import annotations

from alembic import context

from schema.migrations import include_name
from schema.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    include_name=include_name,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
