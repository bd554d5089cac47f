"""Plain words that a language model proposes on the page of a study; a person takes them over and saves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from corpus_app import hooks, search
from corpus_app.desk.base import NOT_SAVED
from corpus_app.models import Finding, Study
from corpus_app.records import (
    Direction,
    Lean,
    Passage,
    PassageKind,
    ProposedWords,
    Section,
    Sentence,
    question_lines,
)
from corpus_app.records import Finding as FindingRecord

PROPOSE, TAKE = "_propose", "_take"  # the buttons: a finding's key, and the form field that a proposal goes to
FIELDS = ("plain", "asked_as")
PROPOSALS = "_proposals"  # attribute of a request: the proposals by the prefix of their form
PERMISSION = "corpus_app.change_finding"


def can_propose(request: HttpRequest) -> bool:
    """Return whether a language model is configured and this person may change findings."""
    return request.user.has_perm(PERMISSION) and hooks.find_finding_word_writer() is not None


def prepare(request: HttpRequest) -> None:
    """Handle the buttons of a posted form: ask for proposals, or put one into its field. The form is not saved then."""
    if request.method != "POST" or not {PROPOSE, TAKE} & request.POST.keys():
        return
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    shown = _posted(request)
    if TAKE in request.POST:
        _take_over(request, request.POST[TAKE])
        text = "Taken over, not saved yet: read it once more, then save."
    else:
        prefix, finding = _find(request)
        writer = hooks.find_finding_word_writer()
        if finding is None or writer is None:
            text = "There is nothing to propose words for: save the finding first."
        else:
            shown[prefix] = writer(_record(finding), _passages(finding.study))
            text = "Nothing is saved yet. What the language model proposes stands beside the finding."
    setattr(request, PROPOSALS, shown)
    setattr(request, NOT_SAVED, (text,))


def proposal_of(request: HttpRequest, prefix: str) -> ProposedWords | None:
    proposals: Mapping[str, ProposedWords] = getattr(request, PROPOSALS, {})
    return proposals.get(prefix)


def _posted(request: HttpRequest) -> dict[str, ProposedWords]:
    """Return the proposals that the page showed before, by the prefix of their form."""
    found: dict[str, dict[str, str]] = {}
    for name, value in request.POST.items():
        prefix, _, field = name.removeprefix("proposed-").rpartition("-")
        if name.startswith("proposed-") and field in FIELDS:
            found.setdefault(prefix, {})[field] = str(value)
    return {
        prefix: ProposedWords(fields.get("plain", ""), tuple(question_lines(fields.get("asked_as", ""))))
        for prefix, fields in found.items()
    }


def _take_over(request: HttpRequest, name: str) -> None:
    """Put a proposal into its field of the posted form; questions are added to those there are."""
    posted = request.POST.copy()
    proposed = str(posted.get(f"proposed-{name}", ""))
    if name.endswith("-asked_as"):
        proposed = "\n".join(dict.fromkeys(question_lines(f"{posted.get(name, '')}\n{proposed}")))
    if name in posted and proposed:
        posted[name] = proposed
    request.POST = posted  # type: ignore[assignment]  # as Django's own actions do


def _find(request: HttpRequest) -> tuple[str, Finding | None]:
    """Return the prefix of the form whose button was pressed, and its stored finding."""
    key = request.POST[PROPOSE]
    names = [name for name, value in request.POST.items() if name.startswith("findings-") and name.endswith("-id")]
    prefix = next((name.removesuffix("-id") for name in names if request.POST[name] == key), "")
    rows = Finding.objects.select_related("study")
    return prefix, rows.filter(pk=key).first() if prefix and key.isdecimal() and len(key) < 19 else None


def _record(finding: Finding) -> FindingRecord:
    return FindingRecord(
        intervention=finding.intervention,
        comparator=finding.comparator,
        outcome=finding.outcome,
        direction=Direction(finding.direction),
        statement=finding.statement,
        finding_id=finding.pk,
        study_id=finding.study.study_id,
        plain=finding.plain,
        lean=Lean(finding.lean) if finding.lean else None,
        is_unconfirmed=finding.is_unconfirmed,
        effect=finding.effect,
    )


def _passages(study: Study) -> list[Passage]:
    concepts = list(study.studyconcept_set.order_by("position").values_list("concept_id", flat=True))
    record = search.as_record(study, concepts)
    return [
        Passage(
            passage_id=row.pk,
            version=row.version,
            study=record,
            position=row.position,
            section=Section(row.section),
            page=row.page,
            heading=row.heading,
            text=row.text,
            kind=PassageKind(row.kind),
            sentences=tuple(Sentence(sentence.start, sentence.end) for sentence in row.sentences.order_by("position")),
        )
        for row in study.passages.order_by("position").prefetch_related("sentences")
    ]


def mark_forms(request: HttpRequest, context: Mapping[str, Any]) -> None:
    """Give each form of a finding its proposal, for the template."""
    may_propose = can_propose(request)
    for inline in context.get("inline_admin_formsets", ()):
        if inline.formset.model is Finding:
            for form in inline.formset.forms:
                form.may_propose = may_propose
                form.proposal = proposal_of(request, form.prefix)
