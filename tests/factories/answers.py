"""Made-up answers: each headline, with the longest warning and the limits of the
bundled recorded pages before it."""

import dataclasses
import functools
import json
from typing import Any

from recordings.pages.recording import read_recording
from reports.answer.headline import answer
from reports.answer.shape import Findings, KeyNumber
from reports.backcast.stored import Standing
from reports.document.illustrative import limits_sentence
from tests.factories.findings import findings

VALID = Standing(is_valid=True, sentence="Validated.", content={})
INVALID = Standing(
    is_valid=False,
    sentence="not valid",
    content={"admission": {"is_admitted": False}, "figures": [{"decides": True, "is_met": False}]},
)

HEADLINES: dict[str, tuple[Findings, Standing]] = {
    "IW 16 is recommended": (findings(iw=16), VALID),
    "IW 10 stays": (findings(), VALID),
    "Undecided": (findings(is_decided=False), VALID),
    "Not allowed to say": (findings(), INVALID),
}
"""Findings and instrument by the headline that they give."""


@functools.cache
def bundled_limits() -> str:
    """The limits of the recorded pages that come with the code, which are read once."""
    source = read_recording().source
    inferred = {"connections": {"share": 0.8156}}
    told = {"pages": 591, "source": source.source, "recorded": source.recorded, "inferred": inferred}
    return limits_sentence(told, vantage=source.vantage)


def made_up_answer(headline: str) -> dict[str, Any]:
    """The answer of report.json with this headline, of recorded pages."""
    found, instrument = HEADLINES[headline]
    fits = KeyNumber(id="fits", label="of responses fit into IW 10", unit="%", value=62.1)
    made = answer(
        found,
        instrument=instrument,
        illustrative_because=(),
        limits=bundled_limits(),
        fits=fits,
        replay_command="firstflight replay run --until decided",
    )
    as_json: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(made)))
    return as_json
