"""The paper's services as pages: sizes of its Figure 1, requested over one connection or several."""

from dataclasses import dataclass

from replay.backcast.published import Service
from replay.networks.copula import interpolate
from replay.networks.mlab.joint import low_discrepancy
from replay.published.dukkipati_clients import SEARCH, size_curve
from replay.recipes.page_recipe import Object, Origin, Recipe

CURVES: dict[Service, tuple[str, str]] = {
    "search": SEARCH,
    "maps": ("dukkipati_2010_service_sizes.csv", "google_maps"),
    "photos": ("dukkipati_2010_service_sizes.csv", "photos_blogger"),
}

MOST_ON_A_HOST = 6


@dataclass(frozen=True, slots=True)
class Shape:
    """The way in which a service's page asks for its responses."""

    flows: int
    """Responses under way at once, each on a connection of its own."""
    each: int
    """Responses that follow one another on a connection."""

    def __str__(self) -> str:
        return f"{self.flows} x {self.each}"


def sizes(service: Service) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return size_curve(*CURVES[service])


def pages(service: Service, shape: Shape, count: int, *, first_id: int = 1) -> list[Recipe]:
    """Return `count` pages without TLS, whose sizes spread evenly over the service's curve."""
    responses = shape.flows * shape.each
    shares = low_discrepancy(count * responses, 1)[:, 0] if responses > 1 else None
    return [
        _page(
            f"{service}-{number}",
            first_id + number,
            [
                (number + 0.5) / count if shares is None else float(shares[number + count * at])
                for at in range(responses)
            ],
            service,
            shape,
        )
        for number in range(count)
    ]


def _page(name: str, number: int, shares: list[float], service: Service, shape: Shape) -> Recipe:
    hosts = -(-shape.flows // MOST_ON_A_HOST)
    curve = sizes(service)
    return Recipe(
        page=name,
        visit_id=number,
        origins=(Origin(host="a.test", port=80, h2=False, tls_flight_bytes=0, tls_after_bytes=0),) * hosts,
        objects=tuple(
            Object(
                response_id=at + 1,
                origin=at % shape.flows % hosts,
                parent=at - shape.flows if at >= shape.flows else -1,
                response_bytes=max(1, round(interpolate(*curve, share))),
                is_document=not at,
            )
            for at, share in enumerate(shares)
        ),
        left_out=0,
    )
