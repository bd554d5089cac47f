"""Read stored payloads with the passages that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_app.answers import packing
from qa_app.answers.payload import Payload, with_added
from qa_app.models import Answer, StoredPassage


def restore_payload(stored: Mapping[str, Any]) -> Payload:
    """Return a stored payload as clients see it; fields missing from an earlier release are empty."""
    keys = packing.digests(stored)
    rows = StoredPassage.objects.filter(digest__in=keys).values("digest", *packing.SHARED) if keys else ()
    passages = {row["digest"]: {name: row[name] for name in packing.SHARED} for row in rows}
    return with_added(packing.unpack(stored, passages))


def restore_drafts(answer: Answer) -> list[Payload]:
    """Return the unpacked drafts of an answer."""
    return packing.unpack_drafts(answer.drafts, restore_payload(answer.payload)) if answer.drafts else []
