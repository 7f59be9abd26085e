"""What stage.json and part.json say of loads, as types."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, Required

from typing_extensions import TypedDict


class LoadedRelease(TypedDict):
    """The release whose pages were loaded."""

    crawl: str
    """Whole name of its crawl."""
    version: int
    checksum: str


class KernelFacts(TypedDict, total=False):
    """The kernel of the replay's guests."""

    package: str
    version: str
    recipe: str
    """SHA-256 of all that decides its build."""
    patches: list[str]


class CheckFacts(TypedDict, total=False):
    """A calibration check of an emulated network."""

    guest: int
    profile: str
    name: Required[str]
    passed: Required[bool]
    measured: float | None
    expected: float | None
    tolerance: float | None


class FailureFacts(TypedDict):
    """A guest that ended before its loads did."""

    reason: str
    log: str


class GuestFacts(TypedDict, total=False):
    """The guests of a part or a stage. A report that carries the loads leaves out their number."""

    gates: list[CheckFacts]
    failures: list[FailureFacts]
    guests: int
    programs: list[dict[str, str]]
    """SHA-256 of the kernel's image and of the player, of each pair that ran."""
    core_s: float
    """Seconds of a core that the loads of a decision's stage took."""


class PopulationFacts(TypedDict):
    """A population of networks, by the fields of replay.networks.profiles.Population."""

    id: str
    version: int
    weights: dict[str, float]
    slow: bool
    measured: str
    source: str
    checksum: str | None
    is_stored: bool


class PlannedStage(TypedDict):
    """A stage of a decision, by the fields of verdict.sampling.StagePlan; policies as text."""

    networks: dict[str, int]
    pages: int
    windows: list[str]
    again: float
    everyone: list[str]
    everyone_share: NotRequired[float]
    """1 if left out."""


class LoadsPlan(TypedDict, total=False):
    """Everything that loads depend on: parts and stages of another plan are not used.

    A replay of every page over every network states its parameters, a decision its stage.
    """

    format_version: int
    rule_version: int
    commit: str
    release: LoadedRelease
    recorded_pages: Mapping[str, object]
    recordings: Sequence[Mapping[str, object]]
    pages_there: int
    """Pages of the source, of which some may not be loaded."""
    kernel: KernelFacts
    player: str
    programs: dict[str, str]
    asked: Mapping[str, object]
    """What the replay's file had in place of the defaults."""
    confirms: LoadedRelease
    """Release whose answer the loads are to confirm."""
    sites: dict[str, int]
    """Number of each page's site, by visit."""
    stage: PlannedStage
    arm: str
    parameters: Mapping[str, object]
    profiles: Sequence[Mapping[str, object]]
    populations: list[PopulationFacts]
    recipes: Mapping[str, object]
    recipes_warm: Mapping[str, object]
    cells_planned: str
    """SHA-256 of the ids of all cells."""
    responses: bool


class StageFacts(GuestFacts):
    """The content of stage.json or part.json."""

    plan: LoadsPlan
