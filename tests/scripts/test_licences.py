import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from replay.lab import kernel

pytestmark = pytest.mark.process


ROOT = Path(__file__).parents[2]
GPL = "GPL-2.0-only"

CHANGES_TO_LINUX = [*kernel.patches(), *kernel.ADDED.values()]

NOTICES = {
    "chrome-har": "2017 Tobias Lidskog, Peter Hedenskog & Jonathan Lee",
    "coach-core": "2023 Peter Hedenskog",
    "compare": "2017 Peter Hedenskog, Tobias Lidskog and Jonathan Lee",
    "pagexray": "2016 Peter Hedenskog & Tobias Lidskog",
}
"""From the LICENSE of each MIT repository whose recordings became page recipes."""


@pytest.mark.parametrize("path", CHANGES_TO_LINUX, ids=lambda path: path.name)
def test_a_change_to_linux_carries_its_licence_in_its_first_line(path: Path) -> None:
    first, *_ = path.read_text(encoding="utf-8").splitlines()
    assert first.removeprefix("// ") == kernel.LICENCE.strip()
    assert first.endswith(f": {GPL}")


def test_every_file_has_a_licence_and_the_gpl_is_that_of_changes_to_linux_alone() -> None:
    call = [sys.executable, "-m", "reuse", "--root", str(ROOT), "lint", "--json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert not any(report["non_compliant"].values()), report["non_compliant"]
    assert report["summary"]["compliant"]
    under_gpl = {
        file["path"]
        for file in report["files"]
        if any(GPL in spdx_expression["value"] for spdx_expression in file["spdx_expressions"])
    }
    folder = kernel.BUILD_INPUTS.relative_to(ROOT)
    assert under_gpl == {str(folder / path.name) for path in kernel.BUILD_INPUTS.iterdir()}
    assert {"MIT", GPL, "CC-BY-4.0"} <= set(report["summary"]["used_licenses"])


def test_the_licence_of_a_patch_is_no_part_of_what_the_kernel_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = kernel.build_key("1")
    bare = []
    for patch in kernel.patches():
        text = patch.read_text(encoding="utf-8")
        bare.append(tmp_path / patch.name)
        bare[-1].write_text(text.removeprefix(kernel.LICENCE), encoding="utf-8")
    monkeypatch.setattr(kernel, "patches", lambda: bare)
    assert kernel.build_key("1") == key


def test_the_licence_file_and_the_package_name_the_licences() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert f"{kernel.BUILD_INPUTS.relative_to(ROOT)}/" in text
    assert GPL in text
    assert "CC0-1.0" in text
    metadata = importlib.metadata.metadata("firstflight")
    assert metadata["License-Expression"] == f"MIT AND {GPL} AND CC0-1.0"
    assert f"LICENSES/{GPL}.txt" in metadata.get_all("License-File", [])


def test_every_image_that_has_the_kernel_has_its_complete_source() -> None:
    stages = re.split(r"(?m)^FROM ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    (stage,) = [stage for stage in stages if "COPY --from=lab " in stage]
    assert "COPY --from=lab /lab " in stage
    (place,) = set(re.findall(r"/usr/share/doc/firstflight/linux/$", stage, re.MULTILINE))
    copied = [line.split()[1:] for line in stage.splitlines() if line.endswith(place)]
    assert copied == [
        ["--from=lab", str(kernel.SOURCE), place],
        ["replay/lab/kernel.py", str(kernel.BUILD_INPUTS.relative_to(ROOT)), place],
    ]
    assert "LICENSES/*.txt /usr/share/doc/firstflight/" in stage


def test_the_notices_of_the_recordings_repositories_stand_in_the_sources() -> None:
    text = (ROOT / "docs/sources.md").read_text(encoding="utf-8")
    for repository, notice in NOTICES.items():
        assert f"| sitespeedio/{repository} | Copyright (c) {notice} |" in text
    sentence = " ".join(text.replace("\n> ", " ").split())
    assert "Permission is hereby granted, free of charge, to any person obtaining a copy" in sentence
    assert "The above copyright notice and this permission notice shall be included" in sentence
    assert "WITHOUT WARRANTY OF ANY KIND" in sentence
