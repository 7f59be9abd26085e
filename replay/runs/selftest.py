"""The lab's gates by themselves: every profile calibrated, no page loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from releases.slow_start import WINDOWS
from replay.lab.guest_process import SILENCE_S
from replay.networks.populations import PROFILES
from replay.runs.calibration import calibration_checks
from replay.runs.run import Guest, NetworkJob, calibration, work_through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.lab.guest_process import Lab
    from replay.networks.profiles import Profile
    from replay.runs.calibration import CalibrationCheck

CONGESTION_CONTROL = "cubic"
"""Linux's default, and so what most servers run."""

ORIGINS = 4


def selftest(
    lab: Lab,
    *,
    profiles: Sequence[Profile] = PROFILES,
    windows: Sequence[int] = WINDOWS,
    shaper: str = "tbf",
    cpu: int | None = None,
) -> dict[str, list[CalibrationCheck]]:
    """The gates of each profile, by its id; raises GuestFailed."""
    guest = calibrate(lab, profiles=profiles, windows=windows, shaper=shaper, cpu=cpu)
    return {
        job.profile.id: calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)
        for job in guest.jobs
    }


def calibrate(
    lab: Lab,
    *,
    profiles: Sequence[Profile],
    windows: Sequence[int],
    shaper: str = "tbf",
    cpu: int | None = None,
) -> Guest:
    """A guest that has done nothing but its calibration flights."""
    jobs = [
        NetworkJob(profile=profile, flights=calibration(windows, ORIGINS, first=not number), cells=[])
        for number, profile in enumerate(profiles)
    ]
    guest = Guest(jobs=jobs, recipes=[], origins=ORIGINS)
    work_through(lab, guest, cpu, progress=None, shaper=shaper, silence_s=SILENCE_S)
    if guest.failure:
        raise guest.failure
    return guest
