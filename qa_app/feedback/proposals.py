"""Show proposals with their evidence, and carry out what a curator decides.

Nothing is applied without that decision. Writes to the corpus go through `hooks`, as the person who decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, transaction
from django.utils import timezone

from qa_app import hooks
from qa_app.feedback.troubles import Source
from qa_app.models import Answer, Gap, GoldenQuestion, Proposal

QUESTION, ALIAS, POLICY = Proposal.Kind.QUESTION, Proposal.Kind.ALIAS, Proposal.Kind.POLICY


class ProposalRefused(Exception):
    """A decision that cannot be carried out; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ProposalEvidence:
    """A question behind a proposal, as those who may see readers' questions are shown it."""

    source: str
    key: str
    question: str
    witnesses: int
    times: int


def list_evidence(proposal: Proposal) -> tuple[ProposalEvidence, ...]:
    """Return the questions behind a proposal that are still stored."""
    rows = proposal.evidence
    keys = {source: [row["key"] for row in rows if row["source"] == source] for source in Source}
    asked: dict[tuple[str, str], str] = {
        **{(Source.RATING, row.pk): row.meant for row in Answer.objects.filter(pk__in=keys[Source.RATING])},
        **{(Source.GAP, str(row.pk)): row.question for row in Gap.objects.filter(pk__in=keys[Source.GAP])},
        **{
            (Source.GOLDEN, row.key): row.question for row in GoldenQuestion.objects.filter(key__in=keys[Source.GOLDEN])
        },
    }
    return tuple(
        ProposalEvidence(**row, question=asked[row["source"], row["key"]])
        for row in rows
        if (row["source"], row["key"]) in asked
    )


def version_of(proposal: Proposal) -> str:
    """Return a version that changes with everything that a curator decides on."""
    seen = [proposal.status, proposal.evidence, proposal.figures, proposal.changes]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def policy_setting(proposal: Proposal) -> str:
    """Return the value of INFORM_POLICY that puts a figure of the policy into force."""
    return f"{settings.INFORM_POLICY}, {proposal.target}={proposal.text}".strip(", ")


# --- Decide


def accept(proposal_id: int, *, by: User, seen: str, text: str) -> Proposal:
    """Make the change, with this text, as this person. Raises ProposalRefused and Proposal.DoesNotExist."""
    text = " ".join(text.split())
    with transaction.atomic():
        proposal = _lock(proposal_id, seen, (Proposal.Status.OPEN,))
        if proposal.kind == POLICY:
            text = proposal.text  # figures are settings; the operator sets what was accepted
        elif not text:
            raise ProposalRefused("Write what is to be added.")
        if refusal := _apply(proposal, text, by):
            raise ProposalRefused(refusal)
        proposal.accepted_as = text
        _decide(proposal, Proposal.Status.ACCEPTED, by)
    return proposal


def decline(proposal_id: int, *, by: User, seen: str, reason: str) -> Proposal:
    """Decline a proposal until its weight has doubled. Raises ProposalRefused and Proposal.DoesNotExist."""
    if not reason.strip():
        raise ProposalRefused("Give the reason: it stays with the proposal.")
    with transaction.atomic():
        proposal = _lock(proposal_id, seen, Proposal.UNDECIDED)
        proposal.reason, proposal.declined_weight = reason.strip()[:2_000], proposal.weight
        _decide(proposal, Proposal.Status.DECLINED, by)
    return proposal


def _lock(proposal_id: int, seen: str, statuses: Sequence[str]) -> Proposal:
    try:
        proposal = Proposal.objects.select_for_update(nowait=True, of=("self",)).get(pk=proposal_id)
    except OperationalError:
        raise ProposalRefused("It is being measured at this moment. Try again in a minute.") from None
    if proposal.status not in statuses or version_of(proposal) != seen:
        raise ProposalRefused("It has changed since you opened this page. Look at it again, then decide.")
    return proposal


def _apply(proposal: Proposal, text: str, by: User) -> str | None:
    """Make the change in the corpus; return why it was refused."""
    if proposal.kind == QUESTION and hooks.add_question:
        return hooks.add_question(proposal.target, proposal.finding_id, text, by)
    if proposal.kind == ALIAS and hooks.add_alias:
        return hooks.add_alias(proposal.target, text, by)
    return None if proposal.kind == POLICY else "This site has no curation to carry it out."


def _decide(proposal: Proposal, status: str, by: User) -> None:
    proposal.status, proposal.decided_by, proposal.decided_at = status, by, timezone.now()
    proposal.save()
