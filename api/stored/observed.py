"""Days on which the visits of a release began."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from api.http.problems import Problem
from api.stored.library import Library
from api.stored.shelf import Version

VISITS = "visit.parquet"


def observed(library: Library, version: Version) -> str:
    """The first and the last day (UTC) on which visits of a release began, as 2026-11-02/2026-11-05, or the one day.

    Without the table `visit`, or without a visit in it, it is the month of the crawl.
    """
    if VISITS not in version.files:
        return version.crawl.month
    path, _ = library.file(version, VISITS)
    try:
        with pq.ParquetFile(path) as file:
            began = file.read(columns=["started_at"])["started_at"]
    except (OSError, pa.ArrowException, KeyError) as exc:
        raise Problem("damaged-release", f"{VISITS} cannot be read") from exc
    ends = pc.min_max(began).as_py()
    if ends["min"] is None:
        return version.crawl.month
    days = dict.fromkeys(f"{ends[end]:%Y-%m-%d}" for end in ("min", "max"))
    return "/".join(days)
