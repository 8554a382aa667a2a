"""Check the text of an address before it is asked: exactly the checked address is sent."""

import re
from collections.abc import Sequence
from ipaddress import ip_address

from yarl import URL

from app.outgoing.addresses import IPAddress, IPNetwork, refusal_of
from app.outgoing.errors import AddressRefused

SCHEMES = ("http", "https")
PORTS = frozenset({80, 443, 8000, 8080, 8443})
MAX_CHARS = 2_000
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMERIC = re.compile(r"\d+|0x[0-9a-f]*", re.IGNORECASE)
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_USER = re.compile(r"^[^/?#]*//[^/?#]*@")
_LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "home.arpa", "onion", "arpa")


def check_target(text: str, permitted: Sequence[IPNetwork] = (), ports: frozenset[int] = PORTS) -> URL:
    """Return the checked address, without its fragment.

    Raises:
        AddressRefused: with the reason. Names are judged by their form only; their IP addresses are judged when
            they are looked up.
    """
    text = text.strip()
    if len(text) > MAX_CHARS or _FORBIDDEN.search(text):
        raise AddressRefused("refused: the address is too long or contains blanks, control characters or backslashes")
    try:
        url = URL(text).with_fragment(None)
        port, host = url.port, (url.raw_host or "").lower()
    except (ValueError, TypeError) as error:
        raise AddressRefused("refused: this is not a web address") from error
    if url.scheme not in SCHEMES:
        raise AddressRefused("refused: only http and https addresses are read")
    if _USER.match(text) or "@" in url.raw_authority:
        raise AddressRefused("refused: the address contains a user name")
    if port not in ports:
        raise AddressRefused(f"refused: port {port} is not one of the web's")
    _check_host(host, permitted)
    return url


def parse_literal(host: str) -> IPAddress | None:
    """Return the IP address that `host` is; None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def find_literal(text: str) -> IPAddress | None:
    """Return the IP address in the place of a web address's host name, if any."""
    try:
        return parse_literal(URL(text).raw_host or "")
    except (ValueError, TypeError):
        return None


def _check_host(host: str, permitted: Sequence[IPNetwork]) -> None:
    address = parse_literal(host)
    if address is not None:
        if reason := refusal_of(address, permitted):
            raise AddressRefused(f"refused: the address is {reason}")
        return
    labels = host.split(".")
    if _NUMERIC.fullmatch(labels[-1] or labels[-2:][0]):  # "2130706433", "0x7f.1", "127.0.0.1.": numbers to some resolvers
        raise AddressRefused("refused: the host is a number in disguise")
    if len(host) > 253 or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused("refused: the host is not the full name of a public site")
    if any(host.endswith(f".{name}") for name in _LOCAL_NAMES):
        raise AddressRefused("refused: the host is a name of local networks")
