"""What would decide an open question, in words: loads, hours of two cores, pages, and what it costs."""

from collections.abc import Mapping
from typing import Any

from releases.formatting import grouped, quantity


def deciding_sentence(deciding: Mapping[str, Any]) -> str:
    """What is open and what settles it; `deciding` is that of report.json's answer.

    The command that does it follows.
    """
    told = [f"What would decide it: open is the {deciding['what']}."]
    if deciding["loads"] is not None:
        hours = quantity(deciding["core_hours"] / 2, "hours")
        told.append(
            f"If all stays as measured, about {grouped(deciding['loads'])} more loads settle it. They cost "
            f"{hours} of two cores and nothing else: no traffic leaves the machine."
        )
    if deciding["pages"] is not None:
        told.append(
            f"About {grouped(deciding['pages'])} pages are needed in all: "
            "more loads of the same pages do not help."
        )
    if deciding["loads"] is None and deciding["pages"] is None:
        told.append("How many loads it takes cannot be said yet; the command prints a plan with their cost.")
    return " ".join(told)
