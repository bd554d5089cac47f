"""What is copied from others is what its list says, and nothing points elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import warnings
from pathlib import Path

import django_htmx
import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import AsyncClient, override_settings

STATIC = Path(__file__).resolve().parents[2] / "static"
VENDOR = STATIC / "vendor"
OURS = ("site.css", "words.js", "site.js", "suggesting.js", "asking.js", "answer.js")
MOST_COMPRESSED = 60_000  # bytes of style and script, all that a reader's pages load
LISTED = json.loads((VENDOR / "VENDORED.json").read_text(encoding="utf-8"))


def test_vendored_files_are_as_listed_and_all_are() -> None:
    listed = {row["file"] for row in LISTED} | {row["licence_file"] for row in LISTED} | {"VENDORED.json"}

    for row in LISTED:
        assert hashlib.sha256((VENDOR / row["file"]).read_bytes()).hexdigest() == row["sha256"], row["file"]
        assert (VENDOR / row["licence_file"]).read_text(encoding="utf-8").strip()
    assert {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()} == listed


def test_our_style_and_script_are_small_and_name_no_other_host_or_missing_file() -> None:
    htmx = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"
    files = [*(STATIC / name for name in OURS), VENDOR / "pico.min.css", htmx]
    named = re.findall(r'url\("([^"]+)"\)', (STATIC / "site.css").read_text(encoding="utf-8"))

    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < MOST_COMPRESSED
    for name in OURS:
        text = (STATIC / name).read_text(encoding="utf-8")
        assert re.findall(r"https?://|//[a-z]+\.", text) == [], name
    assert named
    assert [name for name in named if not (STATIC / name).is_file()] == []


def get(path: str, **headers: str) -> HttpResponse:
    """As the asynchronous server answers, by the files as they stand."""
    with override_settings(WHITENOISE_AUTOREFRESH=True, WHITENOISE_USE_FINDERS=True):
        return async_to_sync(AsyncClient().get)(path, headers=headers)


@pytest.mark.parametrize("name", ["site.css", "asking.js", "favicon.svg"])
def test_files_are_sent_whole_by_an_asynchronous_server(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reply = get(f"/static/{name}")

    assert reply.status_code == 200
    assert not reply.streaming
    assert reply.content == (STATIC / name).read_bytes()
    assert reply["Content-Length"] == str(len(reply.content))


def test_a_file_that_is_known_is_not_sent_again_and_a_part_is_a_part() -> None:
    known = get("/static/site.css")["ETag"]

    again = get("/static/site.css", **{"If-None-Match": known})
    part = get("/static/site.css", **{"Range": "bytes=0-9"})

    assert (again.status_code, again.content) == (304, b"")
    assert (part.status_code, len(part.content)) == (206, 10)
