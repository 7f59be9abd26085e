"""The lab's self-test: networks are calibrated, and no page is loaded."""

from collections.abc import Sequence

from releases.slow_start import WINDOWS
from replay.lab.guest_process import Lab
from replay.networks.populations import PROFILES
from replay.networks.profiles import Profile
from replay.runs.calibration import CalibrationCheck, calibration_checks
from replay.runs.guests import Guest, make_jobs

ORIGINS = 4


def selftest(lab: Lab, profiles: Sequence[Profile] = PROFILES) -> dict[str, list[CalibrationCheck]]:
    """Return the calibration checks of each profile, by its id; raises GuestFailed."""
    guest = Guest(
        jobs=make_jobs({profile: [] for profile in profiles}, WINDOWS, ORIGINS),
        recipes=[],
        origins=ORIGINS,
    )
    guest.run(lab)
    if guest.failure:
        raise guest.failure
    return {
        job.profile.id: calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)
        for job in guest.jobs
    }
