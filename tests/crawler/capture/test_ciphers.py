"""CBC checks padding and MAC; each covers every byte."""

from __future__ import annotations

import hmac

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from crawler.capture.ciphers import CannotDecrypt, Cbc12


@pytest.mark.parametrize(
    ("padding", "is_right"),
    [
        (b"\3\3\3\3", True),
        (b"\x13" * 20, True),
        (b"\2\3\3\3", False),
        (b"\0" + b"\x13" * 19, False),
        (b"\xff" * 4, False),
    ],
)
def test_padding_and_mac_of_cbc_are_verified(padding: bytes, is_right: bool) -> None:
    header, plaintext = b"\x17\x03\x03\0\0", b"a" * 8
    covered = (7).to_bytes(8, "big") + b"\x17\x03\x03\0\x08"
    mac = hmac.digest(b"mac key", covered + plaintext, "sha1")
    encryptor = Cipher(AES(bytes(16)), CBC(bytes(16))).encryptor()
    payload = bytearray(bytes(16) + encryptor.update(plaintext + mac + padding) + encryptor.finalize())
    sealed = Cbc12(bytes(16), b"mac key", "sha1")
    if is_right:
        assert sealed.open(7, header, payload) == plaintext
        with pytest.raises(CannotDecrypt, match="wrong MAC"):
            sealed.open(8, header, payload)
    else:
        with pytest.raises(CannotDecrypt, match="wrong padding"):
            sealed.open(7, header, payload)
