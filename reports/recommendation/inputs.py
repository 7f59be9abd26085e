"""Inputs of a replay that could turn the answer, each with the ends of its range:
the sensitivity replays load a few pages at each end.

Every report contains the ids, so renaming one breaks past reports.
"""

from dataclasses import dataclass, field

from replay.recipes.http_version import HTTP1, HTTP2
from replay.runs.buffers import LINUX_SEND_BUFFER
from replay.runs.conditions import (
    FIRST_BYTE,
    LAST_BYTE,
    RESUMED,
    UNLIMITED_REQUESTS,
    Conditions,
    Loss,
    Neighbours,
    Queue,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An end of an input's range."""

    value: str
    conditions: Conditions = field(default_factory=Conditions)
    population: str = ""
    """What the id of a population of networks gets at this end; empty for the replay's own population."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An input with its default and the ends of its range."""

    id: str
    title: str
    unit: str
    low: End | None
    default: str
    high: End | None
    source: str
    """Where the range comes from."""

    @property
    def ends(self) -> tuple[End, ...]:
        """The ends that there are."""
        return tuple(end for end in (self.low, self.high) if end)


INPUTS: tuple[Input, ...] = (
    Input(
        id="round_trips",
        title="round trips of the networks",
        unit="",
        low=None,
        default="to M-Lab's nearest server",
        high=End(value="to sites, by CrUX", population="crux"),
        source="M-Lab and CrUX; sites lie between the two, for content networks are near",
    ),
    Input(
        id="rho",
        title="correlation of bandwidth and round trip in a country",
        unit="",
        low=End(value="-0.6", population="r60"),
        default="-0.3",
        high=End(value="0", population="r00"),
        source="of a Gaussian copula; between countries -0.58 (M-Lab), within mobile lines about 0 (ERRANT)",
    ),
    Input(
        id="weights",
        title="weights of the countries",
        unit="",
        low=None,
        default="tests",
        high=End(value="Internet users", population="users"),
        source="M-Lab's tests, and the World Bank's and ITU's users of 2019",
    ),
    Input(
        id="discovery",
        title="when the browser asks for what a response leads to",
        unit="",
        low=End(value="first byte", conditions=Conditions(discovery=FIRST_BYTE)),
        default="as recorded",
        high=End(value="last byte", conditions=Conditions(discovery=LAST_BYTE)),
        source="the truth lies between the first and the last byte of the response",
    ),
    Input(
        id="think_time",
        title="time that servers take to begin an answer",
        unit="",
        low=End(value="none", conditions=Conditions(server_delay=False)),
        default="as recorded",
        high=None,
        source="none is the least there can be",
    ),
    Input(
        id="tls_records",
        title="sizes of the servers' TLS records",
        unit="",
        low=End(value="small first", conditions=Conditions(tls_records="dynamic")),
        default="as recorded",
        high=End(value="16 kB", conditions=Conditions(tls_records="16k")),
        source="dynamic record sizes of content networks, and nginx's default of 16 kB",
    ),
    Input(
        id="tls_handshake",
        title="TLS handshakes",
        unit="",
        low=End(value="0-RTT", conditions=Conditions(tls_handshake="early-data")),
        default="as recorded",
        high=None,
        source="RFC 8446: early data is the shortest handshake",
    ),
    Input(
        id="resumption",
        title="TLS handshakes that resume an earlier connection",
        unit="",
        low=None,
        default="none",
        high=End(value="all, without certificates", conditions=Conditions(tls_handshake=RESUMED)),
        source="RFC 8446; what the servers' certificates open of the window is not opened then",
    ),
    Input(
        id="cache",
        title="cache of the browser",
        unit="",
        low=None,
        default="empty",
        high=End(value="filled a minute ago", conditions=Conditions(warm_cache=True)),
        source="what the recorded headers let a browser use again; "
        "a first visit is the most there can be to load",
    ),
    Input(
        id="requests",
        title="requests of low priority that the browser holds back",
        unit="",
        low=None,
        default="as Chromium",
        high=End(value="none", conditions=Conditions(requests=UNLIMITED_REQUESTS)),
        source="Chromium's resource scheduler; other browsers have other limits",
    ),
    Input(
        id="http",
        title="version of HTTP that the hosts are asked over",
        unit="",
        low=End(value="HTTP/1.1, six connections a host", conditions=Conditions(http=HTTP1)),
        default="as recorded",
        high=End(value="HTTP/2, one connection a host", conditions=Conditions(http=HTTP2)),
        source="RFC 9112 and RFC 9113; browsers open at most six connections over HTTP/1.1",
    ),
    Input(
        id="h2_order",
        title="order of answers over HTTP/2",
        unit="",
        low=None,
        default="in turns",
        high=End(value="by priority", conditions=Conditions(prioritised=True)),
        source="RFC 9218; servers differ",
    ),
    Input(
        id="send_buffer",
        title="what servers give TCP ahead of what it sends",
        unit="",
        low=End(value="16 kB", conditions=Conditions(send_buffer="16k")),
        default="64 kB over HTTP/2",
        high=End(
            value="what Linux's send buffer holds", conditions=Conditions(send_buffer=LINUX_SEND_BUFFER)
        ),
        source="net.ipv4.tcp_notsent_lowat of 16 kB at large content networks; nginx and Apache set no limit",
    ),
    Input(
        id="dns",
        title="finding the addresses of hosts",
        unit="",
        low=None,
        default="takes no time",
        high=End(value="a round trip a host", conditions=Conditions(resolves_names=True)),
        source="recorded pages; a resolver is mostly nearer than the sites",
    ),
    Input(
        id="receiver",
        title="first receive window and acknowledgements of the clients",
        unit="",
        low=None,
        default="no limit, as Linux",
        high=End(value="as Windows", conditions=Conditions(receiver="windows")),
        source="Windows' template for the Internet: 64 kB, every second segment, 40 ms",
    ),
    Input(
        id="congestion_control",
        title="congestion control of the servers",
        unit="",
        low=None,
        default="CUBIC",
        high=End(value="BBR", conditions=Conditions(congestion_control="bbr")),
        source="Linux's default, and what large content networks use",
    ),
    Input(
        id="pacing",
        title="pacing of what servers send",
        unit="",
        low=None,
        default="none",
        high=End(value="fq", conditions=Conditions(pacing=True)),
        source="Linux paces where fq is the queueing discipline, or the socket asks for it",
    ),
    Input(
        id="queue",
        title="size of the bottleneck's queue",
        unit="bandwidth-delay products",
        low=End(value="0.25", conditions=Conditions(queue=Queue(bdp=0.25))),
        default="the population's",
        high=End(value="4", conditions=Conditions(queue=Queue(bdp=4))),
        source="from a quarter of a bandwidth-delay product to bufferbloat, as in the harm conditions",
    ),
    Input(
        id="discipline",
        title="queueing discipline of the bottleneck",
        unit="",
        low=End(value="FQ-CoDel", conditions=Conditions(queue=Queue(discipline="fq_codel"))),
        default="tail drop",
        high=End(value="CAKE", conditions=Conditions(queue=Queue(discipline="cake"))),
        source="what home routers use beside tail drop",
    ),
    Input(
        id="background",
        title="share of the bottleneck that other people's flows ask for",
        unit="%",
        low=End(value="0", conditions=Conditions(neighbours=Neighbours(load=0.0))),
        default="5",
        high=End(value="50", conditions=Conditions(neighbours=Neighbours(load=0.5))),
        source="ours: nobody else, and the load of the harm conditions",
    ),
    Input(
        id="loss",
        title="packets lost at random",
        unit="%",
        low=End(value="0", conditions=Conditions(loss=Loss(share=0.0))),
        default="the population's",
        high=End(value="1", conditions=Conditions(loss=Loss(share=0.01))),
        source="ours: none, and what wireless lines have at times",
    ),
)

ENDS: tuple[End, ...] = tuple(end for one in INPUTS for end in one.ends)
"""Every end that a sensitivity replay loads pages at."""
