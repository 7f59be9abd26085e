"""Signatures of releases, replays and reports: `ssh-keygen -Y` over SHA256SUMS, checked against a list of allowed signers.

SHA256SUMS covers every other file of its folder, so that its signature covers all. The private key may be in a file, in an
agent or on a hardware token. Whoever has the list of signers can check a signature without this code (docs/operations.md).
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from storage.staging import put_file_in_place
from storage.sums import SIGNATURE, SUMS, broken_sums

NAMESPACE = "firstflight"
"""Kept in each signature: what was signed as a mail or a git commit is no signature of a release."""

MISSING = "ssh-keygen is not installed; it is in the Debian package openssh-client"


class SigningFailed(Exception):
    """A folder could not be signed; the message says what ssh-keygen said."""


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """What a folder's signature amounts to."""

    kind: Literal["unsigned", "good", "bad"]
    said: str = ""
    """Who signed, if it is good; why it does not count, if it is bad."""

    def __str__(self) -> str:
        """As commands and pages say it."""
        return {
            "unsigned": "unsigned",
            "good": f"signed by {self.said}",
            "bad": f"bad signature: {self.said}",
        }[self.kind]


def state(folder: Path, allowed_signers: Path) -> Signature:
    """Whether SHA256SUMS in a folder is signed, and by whom of the file `allowed_signers` (ssh-keygen(1), ALLOWED SIGNERS).

    It says nothing of the files that SHA256SUMS lists: storage.sums.broken_sums compares those.
    """
    signature = folder / SIGNATURE
    if not os.path.lexists(signature):
        return Signature("unsigned")
    if not (folder / SUMS).is_file():
        return Signature("bad", f"{SUMS} is missing")
    return _judge(folder / SUMS, signature, allowed_signers)


def faults(folder: Path, allowed_signers: Path) -> list[str]:
    """What keeps a folder from being trusted: each file that is not as its sums say, and a signature that is bad.

    That a folder is not signed is no fault.
    """
    found = state(folder, allowed_signers)
    return broken_sums(folder) + ([str(found)] if found.kind == "bad" else [])


def _judge(signed: Path, signature: Path, allowed_signers: Path) -> Signature:
    if not allowed_signers.is_file():
        return Signature("bad", f"no signer is known: {allowed_signers} is missing")
    named = ["-f", str(allowed_signers), "-s", str(signature)]
    try:
        found = _ssh_keygen(["-Y", "find-principals", *named])
        principals = found.stdout.decode(errors="replace").splitlines()
        if found.returncode or not principals:
            return Signature("bad", f"its key is not among the signers of {allowed_signers}")
        checked = _ssh_keygen(["-Y", "verify", "-n", NAMESPACE, "-I", principals[0], *named], signed)
    except FileNotFoundError:
        return Signature("bad", MISSING)
    if checked.returncode:
        return Signature("bad", f"{SUMS} is not what {principals[0]} signed")
    return Signature("good", principals[0])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Signer:
    """A private key that signs folders, and the file that names its owner."""

    key: Path
    """The private key, or the public half of one that an agent holds (ssh-keygen(1), -Y sign)."""
    allowed_signers: Path

    def sign(self, folder: Path) -> Signature:
        """Sign SHA256SUMS of a folder; SigningFailed if the outcome would not be a good signature."""
        with put_file_in_place(folder / SIGNATURE, beside=folder) as signature:
            signature.write_bytes(self._signature(folder / SUMS))
            found = _judge(folder / SUMS, signature, self.allowed_signers)
            if found.kind != "good":
                raise SigningFailed(
                    f"{found.said}; to make {self.key} a signer, add the line `NAME@DOMAIN KEY` with its public key to "
                    f"{self.allowed_signers}"
                )
        return found

    def _signature(self, signed: Path) -> bytes:
        try:
            done = _ssh_keygen(["-Y", "sign", "-f", str(self.key), "-n", NAMESPACE], signed)
        except FileNotFoundError as exc:
            raise SigningFailed(MISSING) from exc
        if done.returncode:
            raise SigningFailed(f"{self.key} cannot sign: {_last_line(done.stderr)}")
        return done.stdout

    def check(self) -> None:
        """Sign something that is thrown away; SigningFailed. For the beginning of work that is signed at its end."""
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above, "checked")
            folder.mkdir()
            (folder / SUMS).touch()
            self.sign(folder)


def _ssh_keygen(arguments: list[str], signed: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen without a terminal: it must not wait for a passphrase that nobody types."""
    with (signed or Path(os.devnull)).open("rb") as given:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            stdin=given,
            capture_output=True,
            check=False,
            start_new_session=True,
            env={**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
        )


def _last_line(said: bytes) -> str:
    return (said.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
