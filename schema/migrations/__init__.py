"""History of the tables: one Alembic migration a version."""
