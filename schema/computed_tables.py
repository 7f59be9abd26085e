"""Tables computed from observations: distributions and replay cells.

They exist as Parquet only and can be recomputed. Each is an Arrow schema whose fields carry their
definitions, like the columns of the observation tables.
"""

import pyarrow as pa


def arrow_fields(columns: dict[str, str]) -> list[pa.Field]:
    """Return Arrow fields from definitions by "name type", where a question mark after the type allows null.

    >>> arrow_fields({"size_bytes int64?": "size in bytes"})
    [pyarrow.Field<size_bytes: int64>]
    """
    declared = []
    for column, comment in columns.items():
        name, kind = column.split()
        arrow = pa.type_for_alias(kind.rstrip("?"))
        declared.append(pa.field(name, arrow, nullable=kind.endswith("?"), metadata={"comment": comment}))
    return declared


MEASURES: dict[str, str] = {
    "responses": "wire_bytes of every complete response that crossed the network; here and in every "
    "other measure of responses or first flights, sizes that are derived or selected (size_basis) "
    "count as unknown",
    "responses_first": "wire_bytes of the first response on each connection, if it is complete",
    "responses_iw_limited": "wire_bytes of the complete responses that began while the congestion "
    "window, by Linux's rules, was still the initial window",
    "responses_incomplete": "what had arrived of the responses that are not complete (is_complete is "
    "false), which no other measure of responses counts",
    "responses_derived": "wire_bytes of the complete responses of which the size is derived or selected "
    "(size_basis): a measure of recordings that somebody else made, "
    "and whose program counted too little to say more",
    "responses_derived_bodies": "body_bytes of the responses of responses_derived whose header was not "
    "counted: where that measure takes the header's text for the header, this one takes nothing",
    "first_flights": "TCP payload from the server for everything requested on a connection before the "
    "first acknowledgement of response data could reach the server: the TLS flight, tickets, connection "
    "frames, responses and their TLS records",
    "first_flights_after_tls": "first_flights without the TLS flight, "
    "which the client acknowledges before its first request",
    "tls_flights": "tls_handshake_bytes, the server's TLS flight, of each TLS connection",
    "connections": "received_bytes of each connection with a response",
    "hosts": "received_bytes of all connections to one host on one page",
    "pages": "received_bytes of all connections of one page",
}
"""Definitions of the measures of size, by their stable names."""

DISTRIBUTION = pa.schema(
    arrow_fields(
        {
            "measure string": "name of the measure",
            "size_bytes int64?": "size in bytes; null for items whose size is unknown, or of which it is "
            "unknown whether the measure counts them",
            "count int64": "number of items (responses, flights, connections, "
            "hosts or pages) of exactly this size",
            "cumulative int64?": "number of items of this size or less; null for unknown sizes",
            "cdf float64?": "cumulative divided by the number of items of known size; null for unknown sizes",
        }
    ),
    metadata={"table": "distribution"},
)
"""Exact empirical CDFs over the final visits of one crawl with outcome ok; one row per step."""

ITEM = pa.schema(
    arrow_fields(
        {
            "measure string": "name of the measure",
            "size_bytes int64?": "size in bytes; null for items whose size is unknown, or of which it is "
            "unknown whether the measure counts them",
            "rank int32": "rank of the site in the list; for recorded pages the number of the page",
            "page_kind string": "home (the page that represents the site; distribution counts these "
            "alone) or inner (an inner page of the site)",
            "rank_stratum int32?": "stratum of popularity: the least of 1,000, 10,000, 100,000, "
            "1,000,000, ... that the site's rank, or its rank magnitude, does not exceed; null for "
            "recorded pages, whose ranks are not known",
            "protocol string?": "protocol of the response or connection: http/1.1, h2 or h3; null if "
            "unknown, and for hosts and pages",
            "resource_type string?": "resource_type of the response; "
            "null for measures that are not of responses",
            "party string?": "first if the host has the same registrable domain as the page, by the "
            "Public Suffix List of the manifest's public_suffix_list, else third; "
            "null if a host is unknown, and for pages",
        }
    ),
    metadata={"table": "item"},
)
"""One item that a distribution counts, with its site and its strata; smallest first within a measure."""

