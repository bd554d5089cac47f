"""Requests to the services that the settings name: no redirect is followed, and time and size are limited."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

MAX_REPLY_BYTES = 2_000_000  # a record has 5 to 100 KB; those with thousands of authors 1 MB


class LookupFailed(Exception):
    """A lookup without a record. `permanent` is true if a retry would not help."""

    def __init__(
        self, reason: str, *, permanent: bool, retry_after_seconds: int | None = None, not_found: bool = False
    ) -> None:
        super().__init__(reason)
        self.permanent = permanent
        self.retry_after_seconds = retry_after_seconds
        self.not_found = not_found


@dataclass(frozen=True, slots=True)
class Reply:
    content: bytes
    headers: Mapping[str, str]


def fetch(
    address: str,
    asked: Mapping[str, str],
    *,
    service: str,
    timeout_seconds: float,
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_REPLY_BYTES,
) -> Reply:
    """Fetch an address of a service. Raises LookupFailed when that does not succeed, or for another host."""
    host = urlsplit(address).hostname or ""
    if host != urlsplit(service).hostname:
        raise LookupFailed(f"{host} is not one of the services that are asked.", permanent=True)
    ends = time.monotonic() + timeout_seconds
    try:
        with (
            httpx2.Client(
                timeout=timeout_seconds,
                follow_redirects=False,
                trust_env=False,
                headers={"User-Agent": "InForm", **(headers or {})},
            ) as client,
            client.stream("GET", address, params=dict(asked)) as reply,
        ):
            _check(reply, host)
            content = bytearray()
            for block in reply.iter_bytes():
                content += block
                if len(content) > max_bytes:
                    raise LookupFailed(
                        f"The reply of {host} is larger than {max_bytes // 1_000_000} MB.", permanent=True
                    )
                if time.monotonic() > ends:
                    raise LookupFailed(
                        f"{host} took longer than {timeout_seconds:g} seconds; try again later.", permanent=False
                    )
            return Reply(bytes(content), {name.lower(): value for name, value in reply.headers.items()})
    except httpx2.TimeoutException:
        raise LookupFailed(
            f"{host} took longer than {timeout_seconds:g} seconds; try again later.", permanent=False
        ) from None
    except httpx2.HTTPError as error:
        raise LookupFailed(
            f"{host} cannot be reached ({type(error).__name__}); try again later.", permanent=False
        ) from None


def _check(reply: httpx2.Response, host: str) -> None:
    if reply.status_code == 200:
        return
    if reply.status_code in {400, 404, 410}:
        raise LookupFailed(f"{host} has no such record.", permanent=True, not_found=True)
    if reply.status_code == 429 or reply.status_code >= 500:
        wait = reply.headers.get("retry-after", "")
        raise LookupFailed(
            f"{host} is busy ({reply.status_code}); try again later.",
            permanent=False,
            retry_after_seconds=int(wait) if wait.isdigit() else None,
        )
    if 300 <= reply.status_code < 400:
        raise LookupFailed(
            f"{host} answered with a redirection, which is not followed; look at the address in the settings.",
            permanent=True,
        )
    raise LookupFailed(f"{host} refused the question ({reply.status_code}).", permanent=True)
