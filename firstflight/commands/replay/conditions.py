"""Options for the conditions of a replay: each takes a list, and every combination is an arm."""

import click

from firstflight.commands.replay.condition_words import (
    CONGESTION_CONTROLS,
    MOST_BDP,
    MOST_COMPETING_FLOWS,
    MOST_LOSS,
    among,
    each,
    one_of,
    read_competition,
    read_loss,
    read_queue,
)
from replay.networks.queues import MOST_BYTES, PublishedQueues
from replay.recipes.http_version import HTTP, RECORDED_HTTP
from replay.runs.buffers import RECEIVERS, SEND_BUFFERS, UNLIMITED_RECEIVER, USUAL_SEND_BUFFER
from replay.runs.conditions import (
    CACHE,
    CHROMIUM_REQUESTS,
    DISCOVERY,
    DNS,
    H2_ORDER,
    HANDSHAKES,
    RECORDED_DISCOVERY,
    RECORDED_HANDSHAKE,
    RECORDED_RECORDS,
    RECORDS,
    REQUESTS,
    SERVER_DELAY,
    Competition,
    Conditions,
    Loss,
    Queue,
)

CONDITION_OPTIONS = (
    click.option(
        "--congestion-control",
        callback=among(CONGESTION_CONTROLS, f"one of {', '.join(CONGESTION_CONTROLS)}"),
        metavar="NAME,...",
        default="cubic",
        show_default=True,
        help=f"Congestion control of the page's servers: {', '.join(CONGESTION_CONTROLS)}.",
    ),
    click.option(
        "--pacing",
        callback=one_of("off", "on"),
        metavar="on|off,...",
        default="off",
        show_default=True,
        help="on: the page's servers pace their packets; competing flows do not.",
    ),
    click.option(
        "--loss",
        callback=each(
            read_loss,
            f"own, a share up to {MOST_LOSS} such as 0.01, or a share in bursts such as 0.01x4",
        ),
        metavar="own|SHARE[xBURST],...",
        default="own",
        show_default=True,
        help="Share of packets lost at random in each direction, beside the queue's drops: 0.01 is 1 % in "
        "independent losses, 0.01x4 the same in bursts of four packets on average. own: "
        "the loss of the network profile.",
    ),
    click.option(
        "--competition",
        callback=each(
            read_competition,
            f"none, or up to {MOST_COMPETING_FLOWS} flows as FLOWSxCONTROL@IW, such as 2xbbr@10; "
            f"controls are {', '.join(CONGESTION_CONTROLS)}",
        ),
        metavar="none|NxCONTROL@IW,...",
        default="none",
        show_default=True,
        help="Competing bulk flows: 2xbbr@10 is two BBR flows with an initial window of 10 segments.",
    ),
    click.option(
        "--queue",
        callback=each(
            read_queue,
            f"own, fq_codel, cake, or a size such as 1BDP (up to {MOST_BDP}) or "
            f"65536B (up to {MOST_BYTES:,})",
        ),
        metavar="own|fq_codel|cake|SIZE,...",
        default="own",
        show_default=True,
        help="Queue of the bottleneck: FQ-CoDel or CAKE, or tail drop behind so many bandwidth-delay "
        "products (0.25BDP) or bytes (65536B). own: the queue of the network profile.",
    ),
    click.option(
        "--think",
        callback=one_of(*SERVER_DELAY),
        metavar="none|recorded,...",
        default="recorded",
        show_default=True,
        help="Time until servers begin an answer: as recorded, "
        "or usual for the type where it is not known; none: at once.",
    ),
    click.option(
        "--tls-records",
        callback=among(RECORDS, f"one of {', '.join(RECORDS)}"),
        metavar="NAME,...",
        default=RECORDED_RECORDS,
        show_default=True,
        help="Sizes of the servers' TLS records, of which a browser can use nothing before all has arrived: "
        "as recorded, else 16 kB; 16k; 4k; dynamic (1.4 kB first, then 4 and 16 kB). none: "
        "each byte is of use when it arrives.",
    ),
    click.option(
        "--discovery",
        callback=among(DISCOVERY, f"one of {', '.join(DISCOVERY)}"),
        metavar="NAME,...",
        default=RECORDED_DISCOVERY,
        show_default=True,
        help="When the browser asks for what a response leads to: as recorded, at the place where it was "
        "found and after the browser's delay; first-byte or last-byte of that response, at once.",
    ),
    click.option(
        "--tls-handshake",
        callback=among(HANDSHAKES, f"one of {', '.join(HANDSHAKES)}"),
        metavar="NAME,...",
        default=RECORDED_HANDSHAKE,
        show_default=True,
        help="TLS handshakes: full as recorded; resumed, without certificates; early-data, "
        "the first request at once (0-RTT).",
    ),
    click.option(
        "--requests",
        callback=among(REQUESTS, f"one of {', '.join(REQUESTS)}"),
        metavar="NAME,...",
        default=CHROMIUM_REQUESTS,
        show_default=True,
        help="Requests of low priority to hosts not known to speak HTTP/2: at most ten at a time, "
        "as in Chromium; unlimited.",
    ),
    click.option(
        "--dns",
        callback=one_of(*DNS),
        metavar="none|recorded,...",
        default="none",
        show_default=True,
        help="Time to find a host's address, once: none, "
        "or a round trip and what the recorded resolver needed beyond its own.",
    ),
    click.option(
        "--receiver",
        callback=among(RECEIVERS, f"one of {', '.join(RECEIVERS)}"),
        metavar="NAME,...",
        default=UNLIMITED_RECEIVER,
        show_default=True,
        help="First receive window and acknowledgements of the client: linux (44 segments), android "
        "(60), or windows (44; every second segment).",
    ),
    click.option(
        "--http",
        callback=among(HTTP, f"one of {', '.join(HTTP)}"),
        metavar="NAME,...",
        default=RECORDED_HTTP,
        show_default=True,
        help="Version of HTTP: recorded, each host's own; h1, up to six connections to every host; h2, "
        "one to every host with TLS.",
    ),
    click.option(
        "--h2-order",
        callback=one_of(*H2_ORDER),
        metavar="turns|priority,...",
        default="turns",
        show_default=True,
        help="Order of a server's answers over HTTP/2: a frame each in turns, "
        "or by the requests' priorities (RFC 9218).",
    ),
    click.option(
        "--send-buffer",
        callback=among(SEND_BUFFERS, f"one of {', '.join(SEND_BUFFERS)}"),
        metavar="NAME,...",
        default=USUAL_SEND_BUFFER,
        show_default=True,
        help="What servers give TCP ahead of what it sends: 64k or 16k, at most so much over HTTP/2 "
        "(TCP_NOTSENT_LOWAT); linux: what the send buffer holds, which grows with the window.",
    ),
    click.option(
        "--cache",
        callback=one_of(*CACHE),
        metavar="cold|warm,...",
        default="cold",
        show_default=True,
        help="warm: a second visit a minute later, by the recorded headers.",
    ),
)


