"""Why a size is not known: stable names, written into every release, so a rename breaks past data."""

from __future__ import annotations

WIRE_BYTES_UNKNOWN: dict[str, str] = {
    "no_response": "not one byte of a response arrived: the request failed, was never sent, or time ran out",
    "from_cache": "the browser's own cache answered: nothing crossed the network",
    "unseen": "a response arrived, but the browser's log does not say on which connection",
}
"""Values of response.wire_bytes_unknown."""
