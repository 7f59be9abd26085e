"""The nftables rulesets of the guard as text: in the browsers' namespace, and at its link outside."""

from collections.abc import Sequence

from crawler.egress.networks import Address, Network, refused_networks

DNS_PORT = 53

PREFIX = "ffguard"
"""Prefix of the names of the guard's links and tables outside; a number follows."""


INSIDE = "guard"


def inside_rules(*, nameservers: Sequence[Address], local: tuple[Network, ...]) -> str:
    """Return the rules in the browsers' namespace, which answer a refused packet at once, as a closed port
    does.

    A relay answers for `nameservers`; `local` networks are refused on this machine alone.
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
    """Return the rules at the machine's end: address translation, and no access to the machine or other
    guards.

    What the rules inside refuse is dropped here too, in case those are gone.
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
    """Return the rules of an interface that forwards the guards' packets alone."""
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
    return "ip" if address.version == 4 else "ip6"


def _empty_table(table: str) -> str:
    return f"table inet {table}\ndelete table inet {table}"


def _refused_sets(local: tuple[Network, ...]) -> str:
    v4, v6 = (", ".join(map(str, networks)) for networks in refused_networks(local))
    return f"""\
  set refused4 {{ type ipv4_addr; flags interval; auto-merge; elements = {{ {v4} }} }}
  set refused6 {{ type ipv6_addr; flags interval; auto-merge; elements = {{ {v6} }} }}"""
