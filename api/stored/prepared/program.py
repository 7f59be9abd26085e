"""Makes the prepared files of one release, in a process of its own:
python -m api.stored.prepared.program RELEASE FOLDER."""

import os
import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq

from api.stored.prepared.site_rows import SITE_COLUMNS, write_site_rows
from api.stored.prepared.store import CDFS, ITEMS, SITES
from releases.cdf import read_cdfs, save_cdfs
from releases.strata.cells import read_items
from schema.computed_tables import MEASURES
from storage.staging import put_new
from storage.sums import broken_sums, seal

MOST_ITEMS = 16_000_000
"""Maximum number of items of a release that are prepared:
reading those of a measure takes some 65 bytes each, 1 GB in all."""

LOW_PRIORITY = 10
"""nice(2): a tenth of the processor where answers want all of it."""


def prepare(release: Path, folder: Path) -> None:
    """Make the prepared files of a release in `folder`, unless they are there and whole.

    A release with too many items is prepared without them. Raises OSError, ArrowException or KeyError if the
    release's files cannot be read or the folder cannot be written.
    """
    if folder.exists():
        if not broken_sums(folder):
            return
        shutil.rmtree(folder)
    with put_new(folder) as made:
        save_cdfs(read_cdfs(release / "distribution.parquet"), made / CDFS)
        items = release / "item.parquet"
        if pq.read_metadata(items).num_rows <= MOST_ITEMS:
            (made / ITEMS).mkdir()
            for measure in MEASURES:
                read_items(items, measure).save(made / ITEMS / measure)
        (made / SITES).mkdir()
        write_site_rows(release, made / SITES, SITE_COLUMNS)
        seal(made, {})


def main() -> None:
    """Prepare the release that the arguments name, at a low priority."""
    os.nice(LOW_PRIORITY)
    release, folder = sys.argv[1:]
    prepare(Path(release), Path(folder))


if __name__ == "__main__":
    main()
