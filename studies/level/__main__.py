"""Replay single responses over slow lines under each reading of the published queues, and write level.csv."""

from pathlib import Path

from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from replay.networks.mlab.draws import draw_networks
from replay.networks.queues import QUEUES
from replay.runs.level import (
    PUBLISHED_MBPS,
    PUBLISHED_PACKETS_PERCENT,
    PUBLISHED_RESPONSES_PERCENT,
    level_cells,
    level_of,
)
from replay.runs.run import replay
from studies.csv_table import write_table

DRAWS, SEEDS, SEED = 12, 4, 1
READINGS = ("default", "low", "high", "at-least-2", "at-least-50")
HEAD = ("queues", "networks", "loads", "mean_mbps", "packets_percent", "error", "responses_percent", "error")


def main() -> None:
    """Replay every reading over the same lines."""
    lab = find_lab(from_environment().cache_dir)
    rows: list[tuple[object, ...]] = [
        (
            "published, May 2011",
            "",
            "",
            PUBLISHED_MBPS,
            PUBLISHED_PACKETS_PERCENT,
            "",
            PUBLISHED_RESPONSES_PERCENT,
            "",
        )
    ]
    for name in READINGS:
        networks = draw_networks(range(DRAWS), seed=SEED, queues=QUEUES[name])
        level = level_of(replay(lab, level_cells(networks, seeds=SEEDS), guests=2).rows, networks)
        rows.append(
            (
                name,
                level.networks,
                level.loads,
                *(
                    f"{value:.2f}"
                    for value in (
                        level.mean_mbps,
                        level.packets_percent,
                        level.packets_error,
                        level.responses_percent,
                        level.responses_error,
                    )
                ),
            )
        )
        print(rows[-1])
    write_table(Path(__file__).with_name("level.csv"), HEAD, rows)


if __name__ == "__main__":
    main()
