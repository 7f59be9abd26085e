import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from storage.signatures import NAMESPACE, Signature, Signer, SigningFailed, state
from storage.sums import SIGNATURE, SUMS, broken_sums, seal
from tests.factories.signing import make_signer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    signed = tmp_path / "made"
    signed.mkdir()
    (signed / "cells.parquet").write_bytes(b"PAR1")
    seal(signed, {})
    return signed


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return make_signer(tmp_path)


def test_a_signed_folder_names_its_signer(folder: Path, signer: Signer) -> None:
    assert state(folder, signer.allowed_signers) == Signature("unsigned")
    assert signer.sign(folder) == Signature("good", "releases@example.org")
    assert state(folder, signer.allowed_signers) == Signature("good", "releases@example.org")
    assert broken_sums(folder) == []
    assert str(state(folder, signer.allowed_signers)) == "signed by releases@example.org"


def test_a_folder_replaced_as_a_whole_has_good_sums_and_a_bad_signature(folder: Path, signer: Signer) -> None:
    signer.sign(folder)
    (folder / "cells.parquet").write_bytes(b"forged")
    seal(folder, {})
    assert broken_sums(folder) == []
    signature = state(folder, signer.allowed_signers)
    assert (signature.kind, signature.detail) == ("bad", "SHA256SUMS is not what releases@example.org signed")


def test_a_key_that_is_not_allowed_signs_nothing(folder: Path, signer: Signer, tmp_path: Path) -> None:
    stranger = make_signer(tmp_path, "mallory@example.org")
    assert stranger.sign(folder).kind == "good"
    signature = state(folder, signer.allowed_signers)
    assert (signature.kind, "is not among the signers" in signature.detail) == ("bad", True)
    with pytest.raises(SigningFailed, match=r"add the line `NAME@DOMAIN KEY` with its public key to"):
        Signer(key=stranger.key, allowed_signers=signer.allowed_signers).sign(folder)
    assert state(folder, stranger.allowed_signers).kind == "good"  # the signature that was there stays


def test_without_a_list_of_signers_every_signature_is_bad(
    folder: Path, signer: Signer, tmp_path: Path
) -> None:
    signer.sign(folder)
    signature = state(folder, tmp_path / "none")
    assert (signature.kind, "no signer is known" in signature.detail) == ("bad", True)


def test_a_signature_from_another_namespace_is_bad(folder: Path, signer: Signer) -> None:
    call = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(signer.key), "-n", "git", str(folder / SUMS)]
    subprocess.run(call, check=True, capture_output=True)
    assert (folder / SIGNATURE).exists()
    assert NAMESPACE != "git"
    assert state(folder, signer.allowed_signers).kind == "bad"


def test_a_key_that_is_no_longer_valid_or_for_another_use_signs_nothing(folder: Path, signer: Signer) -> None:
    signer.sign(folder)
    allowed = signer.allowed_signers
    principal, key = allowed.read_text().split(" ", 1)
    for options, kind in (
        ('valid-before="20200101"', "bad"),
        ('namespaces="git"', "bad"),
        ('namespaces="firstflight"', "good"),
    ):
        allowed.write_text(f"{principal} {options} {key}")
        assert state(folder, allowed).kind == kind, options


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 5000])
def test_a_damaged_signature_is_bad(folder: Path, signer: Signer, content: bytes) -> None:
    (folder / SIGNATURE).write_bytes(content)
    assert state(folder, signer.allowed_signers).kind == "bad"


def test_a_key_that_cannot_sign_says_so_in_one_line_and_leaves_nothing(
    folder: Path, signer: Signer, tmp_path: Path
) -> None:
    locked = tmp_path / "locked"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", locked], check=True)
    for key in (tmp_path / "none", locked):
        with pytest.raises(SigningFailed, match="cannot sign") as failed:
            Signer(key=key, allowed_signers=signer.allowed_signers).check()
        assert "\n" not in str(failed.value)
    signer.check()
    assert not (folder / SIGNATURE).exists()


def test_a_machine_without_ssh_keygen_trusts_no_signature(
    folder: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer.sign(folder)
    monkeypatch.setenv("PATH", "/nowhere")
    assert state(folder, signer.allowed_signers).detail.endswith("in the Debian package openssh-client")
    with pytest.raises(SigningFailed, match="openssh-client"):
        signer.sign(folder)


def test_a_flipped_bit_makes_a_signature_bad_or_has_no_effect(folder: Path, signer: Signer) -> None:
    signer.sign(folder)
    path = folder / SIGNATURE
    sound = path.read_bytes()
    kinds: Counter[str] = Counter()
    for bit in random.Random(6928).sample(range(8 * len(sound)), 60):
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        kinds[state(folder, signer.allowed_signers).kind] += 1
    assert kinds["bad"] >= 57  # a line break may become another blank: what it signs stays the same
    assert set(kinds) <= {"bad", "good"}
