"""Decide which IP addresses may be connected to: public unicast ones, and none that lead to this machine or its networks.

The ranges are IANA's special-purpose registries for IPv4 and IPv6. An IPv6 address that carries an IPv4 address (mapped,
6to4, Teredo, NAT64, ISATAP) is refused: where it leads depends on the network.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

IPAddress: TypeAlias = IPv4Address | IPv6Address
IPNetwork: TypeAlias = IPv4Network | IPv6Network

_SPECIAL_V4 = {
    "0.0.0.0/8": "this host",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "shared by carriers (CGNAT)",
    "100.100.100.200/32": "a cloud's metadata service",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata service",
    "169.254.0.0/16": "link-local or a cloud's metadata service",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "reserved for protocols",
    "192.0.2.0/24": "for documentation",
    "192.31.196.0/24": "AS112",
    "192.52.193.0/24": "AMT",
    "192.88.99.0/24": "a 6to4 relay",
    "192.168.0.0/16": "private",
    "192.175.48.0/24": "AS112",
    "198.18.0.0/15": "for benchmarks",
    "198.51.100.0/24": "for documentation",
    "203.0.113.0/24": "for documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved or broadcast",
}
_SPECIAL_V6 = {
    "2001::/23": "reserved for protocols (Teredo and others)",
    "2001:db8::/32": "for documentation",
    "2002::/16": "6to4: an IPv4 address in disguise",
    "2620:4f:8000::/48": "AS112",
    "3fff::/20": "for documentation",
}
_GLOBAL_V6 = IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)
_V4 = [(IPv4Network(text), name) for text, name in _SPECIAL_V4.items()]
_V6 = [(IPv6Network(text), name) for text, name in _SPECIAL_V6.items()]


def refusal_of(address: IPAddress, permitted: Sequence[IPNetwork] = ()) -> str:
    """Return why `address` may not be connected to; empty when it may. `permitted` networks are always allowed."""
    if any(address in network for network in permitted):
        return ""
    if isinstance(address, IPv4Address):
        return next((name for network, name in _V4 if address in network), "")
    return _refusal_of_v6(address)


def _refusal_of_v6(address: IPv6Address) -> str:
    if address.scope_id is not None:
        return "link-local"
    if address.is_loopback:
        return "loopback"
    if address.ipv4_mapped is not None:
        return "an IPv4 address in disguise"
    if address not in _GLOBAL_V6:
        return "not global unicast (private, link-local, multicast, NAT64 or reserved)"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "ISATAP: an IPv4 address in disguise"
    return next((name for network, name in _V6 if address in network), "")


def parse_networks(*texts: str) -> tuple[IPNetwork, ...]:
    """Return networks written as `10.0.0.0/8`; `ValueError` for anything else."""
    return tuple(ip_network(text) for text in texts)
