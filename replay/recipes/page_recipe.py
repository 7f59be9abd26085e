"""Page recipes: the responses, sizes and dependencies of a page load, derived from a release."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from releases.catalogue import Release
from replay.errors import RecipeError
from replay.recipes.discovery import crawled_began_us, discoveries
from replay.recipes.distance import BASELINES, Baseline, own_baseline, recorded_distances
from replay.recipes.release_rows import Row, by_visit, rows
from replay.recipes.think_time import FILE, PAGE, kind_of, think_times, usual_think_times
from replay.recipes.tls_records import Run, payload, record_runs, runs_text
from schema.http_caching import can_be_confirmed, fresh_s
from schema.recorded import RECORDED

REQUEST_BYTES = 450
"""A request without its body. Releases hold no request headers; Chromium's have 400 to 500 bytes."""

MOST_BODY_BYTES = 4 * 1024 * 1024
"""Most bytes of a request's body: the player writes a whole request at once."""

USUAL_URGENCY = 3
"""Urgency of a request that states none (RFC 9218 §4.1)."""

TWO_TRIPS = 1.5
"""Round trips from which a handshake is taken for two: cryptography and waiting take less than half of one.
Our choice.
"""

LOW_URGENCY = 2
"""Urgency from which on Chromium may hold a request back: its priorities HIGHEST to IDLE are 0 to 4."""

LOW_PRIORITY = frozenset({"image", "audio", "video", "media", "track"})
"""Types with a low priority in Chromium; scripts have it if they are asynchronous, which their type does not
tell.
"""

BLOCKING = "blocking"


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """A host and port that the page connects to."""

    host: str
    port: int
    h2: bool
    """One connection with streams, or up to six."""
    tls_flight_bytes: int
    """0 for clear text."""
    tls_after_bytes: int
    """Session tickets and connection frames before the first response."""
    tls_trips: int = 1
    """Round trips of a full TLS handshake before the first request: 2 where TLS 1.2 was seen to take them."""
    tls_records: tuple[Run, ...] = ()
    """Sizes of the server's TLS records as recorded; none: unknown."""
    resolver_delay_us: int | None = 0
    """The resolver's time beyond the round trip to it; None: the browser knows the address."""
    distance_us: int | None = None
    """Recorded round trip to the server beyond the access line."""
    is_http3: bool = False
    """True for HTTP/3, for which TCP with streams stands in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Object:
    """A response of the page."""

    response_id: int
    origin: int
    parent: int
    """Index of the object that must arrive first; -1: none."""
    response_bytes: int
    """wire_bytes, inside TLS: the server adds the records. 0: the browser's cache has it."""
    is_document: bool
    request_bytes: int = REQUEST_BYTES
    place: int | None = None
    """Number of the parent's bytes at which it is found; None: all of them."""
    waits_for: int = -1
    """Index of a further object that must arrive first; -1: none."""
    browser_delay_us: int = 0
    """The browser's time from the arrival of all these bytes to the request."""
    kind: str = FILE
    """Kind of answer, by which an unknown think time is assumed."""
    server_delay_us: int | None = None
    """Think time; None: unknown."""
    usual_delay_us: int = 0
    """Think time if it is unknown."""
    urgency: int = USUAL_URGENCY
    """By the Priority header (RFC 9218): 0, the most urgent, to 7."""
    blocks_rendering: bool = False
    """True if nothing is painted before the whole response is there."""
    is_incremental: bool = True
    """True if it is sent in turns with others of its urgency."""
    is_delayable: bool = False
    """True for a low priority, which the browser may hold back."""
    fresh_s: int | None = None
    """Remaining freshness lifetime (RFC 9111) in seconds; None if not recorded."""
    can_be_confirmed: bool = False
    """True if a cache may revalidate it."""

    @property
    def is_cached(self) -> bool:
        """True for a response from the cache, when the browser would ask for it."""
        return self.response_bytes == 0

    @property
    def think_us(self) -> int:
        return self.usual_delay_us if self.server_delay_us is None else self.server_delay_us


