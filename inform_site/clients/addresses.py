"""Client addresses, trusted only as far as declared proxies report them."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
IPV6_PREFIX = 64  # what one household or machine is given: all its addresses are one client


@dataclass(frozen=True, slots=True)
class Proxies:
    """The trusted proxies in front of this process, by number of hops or by network."""

    count: int = 0
    networks: tuple[Network, ...] = ()


def read_proxies(text: str) -> Proxies:
    """Parse `2` or `10.0.0.0/8, ::1`. Raises ValueError."""
    text = text.strip()
    if text.isdecimal() and len(text) < 3:
        return Proxies(count=int(text))
    return Proxies(networks=tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip()))


def client_of(request: HttpRequest) -> str:
    """Return a keyed hash of the client's address, or of its /64; the address itself is never stored."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
    return hash_of(believed(request.META.get("REMOTE_ADDR", ""), forwarded, settings.PROXIES))


def hash_of(address: Address | None) -> str:
    """Return the name under which data of this address is stored."""
    return salted_hmac("inform.client", network_of(address), algorithm="sha256").hexdigest()[:40]


def believed(peer: str, forwarded: Sequence[str], proxies: Proxies) -> Address | None:
    """Return the farthest address that our own proxies report; None where the peer has no address (a Unix socket).

    Stop at a hop that is not an address, because anyone may have written what precedes it.
    """
    address = _read(peer)
    for hops, hop in enumerate(reversed(forwarded), start=1):
        is_ours = hops <= proxies.count or (address is not None and any(address in n for n in proxies.networks))
        before = _read(hop) if is_ours else None
        if before is None:
            break
        address = before
    return address


def network_of(address: Address | None) -> str:
    if address is None:
        return "local"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)


def _read(text: str) -> Address | None:
    """Parse an address with the brackets, port or zone that proxies add; None where it is invalid."""
    word = text.strip().strip('"')
    if word.startswith("["):
        word = word[1:].partition("]")[0]
    elif word.count(":") == 1:
        word = word.partition(":")[0]
    try:
        address = ipaddress.ip_address(word.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
