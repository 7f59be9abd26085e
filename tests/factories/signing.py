"""A signing key for tests, and a list of signers with it."""

import subprocess
from pathlib import Path

from storage.signatures import Signer


def make_signer(folder: Path, principal: str = "releases@example.org") -> Signer:
    """A new key, which signs for `principal`."""
    key = folder / f"key-of-{principal}"
    call = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)]
    subprocess.run(call, check=True, stdin=subprocess.DEVNULL)
    allowed = folder / f"signers-{principal}"
    allowed.write_text(f"{principal} {key.with_name(f'{key.name}.pub').read_text()}", encoding="utf-8")
    return Signer(key=key, allowed_signers=allowed)
