"""Alembic migrations, one per revision of the tables."""
