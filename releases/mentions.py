"""Searches files for the name of a withdrawn site, in Parquet text columns and in plain or gzipped text."""

import gzip
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from storage.withdrawal import SiteWithdrawal

GZIP = b"\x1f\x8b"


def mentions(path: Path, site: SiteWithdrawal) -> bool:
    """Return true if the file, or any file below the folder, names the site or cannot be read."""
    if path.is_dir():
        return any(mentions(file, site) for file in path.rglob("*") if file.is_file())
    try:
        return _in_parquet(path, site) if path.suffix == ".parquet" else _in_text(path, site)
    except (pa.ArrowException, OSError, EOFError):
        return True


def _in_text(path: Path, site: SiteWithdrawal) -> bool:
    content = path.read_bytes()
    text = gzip.decompress(content) if content.startswith(GZIP) else content
    return re.search(site.pattern, text.decode("utf-8", "replace").lower()) is not None


def _in_parquet(path: Path, site: SiteWithdrawal) -> bool:
    with pq.ParquetFile(path) as file:
        texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        return any(
            pc.any(pc.match_substring_regex(column, site.pattern, ignore_case=True)).as_py()
            for batch in file.iter_batches(columns=texts)
            for column in batch.columns
        )
