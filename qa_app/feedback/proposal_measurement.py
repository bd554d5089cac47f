"""Measure proposals on the golden questions, before and after, without storing the change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from django.db import IntegrityError, transaction

from corpus_app import search
from qa_app.answers import answering
from qa_app.evaluation import golden_runs, golden_set
from qa_app.evaluation.golden_set import Golden
from qa_app.feedback import proposals
from qa_app.models import EvaluationRun, GoldenQuestion, Proposal, question_key
from qa_app.pipeline import policy as policies
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Outcome

Row = Mapping[str, Any]
"""The result of one golden question, as a run stores it."""
Fits = Callable[[Golden, Row], bool]


def measure_next() -> bool:
    """Measure the waiting proposal with the most evidence; return whether one was measured.

    The figures before it are those of a run of the present corpus, which is asked for where there is none. Raises
    search.EncoderUnavailable.
    """
    waiting = Proposal.objects.filter(status=Proposal.Status.WAITING)
    if not waiting.exists():
        return False
    run = golden_runs.current_run()
    if run is None:
        try:
            golden_runs.request_run()
        except golden_runs.NoGoldenQuestions:
            waiting.update(status=Proposal.Status.OPEN, figures={}, changes=[], run=None)
        return False
    with transaction.atomic():
        proposal = waiting.select_for_update(skip_locked=True, of=("self",)).first()
        if proposal is not None:
            _measure(proposal, run)
    return proposal is not None


def _measure(proposal: Proposal, run: EvaluationRun) -> None:
    """Store the figures of a proposal; forget one that the corpus cannot take any more."""
    before = {row["id"]: row for row in run.results}
    rows = GoldenQuestion.objects.filter(is_active=True, key__in=before)
    golden = [golden_set.golden_of(row.as_row()) for row in rows if row.question == before[row.key]["question"]]
    policy, change = _trial(proposal)
    try:
        with change:
            results = golden_set.evaluate(golden, policy=policy, on_progress=lambda done: None)
    except (LookupError, IntegrityError):
        proposal.delete()
        return
    if search.corpus_version() != run.corpus_version:
        return  # it waits for a run of the new version
    after = {result.golden.id: golden_runs.result_row(result) for result in results}
    halves = split(golden, [proposal.text, *(row.question for row in proposals.list_evidence(proposal))])
    proposal.figures = {name: figures(half, before, after) for name, half in halves.items()}
    proposal.changes = [row for name, half in halves.items() for row in changes(half, before, after, half_name=name)]
    proposal.status, proposal.run = Proposal.Status.OPEN, run
    proposal.save(update_fields=["figures", "changes", "status", "run"])


def _trial(proposal: Proposal) -> tuple[Policy, AbstractContextManager[None]]:
    """Return the policy and the corpus to ask under, as if the proposal were accepted."""
    policy = answering.POLICY
    if proposal.kind == Proposal.Kind.QUESTION:
        return policy, search.with_question(proposal.target, proposal.finding_id, proposal.text)
    if proposal.kind == Proposal.Kind.ALIAS:
        return policy, search.with_alias(proposal.target, proposal.text)
    return policies.read(proposals.policy_setting(proposal)), nullcontext()


def split(golden: Sequence[Golden], proposing: Sequence[str]) -> dict[str, list[Golden]]:
    """Return the half that may propose and the half kept apart, without questions that the evidence repeats."""
    known = {question_key(question) for question in proposing}
    apart = [one for one in golden if golden_set.is_held_out(one)]
    return {
        "proposing": [one for one in golden if not golden_set.is_held_out(one)],
        "kept_apart": [one for one in apart if question_key(one.question) not in known],
    }


def leads_right(golden: Golden, row: Row) -> bool:
    """Return whether the answer opens with a study that answers by itself."""
    return not is_refused(golden, row) and golden.relevant.get(next(iter(row["cited"]), "")) == golden_runs.MAIN_SOURCE


def is_refused(golden: Golden, row: Row) -> bool:
    return not Outcome(row["outcome"]).is_answer


def quotes_section(golden: Golden, row: Row) -> bool:
    return not set(golden.sections).isdisjoint(row.get("sections", ()))


def is_right(golden: Golden, row: Row) -> bool:
    return leads_right(golden, row) if golden.is_answerable else is_refused(golden, row)


FIGURES: Mapping[str, tuple[Callable[[Golden], bool], Fits]] = {
    "leads": (lambda golden: golden.is_answerable, leads_right),
    "wrongly_refused": (lambda golden: golden.is_answerable, is_refused),
    "rightly_refused": (lambda golden: not golden.is_answerable, is_refused),
    "sections": (lambda golden: bool(golden.sections), quotes_section),
}
"""The questions that each figure counts, and what it counts of them."""


def figures(half: Sequence[Golden], before: Mapping[str, Row], after: Mapping[str, Row]) -> dict[str, dict[str, int]]:
    """Return each figure as the number of its questions, and of those that fit before and after."""
    found = {}
    for name, (is_counted, fits) in FIGURES.items():
        own = [golden for golden in half if is_counted(golden)]
        counts = {when: sum(fits(g, rows[g.id]) for g in own) for when, rows in (("before", before), ("after", after))}
        found[name] = {"n": len(own)} | counts
    return found


def changes(
    half: Sequence[Golden], before: Mapping[str, Row], after: Mapping[str, Row], *, half_name: str
) -> Iterator[dict[str, Any]]:
    """Yield the questions with another outcome or lead: better, worse or neither by their labels."""
    for golden in half:
        old, new = before[golden.id], after[golden.id]
        if (old["outcome"], old["cited"][:1]) != (new["outcome"], new["cited"][:1]):
            gain = is_right(golden, new) - is_right(golden, old)
            yield {
                "id": golden.id,
                "question": golden.question,
                "half": half_name,
                "effect": {1: "better", 0: "other", -1: "worse"}[gain],
                "before": {"outcome": old["outcome"], "lead": next(iter(old["cited"]), None)},
                "after": {"outcome": new["outcome"], "lead": next(iter(new["cited"]), None)},
            }
