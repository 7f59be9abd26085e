"""The replay's speed: ten made-up pages like the web's over the 1-2 Mbps profile, on one core, boot included."""

from __future__ import annotations

import random
import sys

from firstflight.settings import from_environment
from reports.populations import profile
from reports.replay.cells import plan
from reports.replay.errors import ReplayError
from reports.replay.lab import kernel, player
from reports.replay.lab.machine import Lab
from reports.replay.recipes import Object, Origin, Recipe
from reports.replay.run import Result, replay
from scripts.benchmarks import results

PROFILE = "avgdc-2010-mid"
WINDOWS = (3, 10, 16, 30)
PAGES, OBJECTS, ORIGINS = 10, 70, 8
REAL_TIME_BOUND = 30.0


def made_up_page(number: int, generator: random.Random) -> Recipe:
    """70 objects and about 1.6 MB from 8 hosts: half the pages over H1, half over H2 with TLS."""
    h2 = number % 2 == 1
    origin = Origin(host="a.test", port=80, h2=h2, tls_flight_bytes=3000 if h2 else 0, tls_after_bytes=0)
    objects = tuple(
        Object(
            response_id=index + 1,
            origin=generator.randrange(ORIGINS) if index else 0,
            parent=0 if index else -1,
            response_bytes=max(200, int(generator.lognormvariate(9.0, 1.5))),
            is_document=index == 0,
        )
        for index in range(OBJECTS)
    )
    return Recipe(
        page=f"page-{number}.test", visit_id=number, origins=(origin,) * ORIGINS, objects=objects, left_out=0
    )


def measure() -> Result:
    """One guest on one core, from its start to its end."""
    cache = from_environment().cache_dir
    generator = random.Random(6928)  # noqa: S311  # the same pages every time, and no secret
    pages = [made_up_page(number, generator) for number in range(1, PAGES + 1)]
    cells = plan(pages, [profile(PROFILE)], windows=WINDOWS, seeds=1, congestion_control="cubic")
    return replay(Lab(kernel=kernel.locate(cache), player=player.locate(cache)), cells, guests=1)


def figures(result: Result) -> dict[str, float]:
    """What is compared over time."""
    (guest,) = result.guests
    done = [row for row in result.rows if row["state"] == "done"]
    return {
        "loads": len(done),
        "loads_refused_or_failed": len(result.rows) - len(done),
        "virtual_s": round(result.virtual_s, 3),
        "wall_s": round(guest.wall_s, 3),
        "boot_s": round(guest.boot_s, 3),
        "times_real_time": round(result.virtual_s / guest.wall_s, 1),
        "page_load_wall_ms": round(1e3 * (guest.wall_s - guest.boot_s) / max(len(done), 1), 1),
        "payload_mb": round(sum(row["payload_bytes"] for row in done) / 1e6, 3),
    }


def main() -> int:
    """Measure, write, print; 1 if the bound is missed or a load is."""
    before = results.provenance()
    try:
        result = measure()
    except ReplayError as exc:
        print(exc, file=sys.stderr)
        return 1
    found = figures(result)
    path = results.write("replay", before | {"profile": PROFILE, "figures": found, "samples": result.rows})
    for name, value in found.items():
        print(f"{name:<26}{value:>12}")
    print(path)
    missed = found["times_real_time"] < REAL_TIME_BOUND or found["loads_refused_or_failed"]
    if missed:
        print(f"missed: at least {REAL_TIME_BOUND:.0f} times real time, and every load done", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
