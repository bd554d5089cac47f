"""Normalisation of typed identifiers and authors. Each function raises ValidationError with a message for the user."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from common.dois import normal_doi
from corpus_app.sources import doi_fault, pmid_fault, url_fault

DOI_EXAMPLE = "10.1519/jsc.0000000000002776"


def clean_doi(typed: str | None) -> str | None:
    typed = (typed or "").strip()
    doi = normal_doi(typed)
    is_sound = not typed or (doi and not doi_fault(doi))
    return _checked(doi, None if is_sound else f"“{typed}” is not a DOI; it should look like {DOI_EXAMPLE}.")


def clean_pmid(typed: str | None) -> str | None:
    pmid = (typed or "").strip()
    is_sound = not pmid or not pmid_fault(pmid)
    return _checked(pmid, None if is_sound else f"“{pmid}” is not a PMID: a PMID has digits only.")


def clean_url(typed: str | None) -> str | None:
    url = (typed or "").strip()
    return _checked(url, url_fault(url) if url else None)


def clean_authors(authors: Sequence[str]) -> list[str]:
    if any(";" in author for author in authors):
        raise ValidationError("Give each author a line of their own, without semicolons.")
    return list(authors)


def _checked(value: str, fault: str | None) -> str | None:
    if fault:
        raise ValidationError(fault)
    return value or None
