"""Populations made of a month of M-Lab's: the world, its twenty slowest countries, and single countries."""

import csv
import dataclasses
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np

from replay.networks.mlab.files import PERCENTS, Country
from replay.networks.mlab.joint import RHO, Cloud, Floats, world
from replay.networks.mlab.sample import (
    PAGE_BYTES,
    ROUND_TRIPS,
    NetworkSample,
    draw_sample,
    slowness,
    weighted_quantiles,
)
from replay.networks.population_csv import PopulationError
from replay.networks.queues import QUEUES
from replay.networks.stored_populations import NewPopulation, new_population

FEWEST_TESTS = 1_000
"""Tests of a month below which a country's percentiles are not used alone. Ours."""

SLOWEST = 20

USERS = Path(__file__).with_name("internet_users_2019.csv")
"""Countries' shares of the world's Internet users: the newest whole table at hand.

Taiwan, Zimbabwe and Kosovo are not in it.
"""

USERS_SOURCE = (
    "World Bank, individuals using the Internet (IT.NET.USER.ZS, by the ITU) times population (SP.POP.TOTL), "
    "shares of 2019 as in InternetSociety/taaraxtak"
)

VISITORS_MEASURED = "2024-12"
VISITOR_PERCENTS = (10, 25, 50, 75, 90)
VISITOR_RTT_MS = (84.0, 102.0, 139.0, 196.0, 265.0)
"""HTTP round trips of visitors, from request to header with the server's time in it, all devices.

Chrome's report (CrUX) of December 2024, as printed at treo.sh/rtt: of each of some 49,500 domains the 75th
percentile of its users' round trips, and of these the percentiles over the domains. Less the 75th percentile
of M-Lab's world, each is a distance that is added to a network's round trip. The distance is drawn
independently of the network.

It is another quantity than the distance of a server (`replay.networks.distances`): Chrome's estimate contains
queues and the time of servers, and is of a visitor's recent browsing, to whatever server. Domains count
alike, whatever their visits.
"""

MEDIAN = PERCENTS.index(50)
SHARES = [percent / 100 for percent in PERCENTS]

COLUMNS = ("bandwidth_kbps", "rtt_ms", "loss", "weight", "queue_bytes", "slow_weight")


def populations_of(
    countries: Sequence[Country],
    month: str,
    *,
    rho: float = RHO,
    codes: Sequence[str] = (),
    users: Mapping[str, float] | None = None,
    users_source: str = "",
    left_out: Sequence[str] = (),
) -> Iterator[NewPopulation]:
    """Yield the populations of countries by `codes`, or else of the world and of the slowest countries.

    PopulationError. Each but the slowest countries' comes twice: as measured, and with the HTTP round trips
    of visitors. The world also comes weighted by Internet users: `users` by country code, or else USERS.
    `left_out` are countries of the month that are not among them.
    """
    by_tests, name = world(countries, rho=rho), f"mlab-{month}"
    by_code = {country.code: country for country in countries}
    if codes:
        for code in codes:
            chosen = country(by_code, code)
            yield from make_both(
                f"{name}-{code.lower()}", chosen.code, world([chosen], rho=rho), by_tests, month, rho
            )
        return
    lacking = f" without {', '.join(left_out)}" if left_out else ""
    title = f"{len(countries)} countries by tests{lacking}"
    yield from make_both(name, title, by_tests, by_tests, month, rho)
    slow = select_slowest(countries)
    title = (
        f"the {len(slow)} slowest countries by tests ({', '.join(sorted(country.code for country in slow))})"
    )
    yield make_population(f"{name}-slow{len(slow)}", title, world(slow, rho=rho), month, rho)
    weights, source = (read_users(USERS), USERS_SOURCE) if users is None else (users, users_source)
    title = f"countries by Internet users ({source})"
    yield make_population(f"{name}-users", title, world(countries, rho=rho, weights=weights), month, rho)


def country(by_code: Mapping[str, Country], code: str) -> Country:
    """Return a country; PopulationError if it is missing or has too few tests."""
    if (country := by_code.get(code.upper())) is None:
        raise PopulationError(f"no country {code!r}; there are {', '.join(sorted(by_code))}")
    if country.tests < FEWEST_TESTS:
        raise PopulationError(
            f"{country.code} has {country.tests:,} tests, of {FEWEST_TESTS:,} that are needed"
        )
    return country


def select_usable(countries: Sequence[Country]) -> list[Country]:
    return [country for country in countries if country.tests >= FEWEST_TESTS]


def select_slowest(countries: Sequence[Country]) -> list[Country]:
    candidates = select_usable(countries)
    medians = np.array([(country.bandwidth_mbps[MEDIAN], country.rtt_ms[MEDIAN]) for country in candidates])
    order = np.argsort(-slowness(medians[:, 0], medians[:, 1]), kind="stable")
    return [candidates[at] for at in order[:SLOWEST]]


