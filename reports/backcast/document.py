"""A back-cast as a section of Markdown: every published figure with its half, ours,
the factor and the verdict."""

from collections.abc import Iterator, Mapping
from typing import Any

from reports.backcast.stored import sentence


def document(content: Mapping[str, Any]) -> str:
    """The section."""
    return "\n".join(lines(content)) + "\n"


def lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section's lines."""
    inputs = content["inputs"]
    yield "# The back-cast"
    yield ""
    yield (
        f"Made by `firstflight replay backcast`, commit {content['commit']}, rule {content['rule_version']}, "
        f"{content['seeds']} seeds."
    )
    yield ""
    yield f"**{sentence(content)}**"
    yield ""
    losses = ", ".join(f"{100 * share:.2f} % at {center}" for center, share in inputs["loss"].items())
    shapes = ", ".join(f"{service} {shape}" for service, shape in inputs["shapes"].items())
    backend = ", ".join(f"{ms:.0f} ms at {center}" for center, ms in inputs["backend_ms"].items())
    rates = ", ".join(f"{factor:g} at {center}" for center, factor in inputs["rate_factor"].items())
    yield (
        f"Calibrated at IW 3: rates times {rates}; random loss of {losses}, {inputs['burst']:g} packets at a "
        "time; a shallow queue on "
    )
    yield (
        f"{inputs['shallow_share']:.0%} of the networks and one of {inputs['queue_bytes']:,} B on the "
        "others; connections at once x responses on "
    )
    yield f"each: {shapes}; back-end time of search {backend}."
    yield ""
    yield "| published figure | half | published | ours | factor | |"
    yield "|---|---|---|---|---|---|"
    yield from map(row, content["figures"])
    yield ""
    yield content["admission"]["sentence"]
    yield ""
    yield "| bound of the rule, IW 10 against 3 | worse by | limit | |"
    yield "|---|---|---|---|"
    for bound in content["admission"]["bounds"]:
        found = bound["worsening"]
        told = (
            "-" if found is None else f"{found['estimate']:.2f} [{found['lower']:.2f}, {found['upper']:.2f}]"
        )
        yield (
            f"| {bound['title']} | {told} {bound['unit']} | {bound['limit']:g} "
            f"{bound['unit']} | {bound['verdict']} |"
        )


def row(one: Mapping[str, Any]) -> str:
    """A figure as a row of the table."""
    factor = "-" if one["factor"] is None else f"{one['factor']:.2f}"
    if one["half"] == "calibration":
        verdict = ""
    else:
        verdict = ("met" if one["is_met"] else "missed") + (", decides" if one["decides"] else "")
    return (
        f"| {one['what']} | {one['half']} | {one['published']:.3g} {one['unit']} | {one['ours']:.3g} "
        f"{one['unit']} | {factor} | {verdict} |"
    )