@dataclass(frozen=True, kw_only=True, slots=True)
class Recipe:
    """The load of a page."""

    page: str
    visit_id: int
    origins: tuple[Origin, ...]
    objects: tuple[Object, ...]
    left_out: int
    """Responses of unknown size or 0, or incomplete, which are not replayed."""

    @property
    def requested(self) -> tuple[Object, ...]:
        return tuple(object_ for object_ in self.objects if not object_.is_cached)

    @property
    def response_bytes(self) -> int:
        return sum(object_.response_bytes for object_ in self.objects)

    @property
    def depth(self) -> int:
        depths = {-1: 0}
        for index in range(len(self.objects)):
            chain, above = [], index
            while above not in depths:
                chain.append(above)
                above = self.objects[above].parent
            depths |= {index: depths[above] + place for place, index in enumerate(reversed(chain), start=1)}
        return max(depths.values())

    def place_of(self, object_: Object) -> int:
        """Return an object's place in its parent's bytes, from 1."""
        return object_.place or max(
            1, self.objects[object_.parent].response_bytes if object_.parent >= 0 else 1
        )

    def to_text(self) -> str:
        lines = [f"page {len(self.origins)} {len(self.objects)}"]
        hosts = [origin.host for origin in self.origins]
        lines += [
            f"origin {'h2' if origin.h2 else 'h1'} {hosts.index(origin.host)} "
            f"{-1 if origin.resolver_delay_us is None else origin.resolver_delay_us} "
            f"{origin.tls_flight_bytes} {origin.tls_trips} {origin.tls_after_bytes} "
            f"{runs_text(origin.tls_records)}"
            for origin in self.origins
        ]
        lines += [
            f"object {object_.origin} {object_.parent} {object_.request_bytes} {object_.response_bytes} "
            f"{int(object_.is_document)} {object_.think_us} {self.place_of(object_)} {object_.waits_for} "
            f"{object_.browser_delay_us} {object_.urgency} {int(object_.is_incremental)} "
            f"{int(object_.blocks_rendering)} {int(object_.is_delayable)}"
            for object_ in self.objects
        ]
        return "\n".join(lines) + "\n"


def read_recipes(release: Release) -> list[Recipe]:
    """Return the recipes by host of all pages whose final visit is ok and whose main document is complete and
    of known size.
    """
    visits = [row for row in rows(release, "visit") if row["is_final"] and row["outcome"] == "ok"]
    connections = by_visit(rows(release, "connection"))
    responses = by_visit(rows(release, "response"))
    baseline = baseline_of(release, [row for rows_of_visit in connections.values() for row in rows_of_visit])
    recipes = [
        recipe
        for visit in sorted(visits, key=lambda row: str(row["host"]).encode())
        if (recipe := make_recipe(visit, connections[visit["id"]], responses[visit["id"]], baseline))
    ]
    if not recipes:
        raise RecipeError(f"{release.manifest.crawl} holds no page that can be replayed")
    return drop_delays(recipes) if release.manifest.crawl.kind == "localweb" else assume_think_times(recipes)


def baseline_of(release: Release, connections: Sequence[Row]) -> Baseline | None:
    """Return a release's baseline; None for recordings over an unknown line."""
    if release.manifest.crawl.kind != RECORDED:
        return own_baseline(connections)
    return next((BASELINES.get(row["list_id"]) for row in rows(release, "crawl")), None)


def assume_think_times(recipes: Sequence[Recipe]) -> list[Recipe]:
    """Return the recipes with its kind's usual think time for each object whose own is unknown."""
    usual = usual_think_times(
        (object_.kind, object_.server_delay_us) for page in recipes for object_ in page.objects
    )
    return [
        replace(
            page,
            objects=tuple(replace(object_, usual_delay_us=usual[object_.kind]) for object_ in page.objects),
        )
        for page in recipes
    ]


def drop_delays(recipes: Sequence[Recipe]) -> list[Recipe]:
    """Return the recipes without think times, resolvers' delays and distances: the local web has none, and a
    crawl measures its own CPU there.
    """
    return [
        replace(
            page,
            origins=tuple(replace(origin, resolver_delay_us=0, distance_us=0) for origin in page.origins),
            objects=tuple(replace(object_, server_delay_us=0) for object_ in page.objects),
        )
        for page in recipes
    ]


