"""Lookup of a DOI at Crossref and of a PMID at PubMed; the record becomes a draft like any import's.

Requests go only to the two addresses in the settings: no redirect is followed, no other host is contacted,
and size and time of a reply are limited.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from django.conf import settings

from common.dois import find_doi, normal_doi
from corpus_app.records import Notice
from corpus_app.sources import (
    Intake,
    Item,
    Problem,
    ReadResult,
    Source,
    StudyDraft,
    collect_items,
    doi_fault,
    pmid_fault,
)
from corpus_app.sources.bibliography import Record, items_of
from corpus_app.sources.formats import PUBMED

NEITHER = "This is neither a DOI (10.1519/jsc.0000000000002776) nor a PMID (27102172)."
MAX_REPLY_BYTES = 2_000_000  # a record has 5 to 100 KB; those with thousands of authors 1 MB
_KINDS = {"posted-content": "preprint", "dissertation": "thesis", "peer-review": "review"}
_REVIEWED = frozenset({"journal-article", "proceedings-article"})
_NOTICES = {
    "retraction": Notice.RETRACTED,
    "removal": Notice.RETRACTED,
    "withdrawal": Notice.RETRACTED,
    "partial_retraction": Notice.CORRECTED,
    "correction": Notice.CORRECTED,
    "corrigendum": Notice.CORRECTED,
    "erratum": Notice.CORRECTED,
    "expression_of_concern": Notice.EXPRESSION_OF_CONCERN,
}


class LookupFailed(Exception):
    """A lookup without a record. `permanent` is true if a retry would not help."""

    def __init__(self, reason: str, *, permanent: bool, retry_after_seconds: int | None = None) -> None:
        super().__init__(reason)
        self.permanent = permanent
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True, slots=True)
class Services:
    """The addresses of the two services, and the timeout of a request."""

    crossref: str = "https://api.crossref.org"
    pubmed: str = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    contact: str = ""
    """An e-mail address, which both services request; an empty one is not sent."""
    timeout_seconds: float = 10.0


def services() -> Services:
    """Return the services as the settings configure them."""
    return Services(
        settings.CROSSREF_URL, settings.PUBMED_URL, settings.LOOKUP_CONTACT, settings.LOOKUP_TIMEOUT_SECONDS
    )


def lookup_fault(value: str) -> str | None:
    """Return why this cannot be looked up; None for a DOI or a PMID, bare or in a URL."""
    return None if _pmid_in(value) or _doi_in(value) else NEITHER


def look_up(value: str, intake: Intake, services: Services) -> ReadResult:
    """Fetch the record of a DOI or a PMID, bare or in a URL. Raises LookupFailed."""
    if pmid := _pmid_in(value):
        return _by_pmid(pmid, intake, services)
    if doi := _doi_in(value):
        return _by_doi(doi, intake, services)
    raise LookupFailed(NEITHER, permanent=True)


def _pmid_in(value: str) -> str:
    bare = re.sub(
        r"^(?:pmid:?\s*|https?://(?:pubmed\.ncbi\.nlm\.nih\.gov|www\.ncbi\.nlm\.nih\.gov/pubmed)/)|/$",
        "",
        value.strip(),
        flags=re.IGNORECASE,
    )
    return "" if pmid_fault(bare) else bare


def _doi_in(value: str) -> str:
    doi = find_doi(value.strip())
    return doi if doi and not doi_fault(doi) else ""


def _by_doi(doi: str, intake: Intake, services: Services) -> ReadResult:
    address = f"{services.crossref.rstrip('/')}/works/{quote(doi, safe='')}"
    content = _get(address, {"mailto": services.contact} if services.contact else {}, services)
    name = f"Crossref {doi}"
    try:
        message = json.loads(content)["message"]
        record = record_of(message, name)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError, IndexError):
        raise LookupFailed(
            "Crossref's reply is not in the form that is known; enter the study by hand.", permanent=True
        ) from None
    if doi not in {find_doi(found) for found in record.dois}:
        raise LookupFailed(f"Crossref answered with another record than {doi}.", permanent=True)
    return collect_items("Crossref", items_of(record, intake))


def _by_pmid(pmid: str, intake: Intake, services: Services) -> ReadResult:
    asked = {"db": "pubmed", "id": pmid, "retmode": "xml", "tool": "inform"} | (
        {"email": services.contact} if services.contact else {}
    )
    content = _get(f"{services.pubmed.rstrip('/')}/efetch.fcgi", asked, services)
    found: list[Item] = [*PUBMED.items(Source(f"PubMed {pmid}", content), intake)]
    if not any(isinstance(item, StudyDraft) and item.pmid == pmid for item in found) and all(
        isinstance(item, Problem | StudyDraft) for item in found
    ):
        raise LookupFailed(f"PubMed has no record {pmid}.", permanent=True)
    return collect_items("PubMed", found)


def _get(address: str, asked: dict[str, str], services: Services) -> bytes:
    """Fetch an address of one of the services. Raises LookupFailed when that does not succeed."""
    host = urlsplit(address).hostname or ""
    if host not in {urlsplit(services.crossref).hostname, urlsplit(services.pubmed).hostname}:
        raise LookupFailed(f"{host} is not one of the services that are asked.", permanent=True)
    ends = time.monotonic() + services.timeout_seconds
    try:
        with (
            httpx2.Client(
                timeout=services.timeout_seconds,
                follow_redirects=False,
                trust_env=False,
                headers={"User-Agent": "InForm"},
            ) as client,
            client.stream("GET", address, params=asked) as reply,
        ):
            _check(reply, host)
            content = bytearray()
            for block in reply.iter_bytes():
                content += block
                if len(content) > MAX_REPLY_BYTES:
                    raise LookupFailed(
                        f"The reply of {host} is larger than {MAX_REPLY_BYTES // 1_000_000} MB.", permanent=True
                    )
                if time.monotonic() > ends:
                    raise LookupFailed(
                        f"{host} took longer than {services.timeout_seconds:g} seconds; try again later.",
                        permanent=False,
                    )
            return bytes(content)
    except httpx2.TimeoutException:
        raise LookupFailed(
            f"{host} took longer than {services.timeout_seconds:g} seconds; try again later.", permanent=False
        ) from None
    except httpx2.HTTPError as error:
        raise LookupFailed(
            f"{host} cannot be reached ({type(error).__name__}); try again later.", permanent=False
        ) from None


def _check(reply: httpx2.Response, host: str) -> None:
    if reply.status_code == 200:
        return
    if reply.status_code in {400, 404, 410}:
        raise LookupFailed(f"{host} has no such record.", permanent=True)
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


def record_of(message: dict[str, Any], file: str) -> Record:
    """Return the record of a work in Crossref's JSON."""
    subtitle = _first(message.get("subtitle"))
    title = _first(message.get("title"))
    issued = message.get("issued") or message.get("published") or {}
    year = next((str(parts[0]) for parts in issued.get("date-parts") or [] if parts and parts[0]), "")
    kind = str(message.get("type") or "")
    record = Record(
        file,
        1,
        title=f"{title}: {subtitle}" if subtitle and subtitle.lower() not in title.lower() else title,
        authors=[_name(author) for author in message.get("author") or []],
        year=year,
        journal=_first(message.get("container-title")),
        dois=[str(message["DOI"])],
        abstract=[("", _paragraphs(str(message["abstract"])))] if message.get("abstract") else [],
        kinds=[_KINDS.get(kind, "")],
        is_reviewed=kind in _REVIEWED,
        licence=next(
            (name for found in message.get("license") or [] if (name := _licence(str(found.get("URL") or "")))), ""
        ),
    )
    for update in message.get("update-to") or []:
        if (notice := _NOTICES.get(str(update.get("type")).lower())) and update.get("DOI"):
            record.notices_of.append((notice, normal_doi(str(update["DOI"])), ""))
    for update in message.get("updated-by") or []:
        notice = _NOTICES.get(str(update.get("type")).lower())
        if notice and record.notice is not Notice.RETRACTED:
            record.notice, record.notice_reason = (
                notice,
                f"Crossref: {update.get('label') or update.get('type')}, https://doi.org/{update.get('DOI')}",
            )
    return record


def _first(values: Any) -> str:
    return str(values[0]) if isinstance(values, list) and values else ""


def _name(author: dict[str, Any]) -> str:
    if body := author.get("name"):
        return "{" + str(body) + "}"
    return f"{author.get('family') or ''}, {author.get('given') or ''}".strip(", ")


def _paragraphs(abstract: str) -> str:
    """Split a JATS abstract at its titles and paragraphs."""
    return re.sub(
        r"</?jats:(?:p|sec|title)\b[^<>]*>",
        "\n\n",
        re.sub(r"<jats:title>\s*Abstract\s*</jats:title>", "", abstract, flags=re.IGNORECASE),
    )


def _licence(address: str) -> str:
    match = re.search(r"creativecommons\.org/licenses/([a-z-]+)/([\d.]+)", address)
    return f"CC {match[1].upper()} {match[2]}" if match else ""
