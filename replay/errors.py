"""
What can go wrong with a replay:

* ReplayError
  + LabMissing       the lab is not set up: the player is not built, packages are missing
    - KernelError    the guest's kernel is not built
  + BuildFailed      the kernel or the player did not compile
  + GuestFailed      a guest died, hung or ran away; its log is on the exception
  + RecipeError      no page of the release can be replayed

A failed guest costs its cells, which say so; it never costs the run.
"""

from __future__ import annotations


class ReplayError(Exception):
    """Anything that stops a replay."""


class LabMissing(ReplayError):
    """The lab is not set up on this machine."""


class KernelError(LabMissing):
    """The guest's kernel is not built, or its source package is missing."""


class BuildFailed(ReplayError):
    """The kernel or the player did not compile."""


class GuestFailed(ReplayError):
    """A guest ended before its work did."""

    def __init__(self, why: str, log: str) -> None:
        """`log` is the end of what the guest's console said."""
        super().__init__(why)
        self.log = log


class RecipeError(ReplayError):
    """A release holds nothing to replay."""
