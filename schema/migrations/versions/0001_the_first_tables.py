"""The first tables.

A new database gets its tables from their declaration and counts as having every migration (storage.migrate);
an older one is brought up to it by those after this one.
"""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing: no database is older."""
