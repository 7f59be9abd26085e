"""`/v1/pages/{visit}`: one page load with its connections and responses in the order of time,
as a waterfall."""

import dataclasses
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import Field, create_model

from api.formats.offered import IN_JSON, get_in
from api.http.problems import Problem
from api.routes.answers import AnswerModel, Provenance
from api.routes.provenance import AskedRelease, provenance
from api.rows.filters import row_fields
from api.rows.query import TABLES
from api.service import Kept, service_of
from api.stored.prepared import Row
from releases import first_flights

router = APIRouter(prefix="/v1", tags=["rows"], route_class=Kept)

CONNECTION = (
    *("id", "host", "port", "protocol", "tls_version", "tls_resumed", "opened_us", "connected_us"),
    *("secured_us", "last_byte_us", "received_bytes", "decrypted_bytes", "tls_handshake_bytes"),
    *("tls_ticket_bytes", "frame_bytes", "response_count", "round_trip_us", "first_flight_bytes"),
    *("segment_bytes", "initial_window_segments", "initial_window_most_segments", "initial_window_unknown"),
)
RESPONSE = (
    *("id", "connection_id", "initiator_id", "redirected_from_id", "method", "scheme", "host", "path"),
    *("protocol", "resource_type", "status", "mime_type", "from_cache", "wire_bytes", "wire_bytes_unknown"),
    *("size_basis", "header_bytes", "body_bytes", "is_complete", "request_sent_us", "first_byte_us"),
    *("last_byte_us", "server_delay_us"),
)

VisitPath = Annotated[
    int, Path(ge=1, le=2**63 - 1, description="number of the visit in its crawl", examples=[1])
]


class ConnectionFlightAnswer(AnswerModel):
    """What a server sent before an acknowledgement of it could arrive, by the browser's clock."""

    response_ids: list[int]
    """Responses that are wholly or partly in it."""
    tls_bytes: int | None
    """The server's TLS flight; null if unknown."""
    answer_bytes: int | None
    """Everything else: responses, TLS records, tickets and connection frames; null if a part is unknown."""
    size_bytes: int | None
    """Both; null if a part is unknown."""


WaterfallConnection: Any = create_model(
    "WaterfallConnection",
    __doc__="A connection of the page load.",
    **row_fields(TABLES["connections"].schema(), CONNECTION),
    first_flight=(
        ConnectionFlightAnswer | None,
        Field(description="null over QUIC, and where nothing began to arrive"),
    ),
)
WaterfallResponse: Any = create_model(
    "WaterfallResponse",
    __doc__="A response of the page load.",
    **row_fields(TABLES["responses"].schema(), RESPONSE),
    is_in_first_flight=(
        bool | None,
        Field(description="true if it is in its connection's first flight; null where that is unknown"),
    ),
)
PageVisit: Any = create_model(
    "PageVisit",
    __doc__="The page load itself.",
    **row_fields(TABLES["visits"].schema(), TABLES["visits"].schema().names),
)


class PageAnswer(AnswerModel):
    """A page load as a waterfall."""

    provenance: Provenance
    visit: PageVisit
    connections: list[WaterfallConnection]
    """In the order of opening."""
    responses: list[WaterfallResponse]
    """In the order of the requests."""


@get_in(router, "/pages/{visit}", IN_JSON, name="page_load")
def page_load(request: Request, version: AskedRelease, visit: VisitPath) -> PageAnswer:
    """One page load: its visit, connections and responses,
    with times in µs since its start and first flights.

    First flights are derived as the measure `first_flights` is;
    `first_flight_bytes` of a connection is what packets showed.
    """
    reader = service_of(request).rows
    visits = reader.where(version, "visits", TABLES["visits"].schema().names, id=[visit])
    if not visits:
        raise Problem(
            "no-such-visit", f"release {version.crawl} version {version.version} has no visit {visit}"
        )
    connections = reader.where(version, "connections", CONNECTION, visit_id=[visit])
    responses = reader.where(version, "responses", RESPONSE, visit_id=[visit])
    flights = {connection["id"]: first_flight(connection, responses) for connection in connections}
    return PageAnswer(
        provenance=provenance(request, version),
        visit=visits[0],
        connections=[
            connection | {"first_flight": flight_answer(flights[connection["id"]])}
            for connection in connections
        ],
        responses=[response | {"is_in_first_flight": _is_in(response, flights)} for response in responses],
    )


def first_flight(connection: Row, responses: list[Row]) -> first_flights.FirstFlight | None:
    """A connection's first flight, from its row and all responses of the visit; None over QUIC."""
    if connection["protocol"] == "h3":
        return None
    own = [response for response in responses if response["connection_id"] == connection["id"]]
    return first_flights.first_flight(
        first_flights.FlightConnection(
            **{name: connection[name] for name in first_flights.FlightConnection._fields}
        ),
        [
            first_flights.FlightResponse(
                **{name: response[name] for name in first_flights.FlightResponse._fields}
            )
            for response in own
        ],
    )


def flight_answer(flight: first_flights.FirstFlight | None) -> ConnectionFlightAnswer | None:
    if flight is None:
        return None
    return ConnectionFlightAnswer(**dataclasses.asdict(flight), size_bytes=flight.size_bytes)


def _is_in(response: Row, flights: dict[int, first_flights.FirstFlight | None]) -> bool | None:
    flight = flights.get(response["connection_id"])
    return None if flight is None else response["id"] in flight.response_ids
