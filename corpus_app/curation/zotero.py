"""Zotero libraries that curators connect: their collections, and the items of one, page by page.

Requests go only to ZOTERO_URL, with the owner's key in a header. The worker keeps each page in the job's content.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import sleep, time
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from common.encryption import CannotDecrypt, decrypt, encrypt
from corpus_app.curation.acts import CurationError
from corpus_app.curation.fetching import LookupFailed, Reply, fetch
from corpus_app.models import ImportItem, ImportJob, ZoteroLibrary

PURPOSE = "zotero"
PAGE_ITEMS = 100  # the most that Zotero gives at once
MAX_PAGE_BYTES = 20_000_000
MAX_ITEMS = 10_000  # of one import
MAX_RESTARTS = 3  # when the library changes while it is read
MAX_TRIES = 5  # of one page
LONGEST_WAIT_SECONDS = 60  # that Zotero may ask for before the import ends and is tried again by hand
_SLEEP_SECONDS = 5.0  # at most at once, so that a worker can be stopped
_ORDER = b'{"library"'  # how the content of a job begins until its items are fetched
_LIBRARY = re.compile(r"(users|groups)/\d{1,12}")
_KEY = re.compile(r"[A-Za-z0-9]{16,64}")
_COLLECTION = re.compile(r"[A-Z0-9]{8}")


@dataclass(frozen=True, slots=True)
class ZoteroCollection:
    key: str
    name: str
    """With the names of the collections around it: `Cities > Trees`."""
    items: int


def connect(owner: User, library: str, key: str) -> ZoteroLibrary:
    """Store a library's key for its owner, encrypted. Raises CurationError."""
    if not _LIBRARY.fullmatch(library):
        raise CurationError("A library is named by digits: see zotero.org/settings/keys, or the address of the group.")
    if not _KEY.fullmatch(key):
        raise CurationError("A key of Zotero has letters and digits only: make one at zotero.org/settings/keys.")
    values = {"encrypted_key": encrypt(key, purpose=PURPOSE)}
    return ZoteroLibrary.objects.update_or_create(owner=owner, library=library, defaults=values)[0]


def collections(library: ZoteroLibrary) -> list[ZoteroCollection]:
    """Fetch the collections of a library, in the order of their names. Raises LookupFailed."""
    found = {row["key"]: row for row in _all_collections(library)}
    named = (
        ZoteroCollection(key, _path(key, found), int(row.get("meta", {}).get("numItems", 0)))
        for key, row in found.items()
    )
    return sorted(named, key=lambda one: one.name.casefold())


def _path(key: str, found: Mapping[str, Mapping[str, Any]]) -> str:
    names: list[str] = []
    seen: set[str] = set()
    while key in found and key not in seen:
        seen.add(key)
        names.append(str(found[key]["data"].get("name") or key))
        key = str(found[key]["data"].get("parentCollection") or "")
    return " > ".join(reversed(names))


def _all_collections(library: ZoteroLibrary) -> Iterator[dict[str, Any]]:
    for start in range(0, MAX_ITEMS, PAGE_ITEMS):
        reply = _get(library, "collections", {"start": str(start), "limit": str(PAGE_ITEMS)})
        rows = _rows(reply)
        yield from rows
        if start + len(rows) >= _number(reply, "total-results"):
            return


def request_of(library: ZoteroLibrary, collection: str, *, only_changes: bool) -> bytes:
    """Return what an import job keeps of an order, until a worker has fetched the items. Raises CurationError."""
    if not _COLLECTION.fullmatch(collection):
        raise CurationError("Choose a collection.")
    since = last_version(library, collection) if only_changes else 0
    return json.dumps({"library": library.pk, "collection": collection, "since": since}).encode()


def last_version(library: ZoteroLibrary, collection: str) -> int:
    """Return the version whose items have come in; 0 if none have. An import that was left does not count."""
    last = library.versions.get(collection)
    if not last:
        return 0
    job = ImportJob.objects.filter(pk=last["job"]).defer("content", "problems").first()
    is_left = False
    if job is not None:
        outcomes = set(job.items.order_by().values_list("outcome", flat=True).distinct())
        is_waiting = job.status in {ImportJob.Status.PREVIEWED, ImportJob.Status.FAILED}
        is_left = is_waiting or (ImportItem.Outcome.LEFT in outcomes and outcomes <= {"", ImportItem.Outcome.LEFT})
    return int(last["before"] if is_left else last["version"])


def is_fetched(job: ImportJob) -> bool:
    return not bytes(job.content).startswith(_ORDER)


