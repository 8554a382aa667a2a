"""Tell whose a network address is, for limits that count by address."""

from ipaddress import IPv6Network, ip_address

SUBSCRIBER_BITS = 64


def network_of(address: str) -> str:
    """Return the network of one subscriber: an IPv4 address, or the /64 of an IPv6 address, since who has one has all of it.

    An IPv4 address in the form of IPv6 is that IPv4 address. What is no address is returned as it is.
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), SUBSCRIBER_BITS), strict=False))
