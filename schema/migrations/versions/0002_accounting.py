"""Accounting: who crawled, by what identity, which load of which page, and what stood in its way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """New columns are null, or have a default that is true of what is there: sealed rows are not written."""
    op.add_column(
        "crawl",
        sa.Column(
            "client_hints",
            sa.Text(),
            nullable=True,
            comment="the client hints it sent unasked (Sec-CH-UA, Sec-CH-UA-Mobile, Sec-CH-UA-Platform), a line each; null before schema version 2",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "user_agent_planned",
            sa.Text(),
            nullable=True,
            comment="the User-Agent that its plan asks for; null for the browser's own, as plain Chrome",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "contact_url",
            sa.Text(),
            nullable=True,
            comment="where a site's owner can ask about the crawl, at the end of its User-Agent; null if none was given",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "loads",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="loads of each home page: 1, or more for repeat loads",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "inner_pages",
            sa.SmallInteger(),
            server_default="0",
            nullable=False,
            comment="inner pages that are loaded beside each home page",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "optout_checksum",
            sa.Text(),
            nullable=True,
            comment="SHA-256 of the opt-out list that it was planned with, lower-case hex; null without one",
        ),
    )
    op.add_column(
        "crawl",
        sa.Column(
            "optout_sites",
            sa.Integer(),
            nullable=True,
            comment="sites that the opt-out list took out of the plan; null without one",
        ),
    )
    op.add_column(
        "site",
        sa.Column(
            "magnitude",
            sa.Integer(),
            nullable=True,
            comment="rank that it shares with others where the list ranks by magnitude (CrUX: 1000, 5000, ...); null elsewhere",
        ),
    )
    op.add_column(
        "site",
        sa.Column(
            "not_before",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="the site asked to be left alone until then (Retry-After); null if it did not",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "page_kind",
            sa.Text(),
            server_default="home",
            nullable=False,
            comment="home (the site's home page) or inner (a page of the same site that the home page links to)",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "load",
            sa.SmallInteger(),
            server_default="1",
            nullable=False,
            comment="number of the load of this page in a row of loads, from 1; each has a fresh profile",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "wall",
            sa.Text(),
            nullable=True,
            comment="bot wall that answered in place of the page; null if none was recognised, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "consent",
            sa.Text(),
            nullable=True,
            comment="consent platform that the page loaded; null if none was recognised, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "retry_after_s",
            sa.Integer(),
            nullable=True,
            comment="seconds for which a status of 429 or 503 asked to be left alone (Retry-After); null if none did",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "is_covered",
            sa.Boolean(),
            nullable=True,
            comment="whether coverage and decrypted_coverage are both at least 0.99; null if nothing was received, and before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "log_lines_lost",
            sa.Integer(),
            nullable=True,
            comment="log lines that could not be read; null in crawls before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "crawler_host",
            sa.Text(),
            nullable=True,
            comment="host name of the machine that made it; null before schema version 2",
        ),
    )
    op.add_column(
        "visit",
        sa.Column(
            "unfiltered_egress",
            sa.Boolean(),
            nullable=True,
            comment="whether the browser could reach any address, without the address guard; null before schema version 2",
        ),
    )
    op.alter_column(
        "visit",
        "attempt",
        existing_type=sa.SMALLINT(),
        comment="number of the visit among those to its site, from 1; retries, repeat loads and inner pages count",
        existing_comment="1 for the first visit to the site, 2 for its retry",
        existing_nullable=False,
    )