def make_both(
    name: str, title: str, cloud: Cloud, by_tests: Cloud, month: str, rho: float
) -> Iterator[NewPopulation]:
    yield make_population(name, title, cloud, month, rho)
    further = f"{title}, plus HTTP round trips of visitors by CrUX of {VISITORS_MEASURED}"
    measured = min(month, VISITORS_MEASURED)
    distant = add_visitor_distances(cloud, by_tests)
    yield make_population(name, further, distant, month, rho, measured=measured, suffix="-crux")


def visitor_distances_ms(world: Cloud) -> Floats:
    distances: Floats = np.array(VISITOR_RTT_MS) - np.quantile(world.rtt_ms, 0.75)
    return distances


def add_visitor_distances(cloud: Cloud, world: Cloud) -> Cloud:
    """Return the networks with HTTP round trips of visitors; the first and last distance hold beyond their
    percentiles.
    """
    normal = NormalDist()
    scores = [normal.inv_cdf(percent / 100) for percent in VISITOR_PERCENTS]
    log_distances = np.interp(
        [normal.inv_cdf(share) for share in cloud.place], scores, np.log(visitor_distances_ms(world))
    )
    return dataclasses.replace(cloud, rtt_ms=cloud.rtt_ms + np.exp(log_distances))


def make_population(
    name: str,
    title: str,
    cloud: Cloud,
    month: str,
    rho: float,
    *,
    measured: str | None = None,
    suffix: str = "",
) -> NewPopulation:
    """Return the population of a cloud.

    Its id names a rho that is not the default: -r60 is -0.6, -rp05 is 0.05.
    """
    if not -1 < rho < 1:
        raise PopulationError(f"rho must be a correlation such as -0.3, not {rho}")
    if not math.isclose(rho, round(rho, 2)):
        raise PopulationError(
            f"rho {rho} has more than two decimals, which the population's id has no room for"
        )
    if rho != RHO:
        suffix += f"-r{'p' if rho > 0 else ''}{round(100 * abs(rho)):02}"
    rows = list(rows_of(draw_sample(cloud)))
    file = io.StringIO()
    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return new_population(
        file.getvalue(),
        id=name + suffix,
        measured=measured or month,
        source=f"M-Lab NDT downloads of {month} (IQB, CC0): {title}; within a country a Gaussian copula with "
        f"rho {rho:g}; loss: lower quartile; queues: FCC, July 2023; uplink ours; "
        f"slow part: the slowest tenth by {ROUND_TRIPS} round trips and {PAGE_BYTES / 1e6:g} MB (ours)",
        parameters={"month": month, "rho": rho},
        percentiles=percentiles_of(cloud, rows),
    )


def rows_of(sample: NetworkSample) -> Iterator[dict[str, float | str]]:
    """Yield the networks, within the bounds of a population's file."""
    for at, share in enumerate(sample.queue_shares):
        mbps, rtt_ms = (
            float(sample.bandwidth_mbps[at].clip(0.016, 1000)),
            float(sample.rtt_ms[at].clip(0.1, 5000)),
        )
        yield {
            "bandwidth_kbps": round(1000 * mbps),
            "rtt_ms": round(rtt_ms, 2),
            "loss": f"{min(sample.loss[at], 0.5):.6f}",
            "weight": f"{sample.weights[at]:.8g}",
            "queue_bytes": QUEUES["default"].bytes(round(1e6 * mbps), float(share)),
            "slow_weight": f"{sample.slow_weights[at]:.8g}",
        }


def percentiles_of(cloud: Cloud, rows: Sequence[Mapping[str, float | str]]) -> dict[str, object]:
    weights: Floats = np.array([float(row["weight"]) for row in rows])
    percentiles: dict[str, object] = {"percents": list(PERCENTS)}
    for name, source, column, factor in (
        ("bandwidth_mbps", cloud.bandwidth_mbps, "bandwidth_kbps", 1000),
        ("rtt_ms", cloud.rtt_ms, "rtt_ms", 1),
    ):
        values: Floats = np.array([row[column] for row in rows]) / factor
        percentiles[name] = {
            "source": round_values(np.quantile(source, SHARES)),
            "sample": round_values(weighted_quantiles(values, weights, SHARES)),
        }
    return percentiles


def round_values(values: Floats) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def read_users(path: Path) -> dict[str, float]:
    """Read Internet users by country code, from a CSV with country_code and users; PopulationError."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines()))
        users = {row["country_code"].upper(): float(row["users"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as exc:
        raise PopulationError(f"{path} is no CSV with the columns country_code and users") from exc
    if not users or not all(0 <= count < float("inf") for count in users.values()) or not any(users.values()):
        raise PopulationError(f"{path}: users must be numbers from 0, and not all 0")
    return users
