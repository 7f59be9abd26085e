"""Signatures of releases, replays and reports: `ssh-keygen -Y` over SHA256SUMS, checked against a list of
allowed signers.

SHA256SUMS covers every other file of its folder. The private key may be in a file, in an agent or on a
hardware token. The list of signers suffices to check a signature without this code (docs/operations.md).
"""

import dataclasses
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Literal

from storage.staging import put_file_in_place
from storage.sums import SIGNATURE, SUMS, broken_sums

NAMESPACE = "firstflight"
"""Namespace stored in each signature: a signature of a mail or a git commit does not count for a release."""

MISSING = "ssh-keygen is not installed; it is in the Debian package openssh-client"


class SigningFailed(Exception):
    """A folder could not be signed; the message is ssh-keygen's."""


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    """The result of checking a folder's signature."""

    kind: Literal["unsigned", "good", "bad"]
    detail: str = ""
    """The signer if the signature is good; the reason if it is bad."""

    def __str__(self) -> str:
        return {
            "unsigned": "unsigned",
            "good": f"signed by {self.detail}",
            "bad": f"bad signature: {self.detail}",
        }[self.kind]


def state(folder: Path, allowed_signers: Path) -> Signature:
    """Check the signature of a folder's SHA256SUMS against `allowed_signers` (ssh-keygen(1), ALLOWED
    SIGNERS); files are not read.
    """
    signature = folder / SIGNATURE
    if not os.path.lexists(signature):
        return Signature("unsigned")
    if not (folder / SUMS).is_file():
        return Signature("bad", f"{SUMS} is missing")
    return _judge(folder / SUMS, signature, allowed_signers)


def find_faults(folder: Path, allowed_signers: Path) -> list[str]:
    """Return why a folder cannot be trusted: files that do not match their checksums, and a bad signature.

    A missing signature is no fault.
    """
    verified = state(folder, allowed_signers)
    return broken_sums(folder) + ([str(verified)] if verified.kind == "bad" else [])


def _judge(signed: Path, signature: Path, allowed_signers: Path) -> Signature:
    if not allowed_signers.is_file():
        return Signature("bad", f"no signer is known: {allowed_signers} is missing")
    named = ["-f", str(allowed_signers), "-s", str(signature)]
    try:
        signers = _ssh_keygen(["-Y", "find-principals", *named])
        principals = signers.stdout.decode(errors="replace").splitlines()
        if signers.returncode or not principals:
            return Signature("bad", f"its key is not among the signers of {allowed_signers}")
        checked = _ssh_keygen(["-Y", "verify", "-n", NAMESPACE, "-I", principals[0], *named], signed)
    except FileNotFoundError:
        return Signature("bad", MISSING)
    if checked.returncode:
        return Signature("bad", f"{SUMS} is not what {principals[0]} signed")
    return Signature("good", principals[0])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Signer:
    """A private key that signs folders, and the list of signers that must contain its owner."""

    key: Path
    """The private key, or the public key of a private one in an agent (ssh-keygen(1), -Y sign)."""
    allowed_signers: Path

    def sign(self, folder: Path) -> Signature:
        """Sign a folder's SHA256SUMS; SigningFailed unless the result is a good signature."""
        with put_file_in_place(folder / SIGNATURE, beside=folder) as signature:
            signature.write_bytes(self._signature(folder / SUMS))
            verified = _judge(folder / SUMS, signature, self.allowed_signers)
            if verified.kind != "good":
                raise SigningFailed(
                    f"{verified.detail}; to make {self.key} a signer, add the line `NAME@DOMAIN KEY` "
                    f"with its public key to {self.allowed_signers}"
                )
        return verified

    def _signature(self, signed: Path) -> bytes:
        try:
            done = _ssh_keygen(["-Y", "sign", "-f", str(self.key), "-n", NAMESPACE], signed)
        except FileNotFoundError as exc:
            raise SigningFailed(MISSING) from exc
        if done.returncode:
            raise SigningFailed(f"{self.key} cannot sign: {_last_line(done.stderr)}")
        return done.stdout

    def check(self) -> None:
        """Make a test signature, before work that is signed at its end; SigningFailed if it does not work."""
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above, "checked")
            folder.mkdir()
            (folder / SUMS).touch()
            self.sign(folder)


def _ssh_keygen(arguments: list[str], signed: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run ssh-keygen without a terminal, so that it cannot wait for a passphrase."""
    with (signed or Path(os.devnull)).open("rb") as given:
        return subprocess.run(
            ["ssh-keygen", *arguments],
            stdin=given,
            capture_output=True,
            check=False,
            start_new_session=True,
            env={**os.environ, "SSH_ASKPASS_REQUIRE": "never"},
        )


def _last_line(output: bytes) -> str:
    return (output.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
