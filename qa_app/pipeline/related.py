"""Choose curated questions near a question, a topic or a study, which a reader may ask next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpus_app.records import Concept, CuratedQuestion
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.query import Intent
from qa_app.pipeline.question import wording
from qa_app.pipeline.text import content_stems, jaccard

MOST = 5
ENOUGH = 3
"""Questions below which a study may give a second one."""
SAME = 0.8  # Jaccard index of content words from which two questions ask the same
ALIKE = 0.6  # the same, from which two questions are too alike to be offered together
CONCEPT_WEIGHT = 0.15  # what all concepts of the asked question add to a cosine; a judgement on 40 questions of readers
WHOLE_QUESTION = 0.1  # what a question mark adds to a cosine
QUESTION_MARKS = ("?", "？", "؟")
LONG = 110  # characters above which a question is one reader's own story
LONG_COST = 0.1


@dataclass(frozen=True, slots=True)
class _Candidate:
    question: CuratedQuestion
    stems: frozenset[str]
    nearness: float
    rank: float


def nearest(
    candidates: Iterable[CuratedQuestion],
    asked: str,
    index: ConceptIndex,
    *,
    least: float,
    is_askable: Callable[[str], bool],
) -> tuple[CuratedQuestion, ...]:
    """Return up to MOST different questions near the asked one, which is not among them, the nearest first.

    `least` is the cosine from which a question is near; a shared concept allows for less.
    """
    possible = [one for one in candidates if one.nearness >= least - CONCEPT_WEIGHT and is_question(one.text)]
    wanted = {mention.concept for mention in index.find(asked)} if possible else set()
    placed = (
        _placed(one, one.nearness + CONCEPT_WEIGHT * _shared(wanted, one.text, index), WHOLE_QUESTION)
        for one in possible
    )
    near = [one for one in placed if one.nearness >= least]
    return tuple(_different(near, frozenset(content_stems(asked)), MOST, is_askable))


def diverse(
    candidates: Iterable[CuratedQuestion], *, most: int = MOST, is_askable: Callable[[str], bool]
) -> tuple[CuratedQuestion, ...]:
    """Return up to `most` questions that ask different things, those with a question mark first, then the nearest."""
    placed = [_placed(one, one.nearness, 1.0) for one in candidates if is_question(one.text)]
    return tuple(_different(placed, frozenset(), most, is_askable))


def is_question(text: str) -> bool:
    """Tell whether a text asks, with a question mark or an asking word; curators also write mere search words."""
    return text.endswith(QUESTION_MARKS) or wording.read_intent(text) is not Intent.CLAIM


def _placed(question: CuratedQuestion, nearness: float, whole: float) -> _Candidate:
    """Return a candidate; `whole` is what a question mark adds to its rank."""
    form = whole * question.text.endswith(QUESTION_MARKS) - LONG_COST * (len(question.text) > LONG)
    return _Candidate(question, frozenset(content_stems(question.text)), nearness, nearness + form)


def _shared(wanted: set[Concept], text: str, index: ConceptIndex) -> float:
    """Return the share of the wanted concepts that a text names, each weighted by its rarity."""
    if not wanted:
        return 0.0
    named = {mention.concept for mention in index.find(text)}
    return sum(c.rarity for c in wanted & named) / (sum(c.rarity for c in wanted) or 1.0)


def _different(
    candidates: Sequence[_Candidate], asked: frozenset[str], most: int, is_askable: Callable[[str], bool]
) -> Iterator[CuratedQuestion]:
    """Yield the best questions, one of each study; a second one of a study only where ENOUGH are not found else."""
    ranked = sorted(candidates, key=lambda one: -one.rank)
    is_one_study = len({one.question.study_id for one in ranked}) == 1
    chosen: list[_Candidate] = []
    for limit, is_spread in ((most, not is_one_study), (min(most, ENOUGH), False)):
        for one in ranked:
            if len(chosen) >= limit:
                break
            if is_spread and any(one.question.study_id == other.question.study_id for other in chosen):
                continue
            if asked and jaccard(one.stems, asked) >= SAME:
                continue
            if any(jaccard(one.stems, other.stems) >= ALIKE for other in chosen) or not is_askable(one.question.text):
                continue
            chosen.append(one)
            yield one.question
