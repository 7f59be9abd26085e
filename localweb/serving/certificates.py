"""Certificates for the hosts on loopback: one key for all, a leaf certificate for each host.

The browser trusts the key (`--ignore-certificate-errors-spki-list`), so nothing has to be installed. It would
coalesce HTTP/2 connections to hosts that share a certificate.
"""

import base64
import datetime
import hashlib
import os
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

AUTHORITY = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "firstflight local web")])
COMMON_NAME_LIMIT = 64
PADDING = x509.ObjectIdentifier("1.3.6.1.4.1.32473.1")
VALIDITY = datetime.timedelta(days=80)


class Authority:
    """A certificate authority that lives with the server.

    `intermediates` certificates lie between its own and the leaves, each with `padding` bytes in an unknown
    extension. `leaf_key` is by default a new one on P-256.
    """

    def __init__(
        self,
        *,
        intermediates: int = 0,
        padding: int = 0,
        leaf_key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | None = None,
    ) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf_key = leaf_key or ec.generate_private_key(ec.SECP256R1())
        self._issuers = [self._issuer(AUTHORITY, AUTHORITY)]
        for number in range(intermediates):
            name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"firstflight intermediate {number}")])
            self._issuers.insert(0, self._issuer(name, self._issuers[0].subject, padding))

    def _issuer(self, subject: x509.Name, issuer: x509.Name, padding: int = 0) -> x509.Certificate:
        builder = certificate(subject, self._key.public_key(), issuer)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        if padding:
            unknown = x509.UnrecognizedExtension(PADDING, os.urandom(padding))
            builder = builder.add_extension(unknown, critical=False)
        return builder.sign(self._key, hashes.SHA256())

    @property
    def spki_hash(self) -> str:
        """Hash of the key that all leaves share."""
        public = self._leaf_key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return base64.b64encode(hashlib.sha256(public).digest()).decode("ascii")

    def files(self, host: str) -> tuple[bytes, bytes]:
        common_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:COMMON_NAME_LIMIT])])
        builder = certificate(common_name, self._leaf_key.public_key(), self._issuers[0].subject)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        leaf = builder.sign(self._key, hashes.SHA256())
        key = self._leaf_key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        chain = [
            certificate.public_bytes(serialization.Encoding.PEM) for certificate in (leaf, *self._issuers)
        ]
        return b"".join(chain), key

    def context(self, host: str, alpn: Sequence[str]) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Python's ssl reads them only from files.
        with tempfile.NamedTemporaryFile(suffix=".pem") as file:
            file.writelines(self.files(host))
            file.flush()
            context.load_cert_chain(Path(file.name))
        context.set_alpn_protocols(list(alpn))
        return context


def certificate(
    subject: x509.Name, key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey, issuer: x509.Name
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + VALIDITY)
    )
