from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from localweb.derive.__main__ import derive

HAR = {
    "log": {
        "creator": {"name": "Firefox", "version": "43.0.4"},
        "entries": [
            {
                "startedDateTime": "2016-01-25T10:00:00.000+01:00",
                "request": {"url": "https://a.example/", "method": "GET", "headers": []},
                "response": {
                    "status": 200,
                    "httpVersion": "HTTP/1.1",
                    "headers": [],
                    "bodySize": 12,
                    "headersSize": 99,
                    "content": {"mimeType": "text/html"},
                },
            }
        ],
    }
}

CDP = [
    {
        "method": "Network.requestWillBeSent",
        "params": {
            "requestId": "1",
            "type": "Document",
            "wallTime": 1_500_000_000.0,
            "request": {"url": "https://b.example/", "method": "GET", "headers": {}},
        },
    },
    {
        "method": "Network.responseReceived",
        "params": {"requestId": "1", "type": "Document", "response": {"status": 200, "headers": {}}},
    },
]


@pytest.mark.parametrize(
    ("name", "recording", "site", "tool", "date", "repository", "file"),
    [
        (
            "har/pagexray/test__files__a.har.gz",
            HAR,
            "a.example",
            "Firefox 43.0.4",
            "2016-01-25",
            "sitespeedio/pagexray",
            "test/files/a.har",
        ),
        (
            "cdp/chrome-har-perflogs/test__b.json.gz",
            CDP,
            "b.example",
            "Chrome DevTools Protocol",
            "2017-07-14",
            "sitespeedio/chrome-har",
            "test/b.json",
        ),
    ],
)
def test_a_page_says_which_recording_it_came_from(
    name: str, recording: Any, site: str, tool: str, date: str, repository: str, file: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(json.dumps(recording).encode()))
    page = derive(path, number=7)

    assert (page.number, page.site) == (7, site)
    source = page.source
    assert (source.tool, source.date, source.repository, source.file) == (tool, date, repository, file)
    assert len(source.commit) == 40
    assert source.licence == "MIT"
