"""The state of an erasure, kept in a file until the erasure is complete, so that a killed erasure can be resumed."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from crawler.sites.optout import hash_of
from storage.staging import put_file_in_place
from storage.withdrawal import Withdrawal

NAME = "erasure.json"
LOCK = "erasure.lock"


class ErasureError(Exception):
    """An erasure cannot begin or continue; the message says what to do."""


@dataclasses.dataclass(kw_only=True, slots=True)
class Journal:
    """The state of one erasure. Its file contains a hash of the host, not its name."""

    path: Path
    site: Withdrawal
    salt: str
    crawls: list[int]
    """Ids of crawls whose tables must be rewritten."""
    is_resumed: bool

    def note(self, crawl_id: int) -> None:
        """Record a crawl before its first row changes."""
        self.crawls = sorted({*self.crawls, crawl_id})
        self.save()

    def save(self) -> None:
        """Write the file, readable only by its owner, since the key in it allows guessing the site."""
        host = hash_of(self.site.host, self.salt)
        facts = {"host": host, "salt": self.salt, "key": self.site.key, "crawls": self.crawls}
        with put_file_in_place(self.path, mode=0o600) as half:
            half.write_text(json.dumps(facts) + "\n", encoding="utf-8")

    def end(self) -> None:
        """Delete the file, and the key with it."""
        self.path.unlink(missing_ok=True)


@contextlib.contextmanager
def journal(folder: Path, host: str) -> Iterator[Journal]:
    """The unfinished erasure of `host`, or a new one that is not yet written to disk. Holds a lock meanwhile."""
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
