"""Generated messages that break the rules: the crawler's sizes are those of what Chromium's page saw.

FIRSTFLIGHT_TEST_MESSAGES=5000 tries as many of each protocol.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.zoo.generated.visiting import COUNT, make_messages
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import Spoken

pytestmark = [pytest.mark.browser]

VISIT = "tests.zoo.generated.visiting:visit_generated"
HTTP1 = "tests.zoo.generated.http1"
HTTP2 = "tests.zoo.generated.http2"
LEAST_TAKEN = 0.4


def rows_of(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Responses that crossed the network, by path, with the connection's bytes that belong to none."""
    connections = {connection["id"]: connection for connection in result["connections"]}
    return {
        response["path"]: response | {"connection": connections[response["connection_id"]]}
        for response in result["responses"]
        if response["wire_bytes"]
    }


def is_refused(saw: dict[str, Any] | None) -> bool:
    return saw is None or saw["body_bytes"] is None


def wrongly_taken(message: object, row: dict[str, Any] | None) -> Iterator[str]:
    if row is not None and row["failure"] is None:
        yield f"{message}: Chromium refused it, which {row} does not say"


def stored(row: dict[str, Any] | None) -> tuple[Any, ...]:
    return () if row is None else (row["status"], row["header_bytes"], row["body_bytes"])


def stored_status(saw: dict[str, Any]) -> int | None:
    return saw["status"] if 100 <= saw["status"] <= 999 else None


@pytest.mark.parametrize("protocol", ["h1", "h1tls"])
def test_header_and_body_of_http1_are_those_that_chromium_saw(protocol: Spoken) -> None:
    result = in_namespace(VISIT, protocol, HTTP1, 6, timeout_s=60 + COUNT)
    messages = make_messages(HTTP1, COUNT)
    taken = [saw for saw in result["saw"] if saw is not None]
    print(f"{protocol}: {len(taken)} of {len(messages)} messages taken, {result['visit']}")
    assert len(result["saw"]) == len(messages)
    wrong = list(wrong_http1(messages, result))
    assert not wrong, "\n".join(wrong)
    assert result["visit"]["outcome"] == "ok"
    assert min(result["visit"]["coverage"], result["visit"]["decrypted_coverage"]) == 1
    assert len(taken) >= LEAST_TAKEN * len(messages)


def wrong_http1(messages: list[Any], result: dict[str, Any]) -> Iterator[str]:
    rows = rows_of(result)
    for number, (message, saw) in enumerate(zip(messages, result["saw"], strict=True)):
        row = rows.get(f"/{number}")
        if is_refused(saw):
            yield from wrongly_taken(message, row)
            continue
        header, body, after = message.sizes(saw)
        wanted, stored_values = (stored_status(saw), header, body), stored(row)
        # The browser need not read anything of what comes after the end, unless it comes with the end.
        least = 0 if message.cuts else after
        if row is None or stored_values != wanted or not least <= row["connection"]["frame_bytes"] <= after:
            yield f"{message}: got {stored_values} of {row}, Chromium saw {saw}, so {wanted} and then {after}"


def test_frames_of_http2_are_those_that_chromium_took() -> None:
    result = in_namespace(VISIT, "h2", HTTP2, 1, timeout_s=60 + COUNT)
    taken = [saw for saw in result["saw"] if saw is not None]
    print(f"h2: {len(taken)} of {COUNT} messages taken, {result['visit']}")
    wrong = list(wrong_http2(result))
    assert not wrong, "\n".join(wrong)
    assert result["visit"]["outcome"] == "ok"
    assert min(result["visit"]["coverage"], result["visit"]["decrypted_coverage"]) == 1
    assert len(taken) >= LEAST_TAKEN * COUNT


def wrong_http2(result: dict[str, Any]) -> Iterator[str]:
    rows = rows_of(result)
    sent = {truth["path"]: truth for truth in result["sent"]}
    for number, (message, saw) in enumerate(zip(make_messages(HTTP2, COUNT), result["saw"], strict=True)):
        row, truth = rows.get(f"/{number}"), sent[f"/{number}"]
        if is_refused(saw):
            yield from wrongly_taken(message, row)
            continue
        wanted, stored_values = (stored_status(saw), truth["header_bytes"], saw["body_bytes"]), stored(row)
        if stored_values != wanted:
            yield f"{message}: got {stored_values}, Chromium saw {saw}, so {wanted}"
