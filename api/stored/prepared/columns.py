"""The columns of a site's rows that answers have."""

from api.stored.prepared.site_rows import Columns
from releases.first_flights import Connection, Response

DOCUMENT = ("host", "protocol", "first_flight_bytes", "initial_window_segments", "initial_window_unknown")
"""Columns of the connection of a main document."""

SITE_COLUMNS = Columns(
    visit=(
        *("id", "rank", "page_kind", "load", "attempt", "is_final", "outcome", "status", "final_scheme"),
        *("final_host", "started_at", "load_us", "largest_contentful_paint_us", "received_bytes"),
        "main_response_id",
    ),
    connection=tuple(dict.fromkeys((*Connection._fields, *DOCUMENT, "response_count"))),
    response=(*Response._fields, "connection_id"),
)
