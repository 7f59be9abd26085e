"""The commands of the guide can be pasted: each is answered by a service, whatever releases it has."""

import re
from pathlib import Path

from fastapi.testclient import TestClient

GUIDE = (Path(__file__).parents[3] / "docs" / "guide.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"curl -s 'https://sizes\.example(/[^']+)'", GUIDE)


def test_every_command_of_the_guide_is_answered(service: TestClient) -> None:
    assert len(COMMANDS) == 5
    for address in COMMANDS:
        answer = service.get(address)
        assert answer.status_code == 200, f"{address}: {answer.text}"
        media_type = "text/csv" if ".csv?" in address else "application/json"
        assert answer.headers["content-type"].startswith(media_type)


def test_the_commands_of_the_three_questions_have_a_row_for_each_window_and_month(
    service: TestClient,
) -> None:
    shares, months, sites = (service.get(address).text.splitlines() for address in COMMANDS[:3])
    assert len(shares) == 1 + 3
    assert len(months) == 1 + 3 * 2
    assert sites[0].startswith("rank,host,")