CELL = pa.schema(
    arrow_fields(
        {
            "page string": "host of the page",
            "visit_id int64": "visit that the recipe was made from",
            "profile string": "network profile, by its stable id",
            "iw int32": "initial window of the servers, in segments",
            "congestion_control string": "congestion control of the page's servers, by its Linux name; "
            "where senders differ, of those that are not drawn as BBR",
            "pacing bool": "true if the page's servers paced their packets; where senders differ, "
            "those that are not drawn as BBR",
            "senders string": "how the page's servers differ: published (each origin drawn by published "
            "shares of CUBIC at once, CUBIC paced and BBR), unknown-cubic or unknown-bbr (the share that "
            "is not known all CUBIC, or all BBR), or one (all by congestion_control and pacing)",
            "distance string": "round trip to each origin beyond the network's: none, recorded (drawn "
            "from published distances where none was), near (all drawn, replicas of CDNs alone) or far "
            "(all drawn, as all servers lie from Argentina)",
            "http3 string": "sender of what was HTTP/3: stand-in (TCP, CUBIC, paced, ten segments "
            "whatever iw is) or tcp (as all others)",
            "loss float64?": "share of packets lost at random in each direction; null: as in the profile",
            "loss_burst float64?": "mean number of packets lost together (Gilbert's model), 1 if losses "
            "are independent; null: as in the profile",
            "competition string?": "competing bulk flows during the load, as FLOWSxCONTROL@IW; null: none",
            "think string": "delay of the servers before each response: recorded (as in the crawl; where "
            "that is unknown, the median of its kind: HTML, a script's call, or a file) or none",
            "cache string": "cold, or warm (a second visit: without the responses that are still fresh "
            "by their recorded header, and with a 304 in place of those that can be revalidated)",
            "tls_records string": "sizes of the servers' TLS records: recorded (16 kB where not), 16k, "
            "4k, dynamic (small first), or none (each byte is of use when it arrives, "
            "not when its record is whole)",
            "discovery string": "when the browser asks for what a response leads to: recorded (at a "
            "place of its bytes, by the crawl's times or by type and order, after the browser's delay), "
            "first-byte or last-byte (of that response, at once)",
            "tls_handshake string": "TLS handshakes: recorded (full, of one or two round trips), resumed "
            "(one, without certificates) or early-data (resumed, "
            "with the first request in the first flight)",
            "requests string": "whether the browser holds requests of low priority back: chromium (at "
            "most ten at a time to hosts that it does not know to speak HTTP/2, "
            "fewer over slow networks) or unlimited",
            "dns string": "whether names of hosts take time: none, or recorded (once a host the path's "
            "round trip, and what the crawl's resolver needed beyond its own)",
            "receiver string": "how the client receives: unlimited (a first window of 16 MB), linux (44 "
            "segments of 1,460 bytes), android (60), all with Linux's acknowledgements; or windows (44, "
            "and every second segment is acknowledged from the first on)",
            "http string": "version of HTTP that the hosts are asked over: recorded (each host's own), "
            "h1 (all over HTTP/1.1, up to six connections to a host), or h2 (all with TLS over HTTP/2, "
            "one connection to a host)",
            "h2_order string": "order in which a server answers several requests of an HTTP/2 "
            "connection: turns (a frame of 16 kB each) or priority (RFC 9218, as the requests state it)",
            "send_buffer string": "what a server gives TCP ahead of what TCP sends: 64k or 16k (at most "
            "so many bytes over HTTP/2, TCP_NOTSENT_LOWAT), or linux (what the send buffer holds, which "
            "begins with 16 kB and grows with the congestion window)",
            "route string": "route that the servers take the initial window from: own, or alias, a "
            "second one of the same window, whose loads are to equal those of the first",
            "queue string?": "bottleneck queue used instead of the profile's: in bandwidth-delay "
            "products (BDP) or bytes (B) with tail drop, fq_codel or cake, or a reading of the published "
            "queues (low, high, at-least-2, at-least-50, fq-codel-25); null: the profile's",
            "queue_bytes int64?": "bottleneck queue in effect, in bytes; null under fq_codel and cake, "
            "which have limits of their own",
            "background_load float64?": "share of the bottleneck's capacity that the background's flows "
            "ask for; null: the ordinary 5 %",
            "everyone bool?": "true if the background's short flows start with the cell's own initial "
            "window; null: with today's 10, in the ordinary background",
            "probe bool?": "true if a probe, a datagram of 8 bytes every 20 ms, was sent during the "
            "load; null: no probe, in the ordinary background",
            "seed int64": "seed of the cell's start phase and of its background traffic",
            "state string": "done, refused (a gate of the topology failed) or failed (the "
            "guest or the load failed)",
            "reason string?": "the gate that failed, or the error; null if done",
            "page_ms float64?": "time from the first SYN to the last byte of the page's payload",
            "document_ms float64?": "time from the first SYN to the last byte of the main document",
            "first_byte_ms float64?": "time from the first SYN to the first byte of the main document "
            "that the browser can use: with TLS, the end of its first record",
            "render_blocking_ms float64?": "time from the first SYN to the last byte of the responses "
            "that block rendering (as the browser decided; where that was not recorded, the style "
            "sheets that the main document leads to), and at least first_byte_ms",
            "response_latency_ms float64?": "mean over the page's responses of the time from the "
            "request, once it has a connection, to the last byte",
            "payload_bytes int64?": "payload that the client received",
            "responses int32?": "number of responses of the page",
            "responses_retransmitted int32?": "number of responses during which "
            "their connection retransmitted",
            "responses_own_retransmitted int32?": "number of responses of whose own bytes the server "
            "retransmitted any during the load",
            "connections int32?": "number of TCP connections of the page",
            "connections_initial_loss int32?": "number of connections that retransmitted "
            "within their first IW segments",
            "bytes_initial_loss int64?": "payload that those connections had retransmitted by the time "
            "their first IW segments had arrived",
            "segments_sent int64?": "data segments that the servers sent, "
            "including retransmissions (tcpi_data_segs_out)",
            "segments_retransmitted int64?": "segments that the servers retransmitted (tcpi_total_retrans)",
            "segments_spurious int64?": "data segments that the servers retransmitted although nothing "
            "was lost: those retransmitted less those lost, which were sent and had not arrived by the "
            "page's end; a lower bound, since what was still on its way counts as lost",
            "bytes_retransmitted int64?": "payload that the servers retransmitted (tcpi_bytes_retrans)",
            **{
                f"{what}_{sender} int64?": f"{comment} of the servers {who}; null where senders do not differ"
                for sender, who in (
                    ("at_once", "drawn as CUBIC at once"),
                    ("paced", "drawn as CUBIC paced"),
                    ("bbr", "drawn as BBR"),
                    ("http3", "that stand in for HTTP/3"),
                )
                for what, comment in (
                    ("payload_bytes", "payload_bytes"),
                    ("bytes_retransmitted", "bytes_retransmitted"),
                )
            },
            "bottleneck_drops int64?": "number of packets that the bottleneck's queue dropped",
            "snd_cwnd_min int32?": "smallest snd_cwnd of the page's connections before their "
            "first response, in segments, without those that stand in for HTTP/3",
            "competition_bytes int64?": "payload that the competing bulk flows delivered during the "
            "load; null without competition",
            "short_flows int32?": "number of background flows of at most 3 segments that began during "
            "the load; null if the load did not wait for their end",
            "short_flow_ms float64?": "mean time of those short flows from the first SYN to the last "
            "byte; null without any, or if one did not end",
            "probe_p95_ms float64?": "95th percentile of the probe's delay towards the client during the "
            "load; null without a probe",
        }
    ),
    metadata={"table": "cell"},
)
"""One page load in the replay lab."""

CELL_KEY: tuple[str, ...] = tuple(CELL.names[: CELL.names.index("state")])
"""Columns that identify a cell."""

REPLAYED_RESPONSE = pa.schema(
    [
        *(CELL.field(name) for name in CELL_KEY),
        *arrow_fields(
            {
                "response_id int64": "id of the response in the crawl or the recording",
                "is_document bool": "true for the main document",
                "response_bytes int64": "size of the response inside TLS: header, framing and body",
                "wanted_ms float64": "time from the page's first SYN until the browser asked: the bytes "
                "that lead to the request had arrived, and the browser's own delay was over",
                "sent_ms float64": "time from the page's first SYN to the request, which waits for a "
                "connection; the response's latency begins here",
                "first_byte_ms float64": "time from the page's first SYN to the arrival of "
                "the response's first packet",
                "last_byte_ms float64": "time from the page's first SYN to the response's last byte; "
                "its latency ends here",
                "flights int32": "number of bursts in which the response arrived: a new burst begins "
                "after each pause of more than half a round trip without a packet of the response",
                "retransmitted bool": "true if its connection retransmitted during the response",
            }
        ),
    ],
    metadata={"table": "replayed_response"},
)
"""One response of a replayed page; only for loads that are done."""
