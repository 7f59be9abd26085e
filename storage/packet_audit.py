"""The audit of received bytes: what the browser's log counts on a connection,
held against its captured packets."""

import dataclasses

QUERY = """
SELECT count(*) AS connections, count(*) FILTER (WHERE packet_bytes = received_bytes) AS agreeing_connections,
       coalesce(sum(received_bytes), 0)::bigint AS received_bytes,
       coalesce(sum(received_bytes) FILTER (WHERE packet_bytes = received_bytes), 0)::bigint AS agreeing_bytes
FROM {source} WHERE packet_bytes IS NOT NULL
"""
"""The columns of PacketAudit, from a table or relation of connections; for PostgreSQL and for DuckDB."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PacketAudit:
    """Counts of connections whose packets were captured whole, and of those that agree to the byte."""

    connections: int = 0
    agreeing_connections: int = 0
    received_bytes: int = 0
    """Bytes received on these connections, by the log."""
    agreeing_bytes: int = 0
    """Bytes received on the connections that agree."""

    @property
    def connection_share(self) -> float | None:
        return self.agreeing_connections / self.connections if self.connections else None

    @property
    def byte_share(self) -> float | None:
        return self.agreeing_bytes / self.received_bytes if self.received_bytes else None
