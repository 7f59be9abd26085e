"""Jobs of a guest over one network, as its driver takes them."""

from collections.abc import Sequence

from replay.networks.profiles import Profile
from replay.networks.queues import CODEL_INTERVAL_US, CODEL_TARGET_US, codel_target_us
from replay.runs.buffers import UNLIMITED_RECEIVER, receiver_commands

FIRST_ORIGIN = 2
"""Host 0 is the client, host 1 serves the background."""


def network_job(
    profile: Profile,
    *,
    shaper: str,
    congestion_control: str,
    flights: Sequence[str] = (),
    loads: Sequence[str] = (),
) -> dict[str, object]:
    """Return the network, its calibration flights, without loss and with tail drop, and the loads."""
    target_us = codel_target_us(profile.down_bps)
    interval_us = CODEL_INTERVAL_US + target_us - CODEL_TARGET_US
    return {
        "profile": {
            "id": profile.id,
            "shaper": shaper,
            "down_bps": profile.down_bps,
            "up_bps": profile.up_bps,
            "queue_bytes": profile.queue_bytes,
        },
        "network": [
            f"discipline {profile.discipline} {target_us} {interval_us}",
            f"delay {profile.rtt_us / 2:.1f} {profile.loss:.9f} {profile.loss_burst:.3f}",
            f"control {congestion_control}",
            *receiver_commands(UNLIMITED_RECEIVER),
        ],
        "flights": list(flights),
        "loads": list(loads),
    }
