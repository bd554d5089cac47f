"""Send signed messages to clients (standardwebhooks.com), at public addresses only, whatever their names resolve to."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

import httpx2
from django.conf import settings

PREFIX = "whsec_"
TIMEOUT = httpx2.Timeout(10, connect=5)  # seconds
MAX_ADDRESSES = 3  # of a host that are tried one after the other
MAX_URL_LENGTH = 2_000  # characters
TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2002::/16"))
"""IPv6 networks that lead to IPv4 addresses, private ones among them (RFC 6052, RFC 3056)."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class BadAddress(ValueError):
    """An address that nothing is sent to."""


class NotTaken(Exception):
    """A message that its receiver did not take."""


class Unwanted(Exception):
    """A receiver that wants no more messages (410)."""


def check(url: str) -> SplitResult:
    """Return the parts of an address that may be a webhook; its name is not resolved. Raises BadAddress."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise BadAddress("Send the address of your server, as https://host/path.") from None
    is_clean = url.isascii() and url.isprintable() and " " not in url and len(url) <= MAX_URL_LENGTH
    if not is_clean or not host or parts.username is not None or parts.scheme not in _schemes():
        raise BadAddress("Send the address of your server, as https://host/path.")
    literal = _read(host)
    if literal is not None and not is_allowed(literal):
        raise BadAddress("Send a public address: this one is private.")
    return parts


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of this host. Raises BadAddress where one of them is private."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise BadAddress(f"{host} has no address.") from None
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    if not addresses or not all(map(is_allowed, addresses)):
        raise BadAddress(f"{host} leads to a private address.")
    return list(dict.fromkeys(addresses))[:MAX_ADDRESSES]


def is_allowed(address: Address) -> bool:
    """Return whether a webhook may go to this address: a public one, or one of INFORM_WEBHOOK_NETWORKS."""
    address = getattr(address, "ipv4_mapped", None) or address
    if _is_own(address):
        return True
    return address.is_global and not address.is_multicast and not any(address in network for network in TRANSLATED)


def prepare(url: str, body: bytes, *, secret: str, message_id: str, now: datetime) -> Callable[[], None]:
    """Sign a message, resolve its receiver, and return a function that sends it. Raises BadAddress.

    The function connects to the addresses that were checked, so that a name cannot resolve to others meanwhile. It
    raises NotTaken and Unwanted.
    """
    parts = check(url)
    host, is_secret = str(parts.hostname), parts.scheme == "https"
    addresses = resolve(host, parts.port or (443 if is_secret else 80))
    if settings.PRODUCTION and not is_secret and not all(map(_is_own, addresses)):
        raise BadAddress(f"{host} is public: its address must begin with https.")
    headers = sign(body, secret=secret, message_id=message_id, now=now) | {
        "Content-Type": "application/json", "Host": parts.netloc, "User-Agent": "InForm",
    }  # fmt: skip
    urls = [httpx2.URL(url).copy_with(host=str(address)) for address in addresses]
    return partial(_post, urls, body, headers, host)


def sign(body: bytes, *, secret: str, message_id: str, now: datetime) -> dict[str, str]:
    """Return the headers that prove a message: its id, the time, and an HMAC-SHA256 of both and the body."""
    at = str(int(now.timestamp()))
    key = base64.b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, b".".join((message_id.encode(), at.encode(), body)), hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _post(urls: Sequence[httpx2.URL], body: bytes, headers: Mapping[str, str], host: str) -> None:
    with httpx2.Client(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client:
        for n, url in enumerate(urls, start=1):
            try:
                status = _status_of(client, url, body, headers, host)
                break
            except httpx2.HTTPError as error:
                is_unconnected = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                if n == len(urls) or not is_unconnected:
                    raise NotTaken(f"{host} cannot be reached ({type(error).__name__}).") from None
    if status == HTTPStatus.GONE:
        raise Unwanted
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise NotTaken(f"{host} answered with {status}.")


def _status_of(client: httpx2.Client, url: httpx2.URL, body: bytes, headers: Mapping[str, str], host: str) -> int:
    """Post a message and return the status of the reply, whose body is not read; the certificate is the host's."""
    extensions = {"sni_hostname": host}
    with client.stream("POST", url, content=body, headers=dict(headers), extensions=extensions) as reply:
        return int(reply.status_code)


def _is_own(address: Address) -> bool:
    own: list[Network] = settings.WEBHOOK_NETWORKS
    return any((getattr(address, "ipv4_mapped", None) or address) in network for network in own)


def _schemes() -> frozenset[str]:
    return frozenset({"https"} if settings.PRODUCTION and not settings.WEBHOOK_NETWORKS else {"https", "http"})


def _read(host: str) -> Address | None:
    """Return a host that is an IP address; None where it is a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
