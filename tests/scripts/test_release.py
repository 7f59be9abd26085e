"""scripts/release in a clone: number, changelog, tag and wheel agree, the wheel holds and does what it must,
and a checkout that is not ready is left as it was."""

import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.process


ROOT = Path(__file__).parents[2]
ENTRY = "- The report says how far away the answer is.\n"


def git(clone: Path, *arguments: str) -> str:
    call = ["git", "-C", str(clone), *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree whose changelog has one entry that is not released."""
    clone = tmp_path_factory.mktemp("pristine") / "clone"
    # Not `git clone`, which refuses a tree of another user.
    listed = git(ROOT, "-c", f"safe.directory={ROOT}", "ls-files", "-z").split("\0")
    for name in filter(None, listed):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, clone / name, follow_symlinks=False)
    git(clone, "init", "-q")
    git(clone, "config", "user.name", "A developer")
    git(clone, "config", "user.email", "developer@firstflight.invalid")
    (clone / "CHANGELOG.md").write_text(
        f"# Changes\n\n## Unreleased\n\n{ENTRY}\n## 0.0.1, 2020-01-01\n\n- First.\n"
    )
    git(clone, "add", "--all")
    git(clone, "commit", "-qm", "Say what changed")
    return clone


@pytest.fixture
def clone(pristine: Path, tmp_path: Path) -> Path:
    return shutil.copytree(pristine, tmp_path / "clone", symlinks=True)


def release(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    call = [str(clone / "scripts/release"), *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=False)


def test_a_release_has_one_number_in_its_changelog_tag_images_and_wheel(clone: Path) -> None:
    done = release(clone, "99.1.0", "--no-images", "--no-demo")
    assert done.returncode == 0, done.stderr
    assert git(clone, "describe").strip() == "v99.1.0"
    assert git(clone, "status", "--porcelain") == ""
    changelog = (clone / "CHANGELOG.md").read_text()
    assert changelog.index("## Unreleased") < changelog.index("## 99.1.0, 20") < changelog.index(ENTRY)
    assert "image: firstflight-api:99.1.0\n" in (clone / "docker-compose.yml").read_text()
    citation = yaml.safe_load((clone / "CITATION.cff").read_text())
    assert citation["version"] == "99.1.0"
    assert f"## 99.1.0, {citation['date-released']}\n" in changelog
    (wheel,) = (clone / "dist").glob("*.whl")
    assert (
        "Version: 99.1.0\n" in zipfile.ZipFile(wheel).read("firstflight-99.1.0.dist-info/METADATA").decode()
    )
    project = tomllib.loads((clone / "pyproject.toml").read_text())
    packages = project["tool"]["uv"]["build-backend"]["module-name"]
    tracked = set(git(clone, "ls-files", "--", *packages).splitlines())
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if not name.endswith("/")}
        assert {name for name in files if not name.startswith("firstflight-99.1.0.dist-info/")} == tracked
        assert all(archive.read(name) == (clone / name).read_bytes() for name in tracked)
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=clone / "dist", check=True)
    wheel.unlink()
    again = release(clone, "99.1.0", "--no-images", "--no-demo")
    assert (again.returncode, wheel.exists()) == (0, True), again.stderr


@pytest.mark.thorough
def test_the_wheel_runs_the_demo_without_a_checkout(clone: Path) -> None:
    done = release(clone, "--no-images")
    assert done.returncode == 0, done.stderr
    assert "The whole line took" in done.stderr


def test_no_release_is_made_of_changes_that_are_not_committed(clone: Path) -> None:
    (clone / "README.md").write_text("Changed.\n")
    assert "commit or stash them first" in release(clone, "99.1.0").stderr


def test_no_release_is_made_without_entries_in_the_changelog(clone: Path) -> None:
    (clone / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n\n## 0.0.1, 2020-01-01\n\n- First.\n")
    git(clone, "commit", "-qam", "Forget what changed")
    assert 'no entries under "## Unreleased"' in release(clone, "99.1.0").stderr
    assert git(clone, "tag") == ""


@pytest.mark.parametrize("version", ["99.1", "v99.1.0", "0.0.0"])
def test_a_version_that_is_no_later_one_is_refused(clone: Path, version: str) -> None:
    head = git(clone, "rev-parse", "HEAD")
    done = release(clone, version)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert git(clone, "rev-parse", "HEAD") == head
