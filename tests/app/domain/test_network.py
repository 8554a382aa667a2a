"""Whose a network address is."""

import pytest

from app.domain.network import network_of


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:DB8:0:1:ffff::9", "2001:db8:0:1::/64"),
        ("2001:db8:0:2::1", "2001:db8:0:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("unknown", "unknown"),
    ],
)
def test_an_address_of_ipv6_counts_with_its_network(address: str, network: str) -> None:
    assert network_of(address) == network
