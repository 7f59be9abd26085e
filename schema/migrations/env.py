"""Environment that Alembic runs for each command; storage.migrate passes the
connection and the filter of names."""

from alembic import context

from schema.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    include_name=context.config.attributes["include_name"],
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
