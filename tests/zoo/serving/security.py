"""TLS settings of the zoo's server: version, chain, tickets, cipher."""

from __future__ import annotations

import dataclasses
import ssl
from typing import TYPE_CHECKING, Literal

from cryptography.hazmat.primitives.asymmetric import rsa

from localweb.serving.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSIONS = {"TLS 1.2": ssl.TLSVersion.TLSv1_2, "TLS 1.3": ssl.TLSVersion.TLSv1_3}

CBC = "ECDHE-RSA-AES128-SHA"
"""The CBC suite that Chromium still offers wants an RSA key."""

LONG_CHAIN = (4, 2300)
"""Number of intermediates and bytes of padding in each, for a flight of more than 8 kB."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Security:
    """TLS settings, the same for every host of a web."""

    version: Literal["TLS 1.2", "TLS 1.3"] = "TLS 1.3"
    """The only version that is offered."""
    long_chain: bool = False
    tickets: bool = True
    """Without tickets TLS 1.2 resumes by session id, and TLS 1.3 does not resume."""
    cbc: bool = False
    """TLS 1.2 without AEAD, which H2 does not allow."""

    def authority(self) -> Authority:
        """Return the authority that signs the hosts' certificates."""
        intermediates, padding = LONG_CHAIN if self.long_chain else (0, 0)
        leaf_key = rsa.generate_private_key(65_537, 2048) if self.cbc else None
        return Authority(intermediates=intermediates, padding=padding, leaf_key=leaf_key)

    def context(self, authority: Authority, host: str, alpn: Sequence[str]) -> ssl.SSLContext:
        """Return the server's TLS context for one host."""
        context = authority.context(host, alpn)
        context.minimum_version = context.maximum_version = VERSIONS[self.version]
        if self.cbc:
            context.set_ciphers(CBC)
        if not self.tickets:
            context.num_tickets = 0
            context.options |= ssl.OP_NO_TICKET
        return context
