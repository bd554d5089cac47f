"""How far the evidence can be trusted to answer: raw signals, an estimate from them, and the outcome.

Only raw scores go in (cosines, BM25, word counts): the min-max scores that order candidates say nothing across questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corpus_app.records import Concept, rarity
from qa_app.pipeline.calibration import Logistic
from qa_app.pipeline.naming import find_numbered
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.qualifiers import find_trade
from qa_app.pipeline.records import (
    Candidate,
    Confidence,
    Found,
    NearFinding,
    Outcome,
    Question,
    Sentence,
    Signals,
    Understanding,
)
from qa_app.pipeline.text import WORD, content_stems, stem, stem_set, stems, with_kin
from qa_app.pipeline.unstudied import find_subjects, is_named, is_of_the_field

LABELS = ("high", "medium", "low")
POOL = 10  # best or nearest passages that are asked what they hold
NOTHING_LEFT = (
    0.6  # what all words of a question count together where the passages hold none: as much as any that leave something
)
OF_OTHER_THINGS = frozenset({"order", "cost"})
"""Words of the trade that passages have for something else: "in order to", "energy cost"."""
NEAREST = 5  # nearest passages, whose words count as told


def questions_without(
    ranked: Sequence[Candidate], question: Question, understanding: Understanding, found: Found, policy: Policy
) -> tuple[str, ...]:
    """The question with one word left away, for each word of its subject that the nearest passages do not hold, rarest first; then,
    where there are several, with all of them left away.

    A word that names a concept is held where the concept is: by another of its names, or by what the study is about.
    A question of nothing else is left empty.
    """
    best = _nearest(ranked)[:NEAREST]
    said = searched_text(question, understanding)
    held = _words_of(best) | _named_otherwise(best, understanding, frozenset(stems(said)))
    idf = _idf(found, understanding.subject)
    typed = frozenset(stems(question.searched))
    unmet = sorted((t for t in understanding.subject if t in typed and t not in held), key=lambda t: (-idf[t], t))
    each = tuple(_leave_away(said, frozenset([term])) for term in unmet[: policy.probed_words])
    return each if len(unmet) < 2 else (*each, _leave_away(said, frozenset(unmet)))


def unmet_together(
    ranked: Sequence[Candidate], vector: Sequence[float], without: Sequence[Sequence[float] | None]
) -> float:
    """The same as `unmet_word`, of all these words together: two that mean one thing ("venous thrombosis", "fish oil") hide each
    other while only one is left away, and what is said in passing hardly moves the question however much of it there is.
    """
    if without and without[-1] is None:
        return NOTHING_LEFT
    return unmet_word(ranked, vector, without[-1:])


def unmet_word(
    ranked: Sequence[Candidate],
    vector: Sequence[float],
    without: Sequence[Sequence[float] | None],
) -> float:
    """How much the word matters that the passages leave unmet, 0 to about 0.5: the largest over the words left away.

    A word counts by how far the question moves without it, and by how much nearer it then comes to the nearest sentence of
    the ten nearest passages: passages that answer another question come nearer as soon as the word that makes the difference
    is gone. `without` holds the vector of each question of `questions_without`, None for an empty one, which counts 1.
    """
    if not without:
        return 0.0
    if any(row is None for row in without):
        return 1.0
    sentences = [s.vector for c in _nearest(ranked)[:POOL] for s in c.passage.sentences if s.vector is not None]
    if not sentences:
        return 0.0
    asked = np.asarray(vector, dtype=np.float32)
    others = np.asarray(without, dtype=np.float32)
    near = np.asarray(sentences, dtype=np.float32) @ np.vstack((asked, others)).T
    nearer = near[:, 1:].max(axis=0) - near[:, 0].max()
    return max(0.0, float((nearer + 1 - others @ asked).max()))


def unmet_names(ranked: Sequence[Candidate], question: Question, understanding: Understanding) -> tuple[str, ...]:
    """Names of the question that none of the ten nearest passages holds: those that a number belongs to (type 1, vitamin k),
    those of concepts that no study is about, and what is asked of the trade: brands, where to buy, prices.

    One that is part of a concept's name is held where the concept is, by another of its names or by what the study is about;
    not so where the concept goes by several numbers, as diabetes does of type 1 and type 2.
    """
    asked, trade = find_numbered(question.searched), find_trade(question.searched)
    if not (asked or trade or understanding.unstudied):
        return ()
    nearest = _nearest(ranked)[:POOL]
    return tuple(
        dict.fromkeys(
            (
                *_unmet_subjects(nearest, question, understanding),
                *_unmet_numbered(nearest, asked, question, understanding),
                *(word for word in trade if word.lower() in OF_OTHER_THINGS or stem(word) not in _words_of(nearest)),
            )
        )
    )


def _unmet_subjects(nearest: Sequence[Candidate], question: Question, understanding: Understanding) -> Iterator[str]:
    texts = [f"{c.passage.heading}\n{c.passage.text}" for c in nearest]
    for subject in find_subjects(question.searched, understanding):
        if subject.is_asked_about and not is_named(subject, texts):
            yield subject.text


def _unmet_numbered(
    nearest: Sequence[Candidate], asked: Sequence[str], question: Question, understanding: Understanding
) -> tuple[str, ...]:
    if not asked:
        return ()
    told = frozenset(name for c in nearest for name in _numbered_in(c))
    of_one_number = tuple(concept for concept in understanding.concepts if len(_numbers_of(concept)) < 2)
    understanding = replace(understanding, concepts=of_one_number)
    otherwise = _named_otherwise(nearest, understanding, frozenset(stems(searched_text(question, understanding))))
    unmet = (name for name in asked if name not in told)
    return tuple(name for name in unmet if not {stem(word) for word in name.split()} <= otherwise)


def _numbers_of(concept: Concept) -> frozenset[str]:
    return frozenset(found for name in (concept.name, *concept.aliases) for found in find_numbered(name))


def _numbered_in(candidate: Candidate) -> tuple[str, ...]:
    return find_numbered(f"{candidate.passage.heading}\n{candidate.passage.text}")


def read_signals(
    ranked: Sequence[Candidate],
    found: Found,
    question: Question,
    understanding: Understanding,
    *,
    near: Sequence[NearFinding] = (),
) -> Signals:
    """What the search showed of this question; what waits for the encoder, `with_unmet` adds.

    top_cosine          the closest sentence or passage, 0 to 1
    second_study_cosine the same for the next study
    separation          their difference
    top_passage_cosine  the closest whole passage
    nearest_three       mean of the closest that three passages come
    first_lead          how much nearer the first study comes than any other; below 0 where another comes nearer
    first_lead_by_words the same in BM25 scores, over the most that a passage could get
    first_coverage      IDF-weighted share of the question's terms in the best passage
    unmet_word          how much it matters that a word of the question stands in none of the five nearest passages
    unmet_together      the same of all such words at once
    coverage            IDF-weighted share of the question's terms in the best passage that holds most of them
    pool_coverage       the same over the ten best passages together
    subject_coverage    the same for the words of the subject, a concept's other names counted, in the mean of the three of the
                        five nearest passages that hold most
    missing_idf         IDF of the rarest term in none of the ten best passages, over the largest possible
    bm25                the best BM25 score over the most that a passage could get
    concepts            share of the question's terms that belong to a known concept
    asked_lead          how much nearer than any passage or sentence a finding comes, or a question by which readers ask for it, of the
                        studies for which somebody wrote such questions down
    unasked             share of the studies with findings of which nobody wrote down how readers ask for them
    agreement           whether both halves put the same study first
    first_waits         whether the best candidate waits for its vector, or the encoder failed half-way
    """
    best = ranked[:POOL]
    by_study: dict[str, float] = {}
    words_by_study: dict[str, float] = {}
    for candidate in ranked:
        study = candidate.passage.study.study_id
        by_study[study] = max(by_study.get(study, 0.0), candidate.best_cosine)
        words_by_study[study] = max(words_by_study.get(study, 0.0), candidate.hit.bm25)
    cosines = [*sorted(by_study.values(), reverse=True), 0.0, 0.0]
    nearest = sorted((c.best_cosine for c in ranked), reverse=True)[:3]
    idf = _idf(found, understanding.terms)
    held = [_words_of((c,)) for c in best]
    together: frozenset[str] = frozenset().union(*held)
    missing = sorted(set(understanding.subject) - together, key=lambda term: (-idf[term], term))
    largest = rarity(0, found.searchable_passages)  # of a term that no passage holds
    total = sum(idf.values()) or 1.0
    hits = found.hits
    by_words, bm25 = _first(hits.ids, hits.bm25)
    by_meaning, cosine = _first(hits.ids, np.nan_to_num(hits.cosines))
    study_of: dict[int | None, str] = {c.passage.passage_id: c.passage.study.study_id for c in ranked}
    named = stem_set(" ".join(" ".join((c.name, *c.aliases)) for c in understanding.concepts))
    return Signals(
        values={
            "top_cosine": cosines[0],
            "second_study_cosine": cosines[1],
            "separation": cosines[0] - cosines[1],
            "top_passage_cosine": cosine,
            "nearest_three": sum(nearest) / max(1, len(nearest)),
            "first_lead": _lead(by_study),
            "first_lead_by_words": _lead(words_by_study) / total,
            "first_coverage": _share(idf, held[0], total) if held else 0.0,
            "unmet_word": 0.0,
            "unmet_together": 0.0,
            "coverage": max((_share(idf, words, total) for words in held), default=0.0),
            "pool_coverage": _share(idf, together, total),
            "subject_coverage": _subject_coverage(_nearest(ranked)[:NEAREST], found, question, understanding),
            "missing_idf": idf[missing[0]] / largest if missing else 0.0,
            "bm25": min(1.0, bm25 / total),
            "concepts": sum(1 for term in understanding.terms if term in named) / max(1, len(understanding.terms)),
            "asked_lead": max([0.0, *(n.cosine - cosines[0] for n in near if n.said is not None)]),
            "unasked": sum(n.said is None for n in near) / len(near) if near else 1.0,
            "first_waits": float(bool(ranked) and ranked[0].best_cosine <= 0),
            "agreement": float(len(hits) > 0 and study_of.get(by_words) == study_of.get(by_meaning)),
        },
        missing_terms=tuple(missing),
        missing_names=unmet_names(ranked, question, understanding),
    )


def with_unmet(signals: Signals, unmet: tuple[float, float] | None) -> Signals:
    """With what `unmet_word` and `unmet_together` say; None where it could not be told."""
    if unmet is None:
        return replace(signals, values={**signals.values, "first_waits": 1.0})
    return replace(signals, values={**signals.values, "unmet_word": unmet[0], "unmet_together": unmet[1]})


def _first(ids: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[int | None, float]:
    """The best of these hits by a score, of equals the one with the lowest id, and its score."""
    highest = float(scores.max(initial=-math.inf))
    return (int(ids[scores == highest].min()), highest) if len(ids) else (None, 0.0)


def _lead(by_study: Mapping[str, float]) -> float:
    """Of the first study over the best of the others; 0.0 where there is none."""
    first, *others = [*by_study.values()] or [0.0]
    return first - max(others) if others else 0.0


def searched_text(question: Question, understanding: Understanding) -> str:
    """What is searched by meaning: the question, what was misspelt spelt again beside it."""
    return " ".join((question.searched, *(meant for _, meant in understanding.corrections)))


def _nearest(ranked: Sequence[Candidate]) -> list[Candidate]:
    """By meaning alone, whatever else the ranking weighs; in its order where no cosine is known."""
    return sorted(ranked, key=lambda c: -c.best_cosine)


def _words_of(candidates: Sequence[Candidate]) -> frozenset[str]:
    """The stems of these passages, and of words that belong to theirs."""
    return with_kin(frozenset().union(*(stem_set(f"{c.passage.heading} {c.passage.text}") for c in candidates)))


def _named_otherwise(
    candidates: Sequence[Candidate], understanding: Understanding, said: frozenset[str]
) -> frozenset[str]:
    """Words of the question that name a concept which the passages hold by another name, or their studies are about."""
    if not (understanding.concepts or understanding.unstudied):
        return frozenset()
    held = _words_of(candidates)
    about = {concept_id for c in candidates for concept_id in c.passage.study.concepts}
    found: set[str] = set()
    for concept in (*understanding.concepts, *understanding.unstudied):
        names = [_stems_of_name(name) for name in (concept.name, *concept.aliases)]
        if concept.concept_id in about or any(name <= held for name in names):
            found.update(*(name for name in names if name <= said))
    return frozenset(found)


@lru_cache(maxsize=8_192)
def _stems_of_name(name: str) -> frozenset[str]:
    return frozenset(stems(name))


def _leave_away(text: str, terms: frozenset[str]) -> str:
    """The text without the words of these stems; empty where no word of a subject is left."""
    rest = " ".join(WORD.sub(lambda match: "" if stem(match.group()) in terms else match.group(), text).split())
    return rest if content_stems(rest) else ""


def _subject_coverage(
    best: Sequence[Candidate], found: Found, question: Question, understanding: Understanding
) -> float:
    named = dict.fromkeys(unmet_names(best, question, understanding), rarity(0, found.searchable_passages))
    idf = _idf(found, understanding.subject) | named
    total = sum(idf.values())
    if not total:
        return 0.0
    said = frozenset(stems(searched_text(question, understanding)))
    shares = sorted(
        (_share(idf, _words_of((c,)) | _named_otherwise((c,), understanding, said), total) for c in best), reverse=True
    )[:3]
    return sum(shares) / max(1, len(shares))


def _idf(found: Found, terms: Sequence[str]) -> dict[str, float]:
    """IDF of each term, as in BM25; a term that no searchable passage holds gets the largest."""
    frequency = dict(found.document_frequency)
    total = found.searchable_passages
    return {term: rarity(frequency.get(term, 0), total) for term in terms}


def _share(idf: Mapping[str, float], words: frozenset[str], total: float) -> float:
    return sum(value for term, value in idf.items() if term in words) / total


def estimate(model: Logistic, values: Mapping[str, float]) -> float:
    """Chance from 0 to 1 by the fitted model; a signal that is absent counts as 0."""
    z = model.intercept + sum(weight * values.get(name, 0.0) for name, weight in model.weights)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def with_bearing(ranked: Sequence[Candidate], understanding: Understanding, policy: Policy) -> tuple[Candidate, ...]:
    """The candidates, each with the chance that it bears on the question."""

    def bears(candidate: Candidate) -> int:
        signals = bearing_signals(candidate, understanding)
        by_meaning = policy.trusts_cosines and signals["best_cosine"] > 0
        model = policy.bearing if by_meaning else policy.bearing_by_words
        return round(100 * estimate(model, signals))

    return tuple(candidate.bearing(bears(candidate)) for candidate in ranked)


def bearing_signals(candidate: Candidate, understanding: Understanding) -> dict[str, float]:
    """What speaks for a passage: how near it comes, and the share of the question's terms that it holds."""
    share = candidate.keyword_hits / max(1, len(understanding.terms))
    return {"best_cosine": candidate.best_cosine, "keyword_share": share}


