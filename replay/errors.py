"""
Errors of a replay:

* ReplayError
  + LabMissing       the lab is not set up: the player is not built, or packages are missing
    - KernelError    the guest's kernel is not built
  + BuildFailed      the kernel or the player did not compile
  + GuestFailed      a guest died, hung or exceeded its virtual time; the exception holds its log
  + RecipeError      no page of the release can be replayed

The cells of a failed guest state the failure; the run goes on.
"""


class ReplayError(Exception):
    """Base class of the errors that stop a replay."""


class LabMissing(ReplayError):
    """The lab is not set up on this machine."""


class KernelError(LabMissing):
    """The guest's kernel is not built, or its source package is missing."""


class BuildFailed(ReplayError):
    """The kernel or the player did not compile."""


class GuestFailed(ReplayError):
    """A guest ended before its work did."""

    def __init__(self, why: str, log: str) -> None:
        super().__init__(why)
        self.log = log


class RecipeError(ReplayError):
    """A page cannot be replayed."""
