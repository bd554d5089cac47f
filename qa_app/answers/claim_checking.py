"""Check the claims of a pasted text against the corpus. Nothing is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from math import ceil

from django.utils.translation import gettext_noop as N_

from common import tracing
from common.postgresql import replicas
from corpus_app import search
from qa_app.answers import answering, asking, engines, payload
from qa_app.answers.asking import BadInput, is_storable
from qa_app.answers.corpus import SearchedCorpus
from qa_app.answers.payload import Payload
from qa_app.answers.time_limit import TimeLimit, limited
from qa_app.pipeline import claims
from qa_app.pipeline.claims import MOST_CLAIMS as MOST_CLAIMS
from qa_app.pipeline.claims import CheckedClaim, ClaimNote, ClaimSpan, ClaimVerdict, Skipped
from qa_app.pipeline.claims import ClaimText as ClaimText
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.question import safety
from qa_app.pipeline.records import Declined, LeftOutReason, Question
from qa_app.pipeline.text import clean
from qa_app.pipeline.verification.statements import Stance

MAX_LENGTH = 20_000  # characters of a pasted text
MAX_CLAIM_LENGTH = asking.MAX_QUESTION_LENGTH
CLAIMS_PER_ASK = 10
"""Claims that count as one question: a claim takes about a tenth of the time that a minute's quota allows for."""
VERDICTS = tuple(verdict.value for verdict in ClaimVerdict)
NOTES = tuple(note.value for note in ClaimNote)
STANCES = tuple(stance.value for stance in Stance)
REASONS = tuple(
    reason.value
    for reason in (
        LeftOutReason.DIRECTION_MISMATCH,
        LeftOutReason.NEGATION_MISMATCH,
        LeftOutReason.NUMBER_MISMATCH,
    )
)
SKIPPED = tuple(reason.value for reason in Skipped)


class BadClaimText(BadInput):
    """A text that cannot be checked."""


@dataclass(frozen=True, slots=True)
class PastedText:
    """A text that was read: its sentences, or the approved reply where it speaks of an emergency or a crisis."""

    sentences: tuple[ClaimText, ...]
    """Those that are no claims are marked."""
    declined: Declined | None

    @property
    def asks(self) -> int:
        """Return how many questions it counts as."""
        return 0 if self.declined else ceil(sum(claim.skipped is None for claim in self.sentences) / CLAIMS_PER_ASK)


def read(text: object) -> PastedText:
    """Split a text into sentences. Raises BadClaimText, also where none is a claim."""
    checked = _checked_text(text)
    found = claims.split_claims(checked)
    if not any(claim.skipped is None for claim in found):
        raise BadClaimText("text", "no_claim", N_("This contains no claim. Please write a full sentence."))
    lexicon = SearchedCorpus().facts().safety
    replies = (safety.check(clean(part), None, lexicon, None) for part in (checked, *(claim.text for claim in found)))
    declined = next((reply for reply in replies if reply and reply.route in safety.URGENT), None)
    return PastedText(found, declined and answering.reviewed(declined))


def check(pasted: PastedText, *, collection: str | None = None) -> Payload:
    """Check every claim of a text, fifty at most. Raises BadQuestion and OutOfTime."""
    asking.check_collection(collection)
    found = () if pasted.declined else pasted.sentences
    rows: list[Payload] = []
    with limited() as limit:
        for claim in found:
            if claim.skipped is None:
                rows.append(_check(claim, collection, limit))
    verdicts = Counter(row["verdict"] for row in rows)
    return {
        "declined": _declined_row(pasted.declined),
        "claims": rows,
        "counts": {verdict: verdicts[verdict] for verdict in VERDICTS},
        "skipped": [
            {"text": claim.text, "start": claim.start, "end": claim.end, "reason": claim.skipped.value}
            for claim in found
            if claim.skipped is not None
        ],
        "corpus_version": search.corpus_version(),
        "encoder": search.encoder_name(),
    }


def check_one(text: str, *, collection: str | None = None) -> Payload:
    """Check one claim. Raises OutOfTime."""
    with limited() as limit:
        return _check(ClaimText(text, 0, len(text)), collection, limit)


def _check(claim: ClaimText, collection: str | None, limit: TimeLimit) -> Payload:
    question = Question(claim.text, clean(claim.text)[:MAX_CLAIM_LENGTH], collection=collection)
    engine = engines.engine(answering.POLICY)
    clock = Clock(limit=limit, span=tracing.span)
    check = partial(engine.check_claim, question, corpus=SearchedCorpus(limit), clock=clock)
    checked = replicas.with_failover(check)
    declined = answering.reviewed(checked) if isinstance(checked, Declined) else None
    found = checked if isinstance(checked, CheckedClaim) else None
    return {
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "verdict": found.verdict.value if found else None,
        "note": found.note.value if found and found.note else None,
        "declined": _declined_row(declined),
        "spans": [_span(row) for row in found.spans] if found else [],
    }


def _declined_row(declined: Declined | None) -> Payload | None:
    return {"route": declined.route, "message": declined.message} if declined else None


def _span(found: ClaimSpan) -> Payload:
    passage, study = found.passage, found.passage.study
    return {
        "stance": found.stance.value if found.stance else None,
        "reason": found.reason.value if found.reason else None,
        "other_people": found.people or None,
        **payload.support((found.span,))[0],
        "section": passage.own_section or passage.section.value,
        "kind": passage.kind.value,
        "title": study.title,
        "authors": list(study.authors),
        "year": study.year,
        "doi": study.doi,
        "url": payload.link(study),
        "design": study.design,
        "population": study.population,
        "notice": study.notice.value,
    }


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise BadClaimText("text", "not_text", N_("Send the claims as text."))
    if len(text) > MAX_LENGTH:
        raise BadClaimText(
            "text", "too_long", N_("The text is longer than %(most)s characters. Please check it in parts."),
            most=MAX_LENGTH,
        )  # fmt: skip
    if not is_storable(text) or asking.REPLACEMENT_CHARACTER in text:
        raise BadClaimText(
            "text", "not_text", N_("The text contains characters that are not text. Please paste it again.")
        )
    if not clean(text):
        raise BadClaimText("text", "blank", N_("Please paste a claim."))
    return text