def by_words_alone(signals: Signals, policy: Policy) -> bool:
    """Whether cosines say nothing here: there are none, or no model was fitted for the encoder that they come from."""
    return signals.by_words_alone or not policy.trusts_cosines


def answerability(signals: Signals, policy: Policy) -> float:
    """The chance that the corpus answers, 0 to 1, on one scale with or without vectors: its threshold is `answerable_from`."""
    if not by_words_alone(signals, policy):
        return estimate(policy.answerability, signals.values)
    chance, threshold = estimate(policy.answerability_by_words, signals.values), policy.answerable_by_words_from
    if chance < threshold:
        return chance * policy.answerable_from / threshold
    above = (chance - threshold) / ((1 - threshold) or 1.0)
    return policy.answerable_from + above * (1 - policy.answerable_from)  # sure is sure, with or without vectors


def decide(signals: Signals, understanding: Understanding, policy: Policy) -> Outcome:
    """Whether to write at all: the evidence answers, it does not, or the question belongs elsewhere."""
    model, threshold = policy.answerability, policy.answerable_from
    is_unmet = False
    if by_words_alone(signals, policy):
        is_unmet = bool(signals.missing_names)  # by meaning they count as an unmet word does
        model, threshold = policy.answerability_by_words, policy.answerable_by_words_from
    is_far = not by_words_alone(signals, policy) and signals.values["top_cosine"] < policy.answers_from
    if understanding.terms and not is_far and not is_unmet and estimate(model, signals.values) >= threshold:
        return Outcome.ANSWERED
    is_near = signals.values["top_cosine"] >= policy.in_scope_from or signals.values["coverage"] >= 0.5
    if not is_near and not understanding.concepts and not is_of_the_field(understanding):
        return Outcome.OUT_OF_SCOPE
    return Outcome.INSUFFICIENT_EVIDENCE


