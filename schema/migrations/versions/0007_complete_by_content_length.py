"""What a complete response is: a stream that ends short of its Content-Length is none. Sealed rows are not written."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

IS_COMPLETE = "true if all of the response arrived (RFC 9112 §8, RFC 9113 §8.1, RFC 9114 §4.1): as much body as Content-Length states, and the last chunk, END_STREAM or FIN, or a clean close where only the close ends it; false if it broke off, ended short of its Content-Length, or was still arriving when recording stopped; null if wire_bytes is null, and before schema version 6"


def upgrade() -> None:
    """Replace the comment of the column."""
    op.alter_column("response", "is_complete", comment=IS_COMPLETE)
