"""What requests carry."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Null in what is there: sealed rows are not written."""
    op.add_column(
        "response",
        sa.Column(
            "request_body_bytes",
            sa.BigInteger(),
            nullable=True,
            comment="bytes of the request's body, as its Content-Length says; null where it says none, and before schema version 4",
        ),
    )