def assess(signals: Signals, sentences: Sequence[Sentence], policy: Policy) -> Confidence:
    """Confidence of a written answer: the chance that its first cited study bears on the question."""
    model = policy.confidence_by_words if by_words_alone(signals, policy) else policy.confidence
    chance = estimate(model, signals.values)
    score = round(100 * chance)
    studies = {study_id for sentence in sentences for study_id in sentence.study_ids}
    return Confidence(score, label_of(score, policy), _reasons(signals, len(studies)), model.fitted_on)


EVERY_WORD = "every word of the question stands in the evidence"
PART_OPEN = "a part of the question stays open"


def of_a_part(confidence: Confidence, policy: Policy) -> Confidence:
    """The same of an answer that leaves a part of the question open, which is never sure of the whole: *medium* at most. That every word
    stands in the evidence would seem to deny it.
    """
    score = min(confidence.score, policy.confidence_high - 1)
    reasons = (PART_OPEN, *(reason for reason in confidence.reasons if reason != EVERY_WORD))
    return replace(confidence, score=score, label=label_of(score, policy), reasons=reasons)


def label_of(score: int, policy: Policy) -> str:
    """One of LABELS for a confidence of 0 to 100."""
    return "high" if score >= policy.confidence_high else "medium" if score >= policy.confidence_medium else "low"


def _reasons(signals: Signals, studies: int) -> tuple[str, ...]:
    values = signals.values
    reasons = ["one study is cited" if studies == 1 else f"{studies} studies are cited"]
    if signals.by_words_alone:
        reasons.append("search by meaning was not available")
    elif values["top_cosine"] >= 0.65:
        reasons.append("a passage comes very close to the question")
    elif values["top_cosine"] < 0.5:
        reasons.append("no passage comes very close to the question")
    if signals.missing_terms or signals.missing_names:
        reasons.append("not every word of the question stands in the evidence")
    else:
        reasons.append(EVERY_WORD)
    if values["agreement"]:
        reasons.append("search by words and by meaning agree on the best study")
    return tuple(reasons)
