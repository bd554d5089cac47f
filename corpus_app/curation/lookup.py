"""Lookup of DOIs at Crossref and of PMIDs and PMC ids at PubMed; a record becomes a draft like any import's.

Requests go only to the two addresses in the settings.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings

from common.dois import find_doi, normal_doi
from corpus_app.curation.fetching import MAX_REPLY_BYTES as MAX_REPLY_BYTES
from corpus_app.curation.fetching import LookupFailed as LookupFailed
from corpus_app.curation.fetching import fetch
from corpus_app.records import Notice
from corpus_app.sources import Intake, ReadResult, Refused, Source, collect_items, jats, pubmed
from corpus_app.sources.bibliography import Item, Record, items_of
from corpus_app.sources.identifier_lists import Identifier, Scheme, identifier_of, identifiers_in

NEITHER = "This is neither a DOI (10.1519/jsc.0000000000002776) nor a PMID (27102172) nor a PMC id (PMC4836564)."
MAX_ARTICLES_BYTES = 30_000_000  # of the records or full texts of one batch
BATCH = {Scheme.DOI: 1, Scheme.PMID: 50, Scheme.PMCID: 5, Scheme.UNKNOWN: 50}  # asked for at once
INTERVAL_SECONDS = {Scheme.DOI: 0.1, Scheme.PMID: 0.34, Scheme.PMCID: 0.34}  # between requests, as the services ask
MOST_FAILURES = 3  # requests in a row to one service, after which it is left alone
LONGEST_WAIT_SECONDS = 5  # for a service that says when it is free again
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
    """Return why nothing in this can be looked up; None where it names a DOI, a PMID or a PMC id."""
    found = identifiers_in(value)
    return None if any(one.scheme is not Scheme.UNKNOWN for one in found) else NEITHER


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply of a service about one identifier: its record, or the reason why there is none."""

    identifier: Identifier
    items: tuple[Item, ...] = ()
    reason: str = ""
    can_retry: bool = False
    """Whether the service failed, rather than the identifier."""


def look_up(value: str, intake: Intake, services: Services) -> ReadResult:
    """Fetch the record of a DOI, a PMID or a PMC id, bare or in a URL. Raises LookupFailed."""
    identifier = identifier_of(value)
    (found,) = _ask([identifier], intake, services)
    if found.reason:
        raise LookupFailed(found.reason, permanent=True, not_found=True)
    return collect_items(SERVICE_NAMES[identifier.scheme], found.items)


SERVICE_NAMES = {Scheme.DOI: "Crossref", Scheme.PMID: "PubMed", Scheme.PMCID: "PubMed Central"}


class Asker:
    """Requests to the services in turn: at their pace, and not to one that fails again and again."""

    def __init__(self, intake: Intake, services: Services) -> None:
        self._intake = intake
        self._services = services
        self._asked_at = dict.fromkeys(Scheme, 0.0)
        self._failures = dict.fromkeys(Scheme, 0)

    def answers(self, identifiers: Sequence[Identifier]) -> Iterator[Answer]:
        """Ask for identifiers of one scheme at once; a batch that fails is asked for one by one."""
        scheme = identifiers[0].scheme
        if self._failures[scheme] >= MOST_FAILURES:
            words = f"{SERVICE_NAMES[scheme]} failed {MOST_FAILURES} times in a row and was not asked; try again later."
            yield from (Answer(one, (), words, can_retry=True) for one in identifiers)
            return
        try:
            yield from self._ask(identifiers)
        except LookupFailed as failed:
            if failed.permanent and len(identifiers) > 1:
                for one in identifiers:
                    yield from self.answers([one])
            else:
                yield from (Answer(one, (), str(failed), can_retry=not failed.not_found) for one in identifiers)

    def _ask(self, identifiers: Sequence[Identifier]) -> list[Answer]:
        scheme = identifiers[0].scheme
        try:
            try:
                self._wait(scheme, INTERVAL_SECONDS.get(scheme, 0))
                found = _ask(identifiers, self._intake, self._services)
            except LookupFailed as failed:
                if failed.retry_after_seconds is None or failed.retry_after_seconds > LONGEST_WAIT_SECONDS:
                    raise
                self._wait(scheme, failed.retry_after_seconds)
                found = _ask(identifiers, self._intake, self._services)
        except LookupFailed as failed:
            self._failures[scheme] += not failed.permanent
            raise
        self._failures[scheme] = 0
        return found

    def _wait(self, scheme: Scheme, seconds: float) -> None:
        time.sleep(max(0.0, self._asked_at[scheme] + seconds - time.monotonic()))
        self._asked_at[scheme] = time.monotonic()