def arms(
    *,
    congestion_control: tuple[str, ...],
    pacing: tuple[bool, ...],
    loss: tuple[Loss | None, ...],
    competition: tuple[Competition | None, ...],
    queue: tuple[Queue | PublishedQueues | None, ...],
    think: tuple[bool, ...],
    cache: tuple[bool, ...],
    tls_records: tuple[str, ...],
    discovery: tuple[str, ...],
    tls_handshake: tuple[str, ...],
    requests: tuple[str, ...],
    dns: tuple[bool, ...],
    receiver: tuple[str, ...],
    http: tuple[str, ...],
    h2_order: tuple[bool, ...],
    send_buffer: tuple[str, ...],
) -> list[Conditions]:
    """The conditions of every combination."""
    return [
        Conditions(
            congestion_control=control,
            pacing=paced,
            loss=lost,
            competition=competing,
            queue=queued,
            server_delay=delayed,
            warm_cache=warm,
            tls_records=records,
            discovery=found,
            tls_handshake=handshake,
            requests=held,
            resolves_names=resolved,
            receiver=receiving,
            http=version,
            prioritised=prioritised,
            send_buffer=buffer,
        )
        for control in congestion_control
        for paced in pacing
        for lost in loss
        for competing in competition
        for queued in queue
        for delayed in think
        for warm in cache
        for records in tls_records
        for found in discovery
        for handshake in tls_handshake
        for held in requests
        for resolved in dns
        for receiving in receiver
        for version in http
        for prioritised in h2_order
        for buffer in send_buffer
    ]
