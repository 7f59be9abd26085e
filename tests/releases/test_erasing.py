import json
import shutil
from pathlib import Path

from releases import erasing
from releases.catalogue import Withdrawn, read_version
from tests.factories.made_up_crawl import NAME

STORED = Path(__file__).with_name("stored") / "schema-1"


def test_a_version_is_withdrawn_as_soon_as_its_tombstone_exists(tmp_path: Path) -> None:
    folder = NAME.path(tmp_path, version=1)
    folder.parent.mkdir(parents=True)
    shutil.copytree(STORED, folder)
    erasing.lay_tombstone(folder, NAME, version=1)
    assert isinstance(read_version(folder), Withdrawn)
    (folder / "response.parquet").touch()  # as after a kill
    erasing.finish_tombstones(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["tombstone.json"]
    assert json.loads((folder / "tombstone.json").read_text())["version"] == 1
