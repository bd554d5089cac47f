"""Derive proposals from the questions that came out badly.

A question leads to a study that should answer it, and from there to a curated question, or to an alias of one of the
study's concepts. Answers without the part of a study that was asked for lead to a stronger boost of such parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone
from numpy.typing import NDArray

from corpus_app import search
from corpus_app.records import QUESTION_LETTERS, Study, StudyScores
from qa_app.answers import answering, engines
from qa_app.answers.corpus import SearchedCorpus
from qa_app.feedback import gaps, troubles
from qa_app.feedback.troubles import Served, Source, Trouble
from qa_app.models import Answer, Proposal, question_key
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.lexicon import SENTENCE_END, placed_words
from qa_app.pipeline.policy import Order
from qa_app.pipeline.ports import CorpusFacts
from qa_app.pipeline.records import Declined, Mode, Question
from qa_app.pipeline.run import Searched
from qa_app.pipeline.text import EMPTY_WORDS, searchable, stem

MAX_TROUBLES = 300  # questions looked at in one run; each takes a search
MAX_UNDECIDED = 40  # proposals that wait for a curator; each takes a run of the golden questions
MIN_CHANCE = 0.2  # that a study answers a question, to be proposed for it
MIN_ALIAS_COSINE = 0.6  # of unknown words to a name of the concept that they may mean
MAX_ALIAS_WORDS = 3
MIN_MISSED_SECTIONS = 3  # answers without the part of a study that was asked for, to propose a stronger boost
BOOST = 1.5  # factor by which a boost is proposed to grow
REPEATED_FROM = 2  # times its weight when declined, from which a proposal comes back
SECTION_FIGURE = {Order.RELEVANCE: "role_weight", Order.SCORE: "section_exact"}
"""The figure of the policy that favours the sections that a question aims at, by its order."""
QUESTION, ALIAS, POLICY = Proposal.Kind.QUESTION, Proposal.Kind.ALIAS, Proposal.Kind.POLICY

Vector = NDArray[np.float32]


@dataclass(slots=True)
class Suggested:
    """A change with the questions that suggest it."""

    kind: str
    target: str
    text: str
    finding_id: int | None = None
    vector: Vector | None = None
    """Of a curated question: proposals of the same meaning are one."""
    troubles: list[Trouble] = field(default_factory=list)
    stored: Proposal | None = None

    @property
    def weight(self) -> int:
        return len(frozenset[str]().union(*(trouble.witnesses for trouble in self.troubles)))

    @property
    def evidence(self) -> list[dict[str, Any]]:
        return [
            {"source": t.source.value, "key": t.key, "witnesses": len(t.witnesses), "times": t.times}
            for t in self.troubles
        ]

    def is_same(self, other: Suggested) -> bool:
        """Tell whether both are one change."""
        if (self.kind, self.target) != (other.kind, other.target):
            return False
        if self.vector is None or other.vector is None:
            return self.text.casefold() == other.text.casefold()
        return float(self.vector @ other.vector) >= gaps.MIN_COSINE


def derive() -> int:
    """Bring the proposals up to date with the questions that came out badly; return the number of undecided ones.

    Raises search.EncoderUnavailable.
    """
    read = troubles.read_troubles()[:MAX_TROUBLES]
    facts = SearchedCorpus().facts()
    served = [(one, _encode(one.question)) for one in troubles.read_served()]
    found = [_suggested_by(proposal) for proposal in Proposal.objects.order_by("pk")]
    missed: list[Trouble] = []
    for trouble in read:
        searched = _search(trouble)
        if searched is None:
            continue
        for suggested in _suggest(trouble, searched, facts, served):
            same = next((one for one in found if one.is_same(suggested)), None)
            if same is None:
                found.append(suggested)
            else:
                same.troubles.append(trouble)
        if trouble.lead and _misses_section(trouble, searched):
            missed.append(trouble)
    _suggest_boost(missed, found)
    _store(found)
    return Proposal.objects.filter(status__in=Proposal.UNDECIDED).count()


def _encode(text: str) -> Vector:
    return np.asarray(search.encode_question(searchable(text)), np.float32)


def _suggested_by(proposal: Proposal) -> Suggested:
    vector = _encode(proposal.text) if proposal.kind == QUESTION else None
    return Suggested(proposal.kind, proposal.target, proposal.text, proposal.finding_id, vector=vector, stored=proposal)


def _search(trouble: Trouble) -> Searched | None:
    """Search for a question in the present corpus; None where it gets a fixed reply."""
    question = Question(trouble.question, searchable(trouble.question), Mode.INTERMEDIATE, trouble.collection)
    found = engines.engine(answering.POLICY).search(question, corpus=SearchedCorpus(), clock=Clock())
    return None if isinstance(found, Declined) else found


def _suggest(
    trouble: Trouble, searched: Searched, facts: CorpusFacts, served: Sequence[tuple[Served, Vector]]
) -> Iterator[Suggested]:
    """Yield the changes that would lead a question to the study that answers it."""
    vector = _encode(trouble.question)
    target = _find_target(trouble, searched, served, vector)
    if target is None or not (studies := search.studies([target])):
        return
    scores = searched.retrieved.by_id.get(target)
    text = " ".join(trouble.question.split())
    if len(text) <= QUESTION_LETTERS and not _is_asked(text, scores):
        yield Suggested(QUESTION, target, text, _nearest_finding(scores), vector, [trouble])
    for concept_id, words in _unknown_names(trouble.question, facts, studies[target], scores):
        yield Suggested(ALIAS, concept_id, words, troubles=[trouble])


def _find_target(
    trouble: Trouble, searched: Searched, served: Sequence[tuple[Served, Vector]], vector: Vector
) -> str | None:
    """Return the study that should answer; None where none is likely enough.

    Labels decide, then what readers found of use for a question of the same meaning, then the ranking.
    """
    ranked = [(study_id, chance) for study_id, chance in searched.retrieved.ranked if study_id != trouble.lead]
    if trouble.labelled:
        labelled = [study_id for study_id, _ in ranked if study_id in trouble.labelled]
        return next(iter([*labelled, *(s for s in trouble.labelled if s != trouble.lead)]), None)
    for one, other in sorted(served, key=lambda pair: -float(pair[1] @ vector)):
        if float(other @ vector) >= gaps.MIN_COSINE and one.lead != trouble.lead:
            return one.lead
    if not ranked:
        return None
    best, chance = ranked[0]
    leader = searched.retrieved.chances.get(trouble.lead or "", 0.0)
    return best if chance >= max(MIN_CHANCE, answering.POLICY.cited_share * leader) else None


def _is_asked(text: str, scores: StudyScores | None) -> bool:
    """Tell whether the study has this curated question already."""
    best = scores.best.get("question") if scores else None
    nearest = (best.by_words, best.by_meaning) if best else ()
    return any(one is not None and question_key(one.words) == question_key(text) for one in nearest)


def _nearest_finding(scores: StudyScores | None) -> int | None:
    """Return the finding whose text is nearest in meaning; None where the question belongs to the study."""
    texts = [scores.best[kind] for kind in ("question", "plain", "statement") if kind in scores.best] if scores else []
    near = [(text.cosine, text.by_meaning) for text in texts if text.cosine is not None and text.by_meaning is not None]
    return max(near, key=lambda pair: pair[0])[1].finding_id if near else None


def _unknown_names(
    question: str, facts: CorpusFacts, target: Study, scores: StudyScores | None
) -> Iterator[tuple[str, str]]:
    """Yield words of the question that the study does not use, with the concept of the study that they may name."""
    named = {mention.concept.concept_id for mention in facts.concept_index.find(question)}
    own = [facts.concept_index.by_id.get(concept_id) for concept_id in target.concepts]
    names = [(c.concept_id, name) for c in own if c and c.concept_id not in named for name in (c.name, *c.aliases)]
    phrases = list(_unknown_phrases(question, facts, scores.matched if scores else frozenset()))
    if not names or not phrases:
        return
    vectors = np.asarray(search.encode_questions([*phrases, *(name for _, name in names)]), np.float32)
    cosines = vectors[: len(phrases)] @ vectors[len(phrases) :].T
    for phrase, row in zip(phrases, cosines, strict=True):
        best = int(row.argmax())
        if row[best] >= MIN_ALIAS_COSINE:
            yield names[best][0], phrase


def _unknown_phrases(question: str, facts: CorpusFacts, matched: frozenset[str]) -> Iterator[str]:
    """Yield the runs of content words that name no concept and do not occur in the study."""
    mentions = facts.concept_index.find(question)
    run: list[tuple[int, int]] = []
    for word in placed_words(question):
        is_known = any(mention.start <= word.start < mention.end for mention in mentions)
        is_empty = word.text in EMPTY_WORDS or word.text == SENTENCE_END or word.text.isdigit()
        if not is_known and not is_empty and stem(word.text) not in matched:
            run.append((word.start, word.end))
            continue
        if 0 < len(run) <= MAX_ALIAS_WORDS:
            yield question[run[0][0] : run[-1][1]]
        run = []


def _misses_section(trouble: Trouble, searched: Searched) -> bool:
    """Tell whether a question aims at a part of a study and the rated answer quotes none of it."""
    wanted = {section.value for section in searched.query.sections}
    if trouble.source is not Source.RATING or not wanted:
        return False
    quoted = Answer.objects.filter(pk=trouble.key).values_list("sentences__citations__passage__section", flat=True)
    return wanted.isdisjoint(quoted)


def _suggest_boost(missed: Sequence[Trouble], found: list[Suggested]) -> None:
    """Suggest a stronger boost of the sections asked for, where enough answers lack them."""
    policy = answering.POLICY
    name = SECTION_FIGURE.get(policy.order)
    if name is None or len(missed) < MIN_MISSED_SECTIONS:
        return
    suggested = Suggested(POLICY, name, str(round(BOOST * getattr(policy, name), 4)), troubles=list(missed))
    same = next((one for one in found if one.is_same(suggested)), None)
    if same is None:
        found.append(suggested)
    else:
        same.troubles = suggested.troubles


@transaction.atomic
def _store(found: Iterable[Suggested]) -> None:
    """Store new proposals, and the evidence of those that are undecided; forget those without evidence."""
    version, now = search.corpus_version(), timezone.now()
    undecided = 0
    for one in sorted(found, key=lambda suggested: -suggested.weight):
        if one.stored is None:
            if undecided < MAX_UNDECIDED:
                undecided += 1
                Proposal.objects.get_or_create(
                    kind=one.kind, target=one.target, text=one.text,
                    defaults={"finding_id": one.finding_id, "evidence": one.evidence, "weight": one.weight,
                              "proposed_at": now},
                )  # fmt: skip
            continue
        row = Proposal.objects.select_for_update().filter(pk=one.stored.pk).first()
        if row is None or row.status == Proposal.Status.ACCEPTED:
            continue
        if row.status == Proposal.Status.DECLINED:
            if one.weight < max(1, REPEATED_FROM * row.declined_weight):
                continue
            row.status = Proposal.Status.WAITING
        elif not one.troubles:
            row.delete()
            continue
        elif row.run is None or row.run.corpus_version != version:
            row.status = Proposal.Status.WAITING
        undecided += 1
        row.evidence, row.weight = one.evidence, one.weight
        row.save(update_fields=["evidence", "weight", "status"])
