"""scripts/pin-images with a stand-in for the registries;
tests/compose/try-pins tries it on a registry of its own in scripts/test-compose."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIGEST = "sha256:" + "0123456789abcdef" * 4
RENEWED = "sha256:" + "fedcba9876543210" * 4

FILES = ("docker-compose.yml", "Dockerfile")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/pin-images", tmp_path / "scripts")
    for name in FILES:
        text = (ROOT / name).read_text()
        (tmp_path / name).write_text(re.sub("@sha256:[0-9a-f]{64}", "", text))
    return tmp_path


def run(
    project: Path, *options: str, registry: str = f"echo Digest: {DIGEST}"
) -> subprocess.CompletedProcess[str]:
    """The script, with `registry` in the place of docker."""
    docker = project / "bin/docker"
    docker.parent.mkdir(exist_ok=True)
    docker.write_text(f"#!/bin/sh\n{registry}\n")
    docker.chmod(0o755)
    call = [str(project / "scripts/pin-images"), *options]
    path = f"{docker.parent}:/usr/bin:/bin"
    return subprocess.run(call, env={"PATH": path}, capture_output=True, text=True, check=False)


def texts(project: Path) -> dict[str, str]:
    return {name: (project / name).read_text() for name in FILES}


def test_what_is_not_pinned_is_said_plainly(project: Path) -> None:
    output = run(project, "--list").stdout
    assert output.count("NOT PINNED") == 7
    assert "NOT PINNED  postgres:17: whatever the tag stands for" in output
    assert run(project, "--check").returncode == 1


def test_every_image_of_others_gets_its_digest(project: Path) -> None:
    before = texts(project)
    assert run(project).returncode == 0
    after = texts(project)
    for image in ("postgres:17", "redis:8.0", "versity/versitygw:v1.8.0", "caddy:2.10"):
        assert f"image: {image}@{DIGEST}\n" in after["docker-compose.yml"]
    assert f"ARG BASE=debian:bookworm-slim@{DIGEST}\n" in after["Dockerfile"]
    assert "firstflight-worker:1.0.0\n" in after["docker-compose.yml"]
    # And nothing else is changed.
    assert {name: text.replace(f"@{DIGEST}", "") for name, text in after.items()} == before
    checked = run(project, "--check")
    assert (checked.returncode, checked.stdout.count("pinned ")) == (0, 7)


def test_a_digest_is_renewed_by_the_tag_that_it_stands_for(project: Path) -> None:
    run(project)
    assert (
        run(project, registry=f"case $* in *@*) exit 1 ;; *) echo Digest: {RENEWED} ;; esac").returncode == 0
    )
    text = "".join(texts(project).values())
    assert (text.count(RENEWED), text.count(DIGEST)) == (7, 0)


@pytest.mark.parametrize(
    "registry",
    [
        "echo no such host >&2; exit 1",
        "echo Digest: sha256:tooshort",
        f"case $* in *redis*) exit 1 ;; *) echo Digest: {DIGEST} ;; esac",
    ],
)
def test_without_all_digests_nothing_is_changed_and_none_is_made_up(project: Path, registry: str) -> None:
    before = texts(project)
    done = run(project, registry=registry)
    assert done.returncode == 1
    assert "nothing was changed" in done.stderr
    assert texts(project) == before


def test_the_files_of_this_project_hold_digests_that_have_the_form_of_one() -> None:
    lines = re.findall(r"^ *(?:image: |ARG BASE=)(\S+)", "".join(texts(ROOT).values()), re.MULTILINE)
    digests = [digest for _, at, digest in (line.partition("@") for line in lines) if at]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in digests)
    assert not {DIGEST, RENEWED} & set(digests)
