"""Make questions from a corpus without labels: each is answered by the text that it was made from.

The content words of a sentence, and titles, headings, definitions and findings, stand in for what a reader would ask.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corpus_app.records import Concept, Finding, Passage
from qa_app.pipeline.text import content_words

LEAST_WORDS, MOST_WORDS = 3, 5
"""Content words of a question that is made from a sentence, as readers type them."""
SENTENCE_WORDS = range(6, 46)
LONGEST_TITLE = 20  # words


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question with the study whose text answers it."""

    text: str
    study_id: str


def from_passages(passages: Iterable[Passage], *, seed: int) -> Iterator[MadeQuestion]:
    """Yield a question for each passage with a sentence of ordinary length, from some of its content words."""
    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    for passage in passages:
        sentences = [passage.text[s.start : s.end] for s in passage.sentences]
        sentences = [sentence for sentence in sentences if len(sentence.split()) in SENTENCE_WORDS]
        words = list(dict.fromkeys(content_words(draw.choice(sentences)))) if sentences else []
        if len(words) <= LEAST_WORDS:
            continue
        kept = sorted(draw.sample(range(len(words)), min(len(words), draw.randint(LEAST_WORDS, MOST_WORDS))))
        opening = "How many" if any(words[n].isdigit() for n in kept) else "What about"
        yield MadeQuestion(f"{opening} {' '.join(words[n] for n in kept)}?", passage.study.study_id)


def from_titles(titles: Iterable[tuple[str, str]]) -> Iterator[MadeQuestion]:
    """Yield a question for each study (id and title) whose title has two content words or more."""
    for study_id, title in titles:
        if len(content_words(title)) >= 2 and len(title.split()) <= LONGEST_TITLE:
            yield MadeQuestion(f"What about {title.rstrip('.?!')}?", study_id)


def from_definitions(
    concepts: Iterable[Concept], carriers: Sequence[tuple[str, frozenset[str]]]
) -> Iterator[MadeQuestion]:
    """Yield a question for each concept that one study alone is about; `carriers` are studies with their concepts."""
    for concept in concepts:
        own = [study_id for study_id, concepts_of in carriers if concept.concept_id in concepts_of]
        if len(own) == 1:
            yield MadeQuestion(f"What is {concept.name}?", own[0])


def from_findings(findings: Iterable[Finding]) -> Iterator[MadeQuestion]:
    """Yield a question for each finding: what its intervention does for its outcome."""
    for finding in findings:
        yield MadeQuestion(f"What does {finding.intervention} do for {finding.outcome}?", finding.study_id)