def make_recipe(
    visit: Row, connections: Sequence[Row], responses: Sequence[Row], baseline: Baseline | None = None
) -> Recipe | None:
    """Return a visit's recipe; None if its main document cannot be replayed.

    Without a baseline no distance is known.
    """
    network = [row for row in responses if not row["from_cache"]]
    by_connection = {row["id"]: row for row in connections}
    replayed = [row for row in network if has_size(row) and row["connection_id"] in by_connection]
    document = visit["main_response_id"]
    if document not in {row["id"] for row in replayed}:
        return None
    keys = {row["id"]: origin_key(by_connection[row["connection_id"]], row) for row in replayed}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    used = collections.defaultdict(list)
    for row in replayed:
        used[keys[row["id"]]].append(by_connection[row["connection_id"]])
    parents = find_parents(network, {row["id"] for row in replayed}, document)
    discovered = discoveries(replayed, by_connection, parents, document)
    indexes = {row["id"]: index for index, row in enumerate(replayed)}
    delays = think_times(connections, network)
    names = resolver_delays(connections, network)
    distances = recorded_distances(connections, baseline)
    return Recipe(
        page=visit["host"],
        visit_id=visit["id"],
        origins=tuple(
            make_origin(key, used[key], names.get(key[0], 0), distances.get(key[0])) for key in numbers
        ),
        objects=tuple(
            Object(
                response_id=row["id"],
                origin=numbers[keys[row["id"]]],
                parent=indexes.get(parents[row["id"]], -1),
                response_bytes=response_bytes(row, by_connection[row["connection_id"]]),
                is_document=row["id"] == document,
                request_bytes=request_bytes(row, tls=keys[row["id"]][3]),
                place=discovered[row["id"]].place,
                waits_for=indexes.get(discovered[row["id"]].waits_for, -1),
                browser_delay_us=discovered[row["id"]].browser_delay_us,
                kind=PAGE if row["id"] == document else kind_of(row),
                server_delay_us=delays[row["id"]],
                urgency=USUAL_URGENCY if row.get("urgency") is None else row["urgency"],
                is_incremental=row.get("is_incremental") is not False,
                blocks_rendering=blocks_rendering(row, parents[row["id"]], document),
                is_delayable=is_delayable(row),
                fresh_s=fresh_s(row),
                can_be_confirmed=can_be_confirmed(row),
            )
            for row in replayed
        ),
        left_out=len(network) - len(replayed),
    )


def has_size(row: Row) -> bool:
    """Return whether a size is that of the whole object."""
    # Browsers stop reading the body of a redirect when it is long:
    # what arrived is what such a response costs.
    is_part = row.get("is_complete") is False and not 300 <= (row.get("status") or 0) < 400
    return bool(row["wire_bytes"]) and not is_part