def fetch_page(job: ImportJob) -> bool:
    """Fetch the next page of a job's items and store it; return whether there are more. Raises LookupFailed."""
    state = json.loads(bytes(job.content))
    library = ZoteroLibrary.objects.filter(pk=state["library"], owner=job.asked_by).first()
    if library is None:
        raise LookupFailed("The connection to Zotero was removed: connect the library again.", permanent=True)
    if (wait := state.get("wait_until", 0) - time()) > 0:
        sleep(min(wait, _SLEEP_SECONDS))
        return True
    if "names" not in state:
        state |= {"names": {one.key: one.name for one in collections(library)}, "items": [], "restarts": 0, "tries": 0}
    asked = {
        "start": str(len(state["items"])), "limit": str(PAGE_ITEMS), "since": str(state["since"]),
        "sort": "dateAdded", "direction": "asc",
    }  # fmt: skip
    try:
        reply = _get(library, f"collections/{state['collection']}/items/top", asked)
        rows = _rows(reply)
    except LookupFailed as failed:
        state["tries"] += 1
        if failed.permanent or state["tries"] >= MAX_TRIES or not _wait(state, failed.retry_after_seconds or 1):
            raise
        _store(job, state)
        return True
    state["tries"] = 0
    version = _number(reply, "last-modified-version")
    if state.setdefault("version", version) != version and state["restarts"] < MAX_RESTARTS:
        state |= {"version": version, "items": [], "restarts": state["restarts"] + 1}
        _store(job, state)
        return True
    state["items"] += [_with_names(row, state["names"]) for row in rows]
    if not _wait(state, _number(reply, "backoff")):
        state["wait_until"] = time() + LONGEST_WAIT_SECONDS
    has_more = bool(rows) and len(state["items"]) < min(_number(reply, "total-results"), MAX_ITEMS)
    if has_more:
        _store(job, state)
        return True
    _finish(job, library, state)
    return False


def count_fetched(job: ImportJob) -> int:
    return len(json.loads(bytes(job.content)).get("items", ()))


def _with_names(row: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    data = row["data"]
    data["collectionNames"] = [names[key] for key in data.get("collections", ()) if key in names]
    return {"key": row.get("key"), "data": data}


def _wait(state: dict[str, Any], seconds: int) -> bool:
    """Put the next request off; return whether the wait is one that an import can last."""
    if seconds:
        state["wait_until"] = time() + seconds
    return seconds <= LONGEST_WAIT_SECONDS


def _store(job: ImportJob, state: Mapping[str, Any]) -> None:
    job.content = json.dumps(state).encode()
    ImportJob.objects.filter(pk=job.pk).update(content=job.content)


def _finish(job: ImportJob, library: ZoteroLibrary, state: Mapping[str, Any]) -> None:
    """Keep the items as the job's file, one a line, and the version of the library."""
    job.content = b"\n".join(json.dumps(item).encode() for item in state["items"]) or b"[]"
    job.content_hash = hashlib.sha256(job.content).hexdigest()
    ImportJob.objects.filter(pk=job.pk).update(content=job.content, content_hash=job.content_hash)
    before = last_version(library, state["collection"])
    library.versions[state["collection"]] = {"version": state["version"], "job": job.pk, "before": before}
    library.save(update_fields=["versions"])


def _get(library: ZoteroLibrary, path: str, asked: Mapping[str, str]) -> Reply:
    try:
        key = decrypt(library.encrypted_key, purpose=PURPOSE)
    except CannotDecrypt:
        reason = (
            "The key cannot be read any more, because the site's SECRET_KEY has changed: connect the library again."
        )
        raise LookupFailed(reason, permanent=True) from None
    service = settings.ZOTERO_URL
    return fetch(
        f"{service.rstrip('/')}/{library.library}/{path}",
        {"format": "json", **asked},
        service=service,
        timeout_seconds=settings.LOOKUP_TIMEOUT_SECONDS,
        headers={"Zotero-API-Key": key, "Zotero-API-Version": "3"},
        max_bytes=MAX_PAGE_BYTES,
    )


def _rows(reply: Reply) -> list[dict[str, Any]]:
    """Return the rows of a page. Raises LookupFailed when the reply is in another form."""
    try:
        rows = json.loads(reply.content)
        if isinstance(rows, list) and all(isinstance(row["data"], dict) and row["key"] for row in rows):
            return rows
    except (ValueError, RecursionError, KeyError, TypeError):
        pass
    raise LookupFailed("Zotero's reply is not in the form that is known.", permanent=True)


def _number(reply: Reply, name: str) -> int:
    value = reply.headers.get(name, "")
    return int(value) if value.isdigit() else 0
