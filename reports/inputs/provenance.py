"""What a report's JSON says of a replay's provenance: all that its loads depend on, each thing once."""

from collections.abc import Mapping
from typing import Any


def condensed(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance with the number of calibration checks and those that did not pass, and of later conditions what differs from the first.

    >>> condensed({"gates": [{"passed": True}, {"passed": False}]})
    {'gates': {'checked': 2, 'not_passed': [{'passed': False}]}}
    >>> condensed({"parameters": {"conditions": [{"a": 1, "b": 1}, {"a": 1, "b": 2}]}})["parameters"]
    {'conditions': [{'a': 1, 'b': 1}, {'b': 2}]}
    """
    gates, parameters = provenance.get("gates", []), provenance.get("parameters", {})
    not_passed = [one for one in gates if not one["passed"]]
    found = {**provenance, "gates": {"checked": len(gates), "not_passed": not_passed}}
    if conditions := parameters.get("conditions"):
        first, *others = conditions
        found["parameters"] = {
            **parameters,
            "conditions": [first, *(_differing(one, first) for one in others)],
        }
    return found


def _differing(conditions: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if name not in first or value != first[name]}
