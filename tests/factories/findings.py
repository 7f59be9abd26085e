"""Made-up findings: candidates with a gain and one bound on harm."""

from collections.abc import Mapping

from releases.interval import Interval
from reports.answer.shape import Deciding, Findings, Mark, VerdictCell, VerdictRow

DECIDING = Deciding(
    what="gain of IW 16 over IW 10",
    loads=1_000,
    core_hours=0.5,
    pages=None,
    command="firstflight replay run --until decided",
)


def cell(window: int, estimate: float, mark: Mark) -> VerdictCell:
    """A cell whose interval reaches half a unit to each side."""
    value = Interval(estimate, estimate - 0.5, estimate + 0.5)
    return VerdictCell(window=window, mark=mark, value=value, printed=value)


def findings(
    *,
    iw: int | None = None,
    is_decided: bool = True,
    is_sound: bool = True,
    gains: Mapping[int, tuple[float, Mark]] | None = None,
    harms: Mapping[int, tuple[float, Mark]] | None = None,
) -> Findings:
    """Findings of IW 16 and 30 against 10; by default both save time, and IW 30 sends too much again."""
    saved = gains or {16: (4.0, "holds"), 30: (5.0, "holds")}
    again = harms or {16: (0.1, "holds"), 30: (2.0, "fails")}
    common = {"against": 10, "is_level": False, "is_required": True, "source": "made up"}
    return Findings(
        incumbent=10,
        windows=tuple(saved),
        iw=iw,
        is_decided=is_decided,
        is_sound=is_sound,
        reasons=("made up",),
        rows=(
            VerdictRow(
                id="gain",
                title="page time saved",
                kind="gain",
                unit="%",
                limit=1.0,
                cells=tuple(cell(window, *told) for window, told in saved.items()),
                **common,  # type: ignore[arg-type]
            ),
            VerdictRow(
                id="again",
                title="bytes sent again",
                kind="harm",
                unit="pp",
                limit=0.5,
                cells=tuple(cell(window, *told) for window, told in again.items()),
                **common,  # type: ignore[arg-type]
            ),
        ),
        deciding=None if is_decided else DECIDING,
        loads=100,
        pages=20,
        networks=3,
    )
