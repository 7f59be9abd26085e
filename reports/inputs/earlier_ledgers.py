"""What turned the answers of earlier editions: each edition keeps the ledgers of those before it."""

import json
from pathlib import Path
from typing import Any

from storage.report_versions import CONTENT


def ledgers_of(folder: Path) -> tuple[dict[str, Any], ...]:
    """The entries that the report in `folder` keeps with their years, its own the last; its checksums must have been checked."""
    content = json.loads((folder / CONTENT).read_text(encoding="utf-8"))
    own = (
        {**entry, "year": content["year"], "is_illustrative": content["is_illustrative"]}
        for entry in content["ledger"] or ()
    )
    return (*content["earlier_ledgers"], *own)
