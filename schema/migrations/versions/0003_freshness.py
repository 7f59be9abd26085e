"""What a response's header says of its reuse by a cache."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


COLUMNS: list[tuple[str, sa.types.TypeEngine[Any], str]] = [
    (
        "no_store",
        sa.Boolean(),
        "whether Cache-Control says no-store: no cache may keep it; null if no header came over the network, and before schema version 3",
    ),
    (
        "no_cache",
        sa.Boolean(),
        "whether a private cache must ask before each reuse (no-cache in Cache-Control, or * in Vary); null as no_store",
    ),
    (
        "lifetime_by",
        sa.Text(),
        "who says how long a private cache may reuse it without asking (RFC 9111 §4.2.1): max-age, expires, heuristic (nobody: a tenth of the time from Last-Modified to Date) or none (nobody, and nothing may be guessed); null as no_store",
    ),
    (
        "lifetime_s",
        sa.Integer(),
        "how long that is, in seconds from when the origin made it, at most 2,147,483,647; 0 also where it cannot be read; null where lifetime_by is null or none, or expires without a Date",
    ),
    (
        "age_s",
        sa.Integer(),
        "seconds that had passed of it, as Age says; null if Age is absent or cannot be read, and as no_store",
    ),
    (
        "has_validator",
        sa.Boolean(),
        "whether a cache can ask if it has changed: ETag, or a Last-Modified that is a date; null as no_store",
    ),
]


def upgrade() -> None:
    """All are null in what is there: sealed rows are not written."""
    for name, kind, comment in COLUMNS:
        op.add_column("response", sa.Column(name, kind, nullable=True, comment=comment))
