"""The nftables rulesets of the guard as text: in the browsers' namespace, and at its link outside."""

from collections.abc import Sequence

from crawler.egress.networks import Address, Network, refused_networks

DNS_PORT = 53

PREFIX = "ffguard"
"""Prefix of the names of the guard's links and tables outside; a number follows."""


INSIDE = "guard"
"""Name of the table in the browsers' namespace."""


def inside_rules(*, nameservers: Sequence[Address], local: tuple[Network, ...]) -> str:
    """Return the rules in the browsers' namespace: a refused packet is answered at once, as by a closed port.

    A relay on the namespace's loopback answers for `nameservers`;
    `local` are the networks that are refused on this machine alone.
    """
    dns = "".join(
        f'    {family(nameserver)} daddr {nameserver} oifname "lo" meta l4proto {{ tcp, udp }} '
        f"th dport {DNS_PORT} accept\n"
        for nameserver in nameservers
    )
    return f"""\
{_empty_table(INSIDE)}
table inet {INSIDE} {{
{_refused_sets(local)}
  counter refused {{ }}
  chain refuse {{
    counter name refused
    meta l4proto tcp reject with tcp reset
    reject with icmpx type admin-prohibited
  }}
  chain output {{
    type filter hook output priority filter; policy drop;
{dns}    oifname "lo" ct state established,related accept
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} ip6 hoplimit 255 accept
    ip daddr @refused4 jump refuse
    ip6 daddr @refused6 jump refuse
    meta l4proto {{ tcp, udp }} accept
  }}
  chain input {{
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} accept
    ct state established,related accept
  }}
}}
"""


def outside_rules(*, table: str, link: str, local: tuple[Network, ...]) -> str:
    """Return the rules at the machine's end of the link: address translation,
    and no access to the machine or other guards.

    Packets that the rules inside refuse are dropped here too, in case those rules are gone.
    """
    return f"""\
{_empty_table(table)}
table inet {table} {{
{_refused_sets(local)}
  chain input {{
    type filter hook input priority filter; policy accept;
    iifname "{link}" icmpv6 type {{ nd-neighbor-solicit, nd-neighbor-advert }} ip6 hoplimit 255 accept
    iifname "{link}" drop
  }}
  chain forward {{
    type filter hook forward priority filter; policy accept;
    iifname "{link}" oifname "{PREFIX}*" drop
    iifname "{link}" ip daddr @refused4 drop
    iifname "{link}" ip6 daddr @refused6 drop
    oifname "{link}" ct state != {{ established, related }} drop
  }}
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    iifname "{link}" masquerade
  }}
}}
"""


def uplink_rules(*, table: str, uplink: str) -> str:
    """Return the rules of an interface that forwards only because guards need it:
    it forwards their packets alone."""
    return f"""\
{_empty_table(table)}
table inet {table} {{
  chain forward {{
    type filter hook forward priority filter; policy accept;
    iifname "{uplink}" oifname != "{PREFIX}*" drop
  }}
}}
"""


def family(address: Address) -> str:
    """Return nftables' keyword for an address's family."""
    return "ip" if address.version == 4 else "ip6"


def _empty_table(table: str) -> str:
    """Return commands that empty a table, within the transaction that a file of rules is."""
    return f"table inet {table}\ndelete table inet {table}"


def _refused_sets(local: tuple[Network, ...]) -> str:
    v4, v6 = (", ".join(map(str, networks)) for networks in refused_networks(local))
    return f"""\
  set refused4 {{ type ipv4_addr; flags interval; auto-merge; elements = {{ {v4} }} }}
  set refused6 {{ type ipv6_addr; flags interval; auto-merge; elements = {{ {v6} }} }}"""
