"""The small library, and what every test of the API asks."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLResolver, get_resolver

from common import waking
from inform_site.api import access
from inform_site.clients import keys
from tests.builders import make_collection, make_curator
from tests.qa.conftest import encoder, library

__all__ = ["encoder", "library"]

V1 = "/api/v1/"
NOON = datetime(2026, 6, 15, 12, 0, 20, tzinfo=UTC)
"""Twenty seconds into a minute, and half a day from midnight: what is tried here stays in one minute."""


def send(method: str, path: str, secret: str | None, headers: dict[str, str], sent: Any = None) -> HttpResponse:
    """Send a body as it is where it is bytes, else as JSON."""
    own = headers | ({} if secret is None else {"Authorization": f"Bearer {secret}"})
    data = sent if isinstance(sent, bytes) else b"" if sent is None else json.dumps(sent).encode()
    return Client(raise_request_exception=False).generic(method, path, data, "application/json", headers=own)


def get(path: str, secret: str | None = None, **headers: str) -> HttpResponse:
    return send("GET", path, secret, headers)


def post(path: str, body: Any, secret: str | None = None, **headers: str) -> HttpResponse:
    return send("POST", path, secret, headers, body)


def patch(path: str, body: Any, secret: str, version: object = None, **headers: str) -> HttpResponse:
    return send("PATCH", path, secret, headers | ({} if version is None else {"If-Match": f'"{version}"'}), body)


def delete(path: str, secret: str, version: object = None) -> HttpResponse:
    return send("DELETE", path, secret, {} if version is None else {"If-Match": f'"{version}"'})


def body(response: HttpResponse) -> Any:
    return json.loads(response.content)


@cache
def described() -> Any:
    """The committed schema."""
    return yaml.load((Path(__file__).resolve().parents[2] / "docs/openapi.yaml").read_text("utf-8"), yaml.CSafeLoader)


def routes() -> dict[str, Any]:
    """Views by their addresses, `<type:name>` written as `{name}`."""

    def walk(patterns: list[Any], before: str) -> Iterator[tuple[str, Any]]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route), pattern.callback

    return dict(walk(get_resolver().url_patterns, "/"))


def problem(response: HttpResponse, status: int, kind: str = "") -> dict[str, Any]:
    """The body of an error, after looking that it is one as RFC 9457 wants it."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    found = body(response)
    assert set(found) == {"type", "title", "status", "detail", "errors"}
    assert re.fullmatch(f"urn:inform:problem:{kind or '[a-z-]+'}", found["type"])
    assert (found["status"], bool(found["title"]), bool(found["detail"])) == (status, True, True)
    return dict(found)


@pytest.fixture
def make_key(db: None) -> Callable[..., keys.Made]:
    def made(*scopes: str, owner: User | None = None, **changes: Any) -> keys.Made:
        options: dict[str, Any] = {"name": "tests", "scopes": scopes or ("ask", "read"), "by": None, "now": NOON}
        return keys.make(owner=owner, **(options | changes))

    return made


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tasks that a worker was asked for; none is."""
    names: list[str] = []
    monkeypatch.setattr(waking, "_send", names.append)
    return names


@pytest.fixture
def curator(db: None) -> User:
    """A curator with a collection to bring studies into."""
    make_collection("training")
    return make_curator()


@pytest.fixture
def key(make_key: Callable[..., keys.Made], curator: User) -> str:
    """The curator's key."""
    return make_key("curate", owner=curator).secret


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quotas' clock stands still, so that no minute ends in mid-test."""
    monkeypatch.setattr(access.timezone, "now", lambda: NOON)
