"""Carry out proposals that a curator accepts: the corpus's curation, as questions and answers call it."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from corpus_app import curation

NOT_YOURS = "You may not change this in the corpus. Ask a curator who may."


def add_question(study_id: str, finding_id: int | None, question: str, by: User) -> str | None:
    """Add a curated question; return why it was refused, None where it was not."""
    needed = "corpus_app.change_study" if finding_id is None else "corpus_app.change_finding"
    return _try(needed, by, lambda: curation.add_question(study_id, question, finding_id=finding_id, by=by))


def add_alias(concept_id: str, name: str, by: User) -> str | None:
    """Add an alias to a concept; return why it was refused, None where it was not."""
    return _try("corpus_app.add_conceptalias", by, lambda: curation.add_alias(concept_id, name, by=by))


def _try(permission: str, by: User, write: Callable[[], None]) -> str | None:
    if not by.has_perm(permission):
        return NOT_YOURS
    try:
        write()
    except curation.CurationError as error:
        return str(error)
    except ValidationError as error:
        return " ".join(error.messages)
    return None
