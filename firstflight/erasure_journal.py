"""What an erasure under way must remember, so that a run after a kill does the same: a file that is gone when all is done."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
from typing import TYPE_CHECKING

from crawler.sites.optout import hash_of
from storage.staging import put_file_in_place
from storage.withdrawal import Withdrawal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "erasure.json"
LOCK = "erasure.lock"


class ErasureError(Exception):
    """An erasure cannot begin, or cannot go on; the message says what to do."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Journal:
    """One erasure; it does not name the site."""

    path: Path
    site: Withdrawal
    salt: str
    crawls: list[int]
    """Ids of crawls whose tables are to be rewritten."""
    is_resumed: bool

    def note(self, crawl_id: int) -> None:
        """Remember a crawl before the first of its rows changes."""
        self.crawls = sorted({*self.crawls, crawl_id})
        self.save()

    def save(self) -> None:
        """Write the file, which only its owner can read: with the key, guesses of the site could be tried."""
        host = hash_of(self.site.host, self.salt)
        facts = {"host": host, "salt": self.salt, "key": self.site.key, "crawls": self.crawls}
        with put_file_in_place(self.path, mode=0o600) as half:
            half.write_text(json.dumps(facts) + "\n", encoding="utf-8")

    def end(self) -> None:
        """Forget it, and with it the key."""
        self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def journal(folder: Path, host: str) -> Iterator[Journal]:
    """The erasure of `host`: the one that was cut short, or a new one, which is not written yet; one at a time."""
    with _locked(folder):
        path = folder / NAME
        if not path.exists():
            site = Withdrawal(host=host, key=secrets.token_hex(32))
            yield Journal(path=path, site=site, salt=secrets.token_hex(16), crawls=[], is_resumed=False)
            return
        facts = json.loads(path.read_text(encoding="utf-8"))
        if hash_of(host, facts["salt"]) != facts["host"]:
            raise ErasureError(
                f"the erasure of another site was cut short ({path}): finish it first, by the same command with that site's host"
            )
        site = Withdrawal(host=host, key=facts["key"])
        yield Journal(path=path, site=site, salt=facts["salt"], crawls=facts["crawls"], is_resumed=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as exc:
        raise ErasureError(f"another erasure is under way in {folder}: wait for its end") from exc
    finally:
        os.close(handle)