def response_bytes(row: Row, connection: Row) -> int:
    """Return the size of a response inside TLS.

    A proxy counts a header as text; HTTP/2 and HTTP/3 compress it, so that half of it is taken there.

    >>> proxied = {"protocol": None, "wire_bytes": 1_700, "header_bytes": 700}
    >>> response_bytes(proxied, {"protocol": "h2"}), response_bytes(proxied, {"protocol": "http/1.1"})
    (1350, 1700)
    """
    is_assigned = row["protocol"] is None and connection["protocol"] in ("h2", "h3")
    return int(row["wire_bytes"]) - (int(row["header_bytes"] or 0) // 2 if is_assigned else 0)


OriginKey: TypeAlias = "tuple[str, int, bool, bool, bool]"


def origin_key(connection: Row, response: Row) -> OriginKey:
    """Return host, port, streams, TLS and HTTP/3 of a connection; if shared, of the host it was opened for.

    A host over HTTP/2 and over HTTP/3 is two origins. A connection of an unknown protocol counts as HTTP/1.1.
    """
    host = connection["host"] or response["host"]
    return (
        host,
        connection["port"],
        connection["protocol"] not in {"http/1.1", None},
        connection["tls_version"] is not None,
        connection["protocol"] == "h3",
    )


def make_origin(
    key: OriginKey, connections: Sequence[Row], resolver_delay_us: int | None, distance_us: int | None
) -> Origin:
    """Return an origin, with the TLS flight of the first connection that has one; later ones may be
    resumed."""
    host, port, h2, tls, is_http3 = key
    first = next((connection for connection in connections if connection["tls_handshake_bytes"]), None)
    after = (connections[0]["frame_bytes"] or 0) if h2 else 0
    if tls and first:
        after += first["tls_ticket_bytes"] or 0
    return Origin(
        host=host,
        port=port,
        h2=h2,
        tls_flight_bytes=(first["tls_handshake_bytes"] if first else UNKNOWN_TLS_FLIGHT_BYTES) if tls else 0,
        tls_after_bytes=after,
        tls_trips=max(map(tls_trips, connections)),
        tls_records=next(
            (
                runs
                for connection in connections
                if (runs := record_runs(connection.get("first_record_bytes")))
            ),
            (),
        ),
        resolver_delay_us=resolver_delay_us,
        distance_us=distance_us,
        is_http3=is_http3,
    )


UNKNOWN_TLS_FLIGHT_BYTES = 4_096
"""TLS flight where none was measured: about a chain of two certificates. Our choice."""


def request_bytes(row: Row, *, tls: bool) -> int:
    """Return the TCP payload of a request; an unknown body counts as 0."""
    body: int = min(row.get("request_body_bytes") or 0, MOST_BODY_BYTES)
    return REQUEST_BYTES + payload(body, tls=tls)


def find_parents(responses: Sequence[Row], replayed: set[int], document: int) -> dict[int, int | None]:
    """Return the replayed response that must arrive before each; None at the start of the load.

    It is the redirect or the initiator, or the parent of one that is left out; without either the document,
    unless the response came before it.
    """
    initiators = {row["id"]: row["redirected_from_id"] or row["initiator_id"] for row in responses}
    parents: dict[int, int | None] = {}
    for response in sorted(replayed):
        seen = {response}
        parent = initiators[response]
        while parent is not None and parent not in replayed and parent not in seen:
            seen.add(parent)
            parent = initiators.get(parent)
        if parent is None or parent in seen:
            parent = document if response > document else None
        parents[response] = parent
    return _without_cycles(parents, document)


def _without_cycles(parents: dict[int, int | None], document: int) -> dict[int, int | None]:
    """Break cycles, whose responses would never be requested."""
    whole = dict(parents)
    for response in sorted(whole):
        seen: set[int] = set()
        step: int | None = response
        while step is not None and step not in seen:
            seen.add(step)
            step = whole[step]
        if step is not None:
            whole[response] = None if response == document or document in seen else document
    return whole


def tls_trips(connection: Row) -> int:
    """Return the round trips of a TLS handshake before the first request.

    TLS 1.2 takes two (RFC 5246 §7.3), unless the client sends its request without waiting for the server's
    Finished (False Start, RFC 7918), as Chromium does with most servers: so the recorded time decides. All
    else takes one (RFC 8446 §2).

    >>> slow = {"tls_version": "TLS 1.2", "connected_us": 50_000, "secured_us": 155_000, "round_trip_us": 50_000}
    >>> tls_trips(slow), tls_trips(slow | {"secured_us": 110_000}), tls_trips(slow | {"tls_version": "TLS 1.3"})
    (2, 1, 1)
    """  # noqa: E501
    times = [connection.get(name) for name in ("connected_us", "secured_us", "round_trip_us")]
    if connection["tls_version"] != "TLS 1.2" or None in times:
        return 1
    connected_us, secured_us, round_trip_us = (int(time) for time in times if time is not None)
    return 2 if secured_us - connected_us >= TWO_TRIPS * round_trip_us else 1


def resolver_delays(connections: Sequence[Row], responses: Sequence[Row]) -> dict[str, int | None]:
    """Return the resolver's own time in µs by host; None for an address that was known.

    The browser asked for the address between beginning the first request and opening the first connection
    (`_resolution_us`). The shortest such time of the visit above 0 is taken for the round trip to the crawl's
    resolver: a replay has another path. So the rest is what the resolver needed, at least.
    """
    times = _resolution_us(connections, responses)
    trip = min((time for time in times.values() if time > 0), default=0)
    return {host: time - trip if time > 0 else None for host, time in times.items()}


def _resolution_us(connections: Sequence[Row], responses: Sequence[Row]) -> dict[str, int]:
    """Return the time in µs from the first request to a host until the first packet to it.

    Hosts are left out whose first connection opened unseen, or whose first request began at an unknown time.
    In crawls it also contains whatever else held the connection back.
    """
    rows = {row["id"]: row for row in responses}
    openers: dict[int, Row] = {}
    for number in sorted(rows):
        openers.setdefault(rows[number]["connection_id"], rows[number])
    opened = sorted(
        (row for row in connections if row["opened_us"] is not None),
        key=lambda row: (row["opened_us"], row["id"]),
    )
    times: dict[str, int] = {}
    seen: set[str] = set()
    for row in opened:
        host = row["host"]
        if host is None or host in seen:
            continue
        seen.add(host)
        opener = openers.get(row["id"])
        began = None if opener is None else crawled_began_us(opener, rows)
        if began is not None:
            times[host] = max(0, row["opened_us"] - began)
    return times


def is_delayable(row: Row) -> bool:
    """Return whether Chromium gives a low priority, by urgency or else by type.

    >>> is_delayable({"urgency": 1, "resource_type": "image"}), is_delayable({"urgency": None, "resource_type": "image"})
    (False, True)
    """  # noqa: E501
    if row.get("urgency") is None:
        return row.get("resource_type") in LOW_PRIORITY
    return bool(row["urgency"] >= LOW_URGENCY)


def blocks_rendering(row: Row, parent: int | None, document: int) -> bool:
    """Return whether a response blocks rendering, as the browser decided when it asked for it.

    Where that was not recorded, style sheets that the main document leads to are taken to block (HTML
    standard, "render-blocking mechanism"). A script blocks or not by attributes of the markup, which
    recordings do not keep: such scripts count as not blocking.

    >>> blocks_rendering({"render_blocking": "non_blocking", "resource_type": "style"}, 1, 1)
    False
    >>> blocks_rendering({"render_blocking": None, "resource_type": "style"}, 1, 1)
    True
    """
    decided = row.get("render_blocking")
    if decided is not None:
        return bool(decided == BLOCKING)
    return row.get("resource_type") == "style" and parent == document