def _ask(identifiers: Sequence[Identifier], intake: Intake, services: Services) -> list[Answer]:
    """Ask for identifiers of one scheme. Raises LookupFailed."""
    match identifiers[0].scheme:
        case Scheme.DOI:
            return [Answer(one, _by_doi(one.value, intake, services)) for one in identifiers]
        case Scheme.PMID:
            return _by_pmids(identifiers, intake, services)
        case Scheme.PMCID:
            return _by_pmcids(identifiers, intake, services)
    if len(identifiers) == 1:
        raise LookupFailed(NEITHER, permanent=True, not_found=True)
    return [Answer(one, (), NEITHER) for one in identifiers]


def _by_doi(doi: str, intake: Intake, services: Services) -> tuple[Item, ...]:
    address = f"{services.crossref.rstrip('/')}/works/{quote(doi, safe='')}"
    asked = {"mailto": services.contact} if services.contact else {}
    content = fetch(address, asked, service=services.crossref, timeout_seconds=services.timeout_seconds).content
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
    return tuple(items_of(record, intake))


def _by_pmids(identifiers: Sequence[Identifier], intake: Intake, services: Services) -> list[Answer]:
    content = _efetch("pubmed", identifiers, services)
    found: dict[str, tuple[Item, ...]] = {}
    try:
        for record in pubmed.records(Source("PubMed", content)):
            found[record.pmid] = tuple(items_of(record, intake))
    except Refused as refused:
        raise LookupFailed(f"PubMed's reply {refused.reason}", permanent=True) from None
    missing = "PubMed has no record {}."
    return [_answer(one, found.get(one.value, ()), missing) for one in identifiers]


def _by_pmcids(identifiers: Sequence[Identifier], intake: Intake, services: Services) -> list[Answer]:
    """Return articles of PubMed Central: the full text of the open ones, the abstract of the others."""
    content = _efetch("pmc", identifiers, services)
    found: dict[str, tuple[Item, ...]] = {}
    try:
        for pmcid, record in jats.records(Source("PubMed Central", content)):
            found[pmcid] = tuple(items_of(record, intake))
    except Refused as refused:
        raise LookupFailed(f"PubMed Central's reply {refused.reason}", permanent=True) from None
    missing = "PubMed Central has no article PMC{}."
    return [_answer(one, found.get(one.value, ()), missing) for one in identifiers]


def _answer(identifier: Identifier, items: tuple[Item, ...], missing: str) -> Answer:
    return Answer(identifier, items, "" if items else missing.format(identifier.value))


def _efetch(database: str, identifiers: Sequence[Identifier], services: Services) -> bytes:
    asked = {
        "db": database,
        "id": ",".join(one.value for one in identifiers),
        "retmode": "xml",
        "tool": "inform",
    } | ({"email": services.contact} if services.contact else {})
    return fetch(
        f"{services.pubmed.rstrip('/')}/efetch.fcgi",
        asked,
        service=services.pubmed,
        timeout_seconds=services.timeout_seconds,
        max_bytes=MAX_REPLY_BYTES if database == "pubmed" and len(identifiers) == 1 else MAX_ARTICLES_BYTES,
    ).content


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
