"""Add how readers ask: a curated question, or another name of a concept."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from corpus_app.curation.acts import CurationError, act
from corpus_app.curation.entries import save_entry
from corpus_app.curation.studies import revise_study
from corpus_app.models import Concept, ConceptAlias, Finding
from corpus_app.records import QUESTION_LETTERS


def add_question(
    study_id: str, question: str, *, finding_id: int | None = None, by: User | None, by_name: str = ""
) -> None:
    """Add a curated question to a study, or to this finding of it.

    Raises CurationError, and ValidationError for a text that is no question of one line.
    """
    question = " ".join(question.split())
    if not 0 < len(question) <= QUESTION_LETTERS:
        raise ValidationError(f"A question has 1 to {QUESTION_LETTERS} characters; this one has {len(question)}.")
    with act(by=by, by_name=by_name) as current:
        study = current.study(study_id)
        if finding_id is None:
            revise_study(study_id, by=by, by_name=by_name, asked_as=_with(study.questions, question))
            return
        finding = Finding.objects.filter(pk=finding_id, study=study).first()
        if finding is None:
            raise CurationError(f"{study_id} has this finding no more. Add the question on the page of the study.")
        finding.asked_as = _with(finding.questions, question)
        finding.full_clean()
        save_entry(finding, by=by, by_name=by_name)


def _with(questions: list[str], question: str) -> str:
    return "\n".join(dict.fromkeys([*questions, question]))


def add_alias(concept_id: str, name: str, *, by: User | None, by_name: str = "") -> None:
    """Add another name to a concept. Raises CurationError, and ValidationError where a concept has it already."""
    with act(by=by, by_name=by_name):
        concept = Concept.objects.filter(pk=concept_id).first()
        if concept is None:
            raise CurationError(f"There is no concept {concept_id} any more.")
        alias = ConceptAlias(concept=concept, name=" ".join(name.split()))
        alias.full_clean(exclude=["position"])
        save_entry(alias, by=by, by_name=by_name)
