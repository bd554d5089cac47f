"""The sentences of the evidence that can stand alone, and how well each answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpus_app.records import Concept, Section, Study
from qa_app.pipeline import standing
from qa_app.pipeline.alternatives import are_told, asked_and_held_equal, find_set_apart
from qa_app.pipeline.calibration import Logistic
from qa_app.pipeline.generation.counted import number_asked
from qa_app.pipeline.naming import CONDITION, DONE, MEASURED, find_numbered, names
from qa_app.pipeline.orders import gives_orders
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.population import (
    SPECIAL_AGES,
    find_population,
    is_about,
    is_about_others,
    names_others,
    names_some_of,
)
from qa_app.pipeline.qualifiers import (
    asks_for_newest,
    find_years,
    is_of_dieting,
    keeps_food,
)
from qa_app.pipeline.records import ADVICE, TELLING, Candidate, Evidence, Finding, LeftOut, LeftOutReason, Mode
from qa_app.pipeline.text import content_stems, folded, jaccard, stem_set, word_count
from qa_app.pipeline.wording import WANTS_ADVICE, WANTS_COUNSEL, WANTS_SIZE, WANTS_WITHOUT, Sound, is_null

_FIGURES = re.compile(r"\beffect sizes?\b|\bSMD\b|\bCI\b|\bP ?[=<>≤]")
_DECIMAL = re.compile(r"\d+\.\d+")
_IN_BRACKETS = re.compile(r" \([^()]*\)")

CONTEXT = frozenset({Section.INTRODUCTION, Section.BACKGROUND})
AIMED_FROM = 0.4  # share of the words for the people a sentence is aimed at that the question holds, from which it is aimed at these
UNASKED = CONTEXT | {Section.METHODS}
EXPLANATION = "discussion"  # the intent of a question that asks why
UNSURE = frozenset({Section.LIMITATIONS, Section.METHODS})
_OF_ANY_AGE = re.compile(r"\ball ages\b|(?<!older )(?<!old )(?<!elderly )(?<!aged )\badults\b")
LONG_SENTENCE_WORDS = 45
SHORT_SENTENCE_WORDS = 8
NEWEST_BEARS_FROM = 0.6  # share of the likeliest study's chance to bear, from which one may be the newest on the matter
MEASURE_SHARE = 0.75  # of naming an outcome, that a sentence does which names what it is measured by
STRAY_FROM = 0.2  # likeness to a finding from which a sentence tells it


@dataclass(frozen=True, slots=True)
class Quotable:
    """One or two neighbouring sentences of a passage that stand on their own."""

    text: str
    candidate: Candidate
    score: float
    stems: frozenset[str]
    first: int
    """Its sentences in the passage, `first` to `last`, both included."""
    last: int
    opening: float = 0.0
    """How well it would open the answer: the score, and what makes a first sentence."""
    cosine: float = 0.0
    """Of its last sentence to the question; 0.0 without vectors."""
    named: float = 0.0
    """Share of the question's terms that it names, in any name of a concept that they belong to."""
    parts: int = 1
    """Sentences chosen for themselves that it holds."""
    is_aside: bool = False
    """It tells what nobody asked: talk about the literature, a reason, or how a study was made."""
    needed: float = 0.0
    """Log odds that a short answer needs it, whatever else is quoted."""
    serves: bool | None = None
    """Whether it gives the number asked for, or the limits or methods; None where the question asks for no such thing."""
    is_nameless: bool = False
    """Somebody speaks in it who is not named, or it says neither what was done nor to whom: it would seem to speak of the study
    that is quoted before it.
    """
    bears: float = 0.0
    """Chance that its study bears on the question; 0.0 where nobody has worked it out."""
    is_on_subject: bool = True
    """It names the rarest concept that the question names, which says most of what is asked; true where that names none."""
    doubts: frozenset[int] = frozenset()
    """Sentences of its passage in which nothing was found of what the question names, or not surely."""
    of_asked_people: frozenset[int] = frozenset()
    """Sentences of its passage that speak of the people asked about, or of what they have."""
    is_of_them: bool = False
    """The question names people, and its study is of those and no others."""
    is_of_training: bool = False
    """The question asks about people who do not train, and it says nothing of them."""
    is_of_equal: bool = False
    """It speaks of a variable of training that the question only holds equal, and of none that it asks about beside."""
    is_of_many: bool = False
    """The question names people, its study is not of those alone, and it does not speak of them."""
    is_further: bool = False
    """It is hardly needed, and quoted only that its study is heard."""

    @property
    def chance(self) -> float:
        """That a short answer needs it, 0 to 1."""
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, self.needed))))

    @property
    def leads(self) -> float:
        """Log odds by which the sentence is found that answers best: a short answer needs it, and it suits question and reader."""
        return self.needed + self.score

    @property
    def length(self) -> int:
        """Sentences that it holds."""
        return self.last - self.first + 1

    @property
    def study_id(self) -> str:
        return self.candidate.passage.study.study_id

    @property
    def section(self) -> Section:
        return self.candidate.passage.section

    def is_beside(self, other: Quotable) -> bool:
        """Whether one goes on where the other one ends, in the same passage."""
        if self.candidate is not other.candidate:
            return False
        return other.first < self.first <= other.last + 1 or self.first < other.first <= self.last + 1

    def goes_on(self, other: Quotable) -> bool:
        """Whether it is the other one and the sentence after it, which hangs on that."""
        return self.candidate is other.candidate and other.first <= self.first <= other.last == self.last - 1

    def leads_to(self, other: Quotable) -> bool:
        """Whether it stands right before the other one: told after it, it would tell nothing."""
        return self.candidate is other.candidate and self.last == other.first - 1

    def joined(self, other: Quotable) -> Quotable:
        """Both as one quotation, for two that stand side by side."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        passage = self.candidate.passage
        text = passage.text[passage.sentences[first].start : passage.sentences[last].end]
        return Quotable(
            text,
            self.candidate,
            max(self.score, other.score),
            self.stems | other.stems,
            first,
            last,
            max(self.opening, other.opening),
            max(self.cosine, other.cosine),
            max(self.named, other.named),
            self.parts + other.parts,
            self.is_aside and other.is_aside,
            max(self.needed, other.needed),
            self.serves or other.serves,
            (self if self.first <= other.first else other).is_nameless,
            max(self.bears, other.bears),
            self.is_on_subject or other.is_on_subject,
            self.doubts,
            self.of_asked_people,
            self.is_of_them,
        )

    @property
    def decimals(self) -> frozenset[str]:
        """Its figures with a decimal point: two sentences that share some report one result."""
        return _decimals(self.text)


def _has_any(own: frozenset[str], concepts: Sequence[Concept]) -> bool:
    """Whether these stems hold all of a name of one of these concepts."""
    return any(name <= own for concept in concepts for name in _name_stems(concept))


def _set_apart(evidence: Evidence) -> tuple[tuple[Concept, Concept], ...]:
    """Things done or taken that the question sets against each other, two and two."""
    done = {concept.concept_id: concept for concept in evidence.understanding.concepts if concept.kind in DONE}
    if len(done) < 2:
        return ()
    pairs = find_set_apart(evidence.question.searched, evidence.understanding)
    return tuple((done[a], done[b]) for a, b in sorted(map(sorted, pairs)))


def rank_sentences(evidence: Evidence, policy: Policy) -> tuple[Quotable, ...]:
    """Every sentence that can stand alone, the most direct first; ties by passage and position."""
    asked = Asked.of(evidence)
    places = {candidate.passage.passage_id: place for place, candidate in enumerate(evidence.passages)}
    quotables = []
    for candidate in _quoted(evidence):
        lag = policy.opening_place_weight * places[candidate.passage.passage_id]
        doubts, of_asked_people = _doubts(candidate, asked), _of_asked_people(candidate, asked)
        for first, position, text in _standing_alone(candidate, asked):
            if _is_unasked(candidate, position, text, asked):
                continue
            signals = sentence_signals(text, first, position, candidate, asked)
            score = _log_odds(policy.sentence, signals)
            score += _suits(text, candidate, asked, policy, cosine=signals["cosine"], is_stray=signals["off"] > 0)
            named = _named(text, asked)
            quotables.append(
                Quotable(
                    text,
                    candidate,
                    round(score, 6),
                    stem_set(text),
                    first,
                    position,
                    opening=round(
                        score + _opens(text, candidate, asked, policy, named=named, outcomes=signals["outcome"]) - lag,
                        6,
                    ),
                    cosine=signals["cosine"],
                    named=named,
                    is_aside=_is_aside(text, asked),
                    needed=round(
                        _log_odds(policy.needed, signals)
                        - _hard(text, asked, policy)
                        + policy.alternatives_gain * asked.sets_apart(text, candidate.passage.section)
                        - policy.without_gain * asked.wants_without * Sound.of(text).trains
                        - policy.dieting_weight * asked.is_of_dieters(text, candidate.passage.study),
                        6,
                    ),
                    serves=asked.is_served(text, candidate.passage.section),
                    is_nameless=standing.is_nameless(text) or asked.is_bare(text, first),
                    is_on_subject=asked.rarest is None or names(text, asked.rarest),
                    doubts=doubts,
                    of_asked_people=of_asked_people,
                    bears=(evidence.citable or {}).get(candidate.passage.study.study_id, 0.0),
                    is_of_them=asked.is_of_them(candidate.passage.study),
                    is_of_training=asked.wants_without and Sound.of(text).trains >= 0,
                    is_of_equal=asked.is_of_equal(stem_set(text)),
                    is_of_many=asked.is_of_many(text, candidate.passage.study),
                )
            )
    return tuple(sorted(quotables, key=lambda q: (-q.score, q.candidate.passage.passage_id, q.last)))


def _doubts(candidate: Candidate, asked: Asked) -> frozenset[int]:
    """Sentences of a passage that say of something that the question names that nothing was found, or not surely."""
    return frozenset(place for place, text in enumerate(_texts(candidate)) if is_null(text) and _named(text, asked) > 0)


def _of_asked_people(candidate: Candidate, asked: Asked) -> frozenset[int]:
    """Sentences of a passage that speak of the people asked about, or of what they have: "in overweight participants"."""
    understanding = asked.evidence.understanding
    conditions = [concept for concept in understanding.concepts if concept.kind == CONDITION]
    if not (conditions or understanding.population.is_named):
        return frozenset()
    return frozenset(
        place
        for place, text in enumerate(_texts(candidate))
        if names_some_of(folded(text), understanding.population) or any(names(text, c) for c in conditions)
    )


def _quoted(evidence: Evidence) -> Sequence[Candidate]:
    """Passages of the studies that may be quoted; all of them where none may."""
    cited = [c for c in evidence.passages if evidence.citable is None or c.passage.study.study_id in evidence.citable]
    return cited or evidence.passages


def _is_unasked(candidate: Candidate, position: int, text: str, asked: Asked) -> bool:
    """How something was found and why it was looked for is told only where that is asked, where nothing comes closer, or where it
    gives the number asked for."""
    section = candidate.passage.section
    if asked.number is not None and asked.number.search(text):
        return False
    if asked.wants & UNASKED:
        return section in UNASKED - asked.wants and bool(asked.telling)
    if not asked.telling:
        return False
    sentence = candidate.passage.sentences[position]
    own = Sound.of(
        candidate.passage.text[sentence.start : sentence.end]
    )  # what leads to it may say how it was looked for
    if own.is_aim or (own.is_minutiae and not asked.wants & UNSURE):
        return True
    if (
        section in CONTEXT and candidate.passage.study.study_id in asked.telling
    ):  # what was believed before it was looked into
        return True
    cosines = candidate.sentence_cosines
    return section in UNASKED and not (cosines and cosines[position] > asked.closest_telling)


def _standing_alone(candidate: Candidate, asked: Asked) -> Iterator[tuple[int, int, str]]:
    """Each sentence with the one before it, where it hangs on that or where that alone names what was done, to whom or what came of
    it. What hangs even so is left out, and so are orders, and what was found of old or young people without saying so, where nobody
    asked about them.
    """
    passage = candidate.passage
    texts = _texts(candidate)
    for position, sentence in enumerate(passage.sentences):
        first = standing.find_first(texts, position, passage.study.title)
        if first is None or (first < position and Sound.of(texts[position]).is_aside):
            continue
        while max(0, position - standing.MOST_JOINED) < first:
            if not asked.named_kinds(texts[first - 1]) - asked.named_kinds(" ".join(texts[first : position + 1])):
                break
            before = standing.find_first(texts, first - 1, passage.study.title)
            if before is None:
                break
            first = before
        first = _with_outcome(
            texts, first, position, asked.measured.get(passage.study.study_id, frozenset()), passage.study.title
        )
        if asked.is_of_others(passage.study) and not any(map(_names_people, texts[first : position + 1])):
            named = [i for i in range(max(0, first - standing.MOST_JOINED), first) if _names_people(texts[i])]
            if not named:
                continue
            first = named[-1]
        if not any(map(gives_orders, texts[first : position + 1])):
            yield first, position, passage.text[passage.sentences[first].start : sentence.end]


def _with_outcome(texts: Sequence[str], first: int, last: int, measured: frozenset[str], title: str) -> int:
    """Where a quotation begins that gives figures of no outcome: with the sentence before it that names one that its study measured."""
    if not measured or not _FIGURES.search(" ".join(texts[first : last + 1])):
        return first
    if any(measured & stem_set(text) for text in texts[first : last + 1]):
        return first
    for before in range(first - 1, max(-1, last - standing.MOST_JOINED - 1), -1):
        if measured & stem_set(texts[before]):
            begins = standing.find_first(texts, before, title)
            return first if begins is None else begins
    return first


def _names_people(text: str) -> bool:
    return find_population(folded(text)).is_named


def _hard(text: str, asked: Asked, policy: Policy) -> float:
    """Log odds that a sentence loses for a beginner, for each mark of statistics; three count at most."""
    is_hard = not asked.wants_figures
    return policy.statistics_weight * min(3, Sound.of(text).statistics) * is_hard


def _texts(candidate: Candidate) -> list[str]:
    return [candidate.passage.text[s.start : s.end] for s in candidate.passage.sentences]


def find_hanging(evidence: Evidence, chosen: Sequence[Quotable]) -> tuple[LeftOut, ...]:
    """Sentences that hold more of the question than any chosen one, and are left out because they hang on what cannot be quoted."""
    terms = frozenset(evidence.understanding.terms)
    most = max((len(terms & q.stems) for q in chosen), default=0)
    found = []
    for candidate in _quoted(evidence):
        texts, passage = _texts(candidate), candidate.passage
        for position, text in enumerate(texts):
            if len(terms & stem_set(text)) > most and standing.find_first(texts, position, passage.study.title) is None:
                detail = f"it needs what stands before it: “{standing.read(text).words}”"
                found.append(
                    LeftOut(
                        "sentence",
                        LeftOutReason.HANGS,
                        detail,
                        passage.passage_id,
                        text,
                        study_id=passage.study.study_id,
                    )
                )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks of every sentence, worked out once."""

    evidence: Evidence
    terms: frozenset[str]
    outcomes: tuple[Concept, ...]
    measures: Mapping[str, tuple[Concept, ...]]
    """By outcome what it is measured by."""
    wants: frozenset[Section]
    wants_figures: bool
    wants_without: bool
    """It asks of people who do not train."""
    wants_size: bool
    """It asks how large an effect was, and not what to do."""
    best_score: float
    spoken: frozenset[str]
    """The question's terms and the stems of all names of the concepts that it names."""
    findings: Mapping[str, Sequence[Told]]
    measured: Mapping[str, frozenset[str]]
    """By study the stems of the outcomes of its findings."""
    telling: frozenset[str]
    """Studies of which a passage says what was found."""
    wants_advice: bool
    """It asks what to do, and not only what something does."""
    number: re.Pattern[str] | None
    """What a sentence holds that gives the number asked for; None where none is."""
    closest: float
    """Cosine to the question of the closest sentence that may be quoted; 0.0 without vectors."""
    closest_telling: float
    """Cosine to the question of the closest sentence of those passages; 0.0 without vectors."""
    subjects: tuple[Concept, ...]
    """What the question names that is no outcome: what was done, and to whom."""
    done: tuple[Concept, ...] = ()
    """Of these what people do or take."""
    rarest: Concept | None = None
    """Of all that it names, what fewest studies are about."""
    numbered: frozenset[str] = frozenset()
    """Names that a number belongs to: type 1."""
    dated: frozenset[str] = frozenset()
    """Studies of the year that the question names or, where it asks for the newest, the newest that may be quoted."""
    apart: tuple[tuple[Concept, Concept], ...] = ()
    """Things done or taken that the question sets against each other, two and two."""
    variables: tuple[tuple[Concept, ...], tuple[Concept, ...]] = ((), ())
    """Of training: those that are asked about, and those that are only held equal."""
    keeps_food: bool = False
    """People are asked about who eat as before."""

    def is_of_others(self, study: Study) -> bool:
        """Whether a study is of old or of young people, and the question names nobody."""
        return study.age_group in SPECIAL_AGES and not self.evidence.understanding.population.is_named

    def is_of_them(self, study: Study) -> bool:
        """Whether a study is of the age or the sex that the question names, and of no others."""
        people = self.evidence.understanding.population
        return bool(people.age_groups or people.sexes) and is_about(study, people)

    def is_of_dieters(self, text: str, study: Study) -> bool:
        """Whether it is about people on a diet, where those are asked about who eat as before."""
        return self.keeps_food and is_of_dieting(f"{study.title} {text}")

    def is_of_equal(self, own: frozenset[str]) -> bool:
        """Whether a sentence with these stems speaks of what the question only holds equal, and of no variable that it asks about."""
        asked, held = self.variables
        return bool(asked) and _has_any(own, held) and not _has_any(own, asked)

    def is_of_many(self, text: str, study: Study) -> bool:
        """Whether the question names an age or a sex, and neither the study is of that alone nor the text speaks of it."""
        people = self.evidence.understanding.population
        is_named = bool(people.age_groups or people.sexes)
        return is_named and not self.is_of_them(study) and not names_some_of(folded(text), people)

    def names_both(self, own: frozenset[str]) -> bool:
        """Whether a sentence with these stems names both of two things that the question sets against each other."""
        return any(all(_has_any(own, [concept]) for concept in pair) for pair in self.apart)

    def sets_apart(self, text: str, section: Section) -> bool:
        """Whether a sentence says what was found or advised, and names both of what the question sets against each other."""
        sides = self.evidence.alternatives
        return sides is not None and section in TELLING and are_told(sides, text)

    def is_bare(self, text: str, first: int) -> bool:
        """Whether a quotation from within a passage names nothing that was done, nor anybody, of what the question names."""
        return first > 0 and bool(self.subjects) and "subject" not in self.named_kinds(text)

    def is_elsewhere(self, own: frozenset[str]) -> bool:
        """Whether a sentence with these stems speaks of nothing that was done of what the question names."""
        return bool(self.done) and not _has_any(own, self.done)

    def is_of_another_number(self, text: str) -> bool:
        """Whether a text names what a number belongs to with other numbers than the question alone: type 2 for type 1."""
        if not self.numbered:
            return False
        heads = {name.partition(" ")[0] for name in self.numbered}
        own = {name for name in find_numbered(text) if name.partition(" ")[0] in heads}
        return bool(own) and own.isdisjoint(self.numbered)

    def is_served(self, text: str, section: Section) -> bool | None:
        """Whether a sentence gives the number asked for, or else the limits or methods; None where no such thing is asked for."""
        if self.number is not None:
            return bool(self.number.search(text))
        return section in self.wants & UNSURE if self.wants & UNSURE else None

    def named_kinds(self, text: str) -> frozenset[str]:
        """Of `subject` (what was done, or to whom) and `outcome` those that a sentence names, as far as the question names them."""
        has_subject = any(names(text, concept) for concept in self.subjects) or _names_people(text)
        has_outcome = any(names(text, concept) for concept in self.outcomes)
        return frozenset(["subject"] * has_subject + ["outcome"] * has_outcome)

    def tells_of(self, text: str, outcome: Concept) -> float:
        """1.0 where a sentence names the outcome, a share of it where it names what that is measured by, else 0.0."""
        if names(text, outcome):
            return 1.0
        return MEASURE_SHARE * any(names(text, measure) for measure in self.measures.get(outcome.concept_id, ()))

    @staticmethod
    def of(evidence: Evidence) -> Asked:
        understanding, terms = evidence.understanding, frozenset(evidence.understanding.terms)
        question = folded(evidence.question.searched)
        telling = [c for c in _quoted(evidence) if c.passage.section not in UNASKED]
        outcomes = tuple(concept for concept in understanding.concepts if concept.kind in MEASURED)
        findings: dict[str, list[Told]] = {}
        outcomes_of: dict[str, frozenset[str]] = {}
        for finding in evidence.findings:
            outcomes_of[finding.study_id] = outcomes_of.get(finding.study_id, frozenset()) | measured(finding)
            said, decimals = _said(finding)
            told = Told(said, decimals, _about(finding, terms), _is_on(finding, outcomes))
            findings.setdefault(finding.study_id, []).append(told)
        return Asked(
            evidence=evidence,
            terms=terms,
            outcomes=outcomes,
            measures={
                outcome.concept_id: tuple(m for owner, m in understanding.measures if owner == outcome.concept_id)
                for outcome in outcomes
            },
            spoken=terms.union(*map(_names_of, understanding.concepts)),
            wants=frozenset(understanding.target_sections),
            wants_figures=evidence.question.mode is Mode.INTERMEDIATE or understanding.asks_for_figures,
            wants_without=bool(WANTS_WITHOUT.search(question)),
            wants_size=bool(WANTS_SIZE.search(question)) and not WANTS_COUNSEL.search(question),
            best_score=max(c.score for c in evidence.passages) or 1.0,
            findings=findings,
            measured=outcomes_of,
            telling=frozenset(c.passage.study.study_id for c in telling),
            wants_advice=bool(WANTS_ADVICE.search(question)),
            number=number_asked(evidence.question.searched),
            closest=max((cosine for c in _quoted(evidence) for cosine in c.sentence_cosines), default=0.0),
            closest_telling=max((cosine for c in telling for cosine in c.sentence_cosines), default=0.0),
            subjects=tuple(concept for concept in understanding.concepts if concept.kind not in MEASURED),
            done=tuple(concept for concept in understanding.concepts if concept.kind in DONE),
            numbered=frozenset(find_numbered(evidence.question.searched)),
            apart=_set_apart(evidence),
            variables=asked_and_held_equal(evidence.question.searched, understanding),
            keeps_food=keeps_food(question),
            dated=_dated(evidence),
            rarest=max(understanding.concepts, key=lambda concept: (concept.rarity, concept.concept_id), default=None),
        )


def _dated(evidence: Evidence) -> frozenset[str]:
    """Studies of the year asked for; of the newest only among those about as likely to bear on the question as the likeliest."""
    studies = {c.passage.study.study_id: c.passage.study for c in _quoted(evidence)}
    years = find_years(evidence.question.searched)
    if not years and asks_for_newest(evidence.question.searched):
        bears = {study_id: (evidence.citable or {}).get(study_id, 1.0) for study_id in studies}
        near = [s for s in studies.values() if bears[s.study_id] >= NEWEST_BEARS_FROM * max(bears.values())]
        years = frozenset([max((s.year for s in near if s.year), default=0)])
    return frozenset(study_id for study_id, study in studies.items() if study.year in years)


def _log_odds(model: Logistic, signals: Mapping[str, float]) -> float:
    return model.intercept + sum(weight * signals[name] for name, weight in model.weights)


def sentence_signals(text: str, first: int, last: int, candidate: Candidate, asked: Asked) -> dict[str, float]:
    """What speaks for a sentence. All are shares or 0 and 1, but for the cosine.

    cosine     of the question to the sentence
    coverage   share of the question's terms that it holds
    passage    its passage's score over the best one's
    leading    it is of the study that ranks first
    closest    it is its passage's closest to the question
    figures    it holds a number, and the reader or the question wants figures
    finding    how near it comes to a finding that is about what is asked
    outcome    share of the outcomes asked for that it names
    target     it stands in a section that the question aims at
    limits     limits were asked for, and it is one;    methods   the same
    aside      it talks about the literature instead;   claim     it says what was found or advised
    short      it has hardly any content;               context   it introduces
    practical  it is advice;                            others    it is about other people than those asked about
    near       its cosine over that of the closest sentence that says what was found, at most 1; without vectors its coverage
    people     it names people whom the question names
    special    the question names nobody, and the study is of old or of young people
    pair       it needs the sentence before it
    plain      a conclusion or advice, for a beginner
    off        it tells of another outcome than asked; limit     a limitation that nobody asked for
    reason     a reason that nobody asked for;          why       a reason that was asked for
    elsewhere  it speaks of nothing that was done of what the question names
    chance     that its study bears on the question
    """
    evidence, study, section = asked.evidence, candidate.passage.study, candidate.passage.section
    own, sound = stem_set(text), Sound.of(text)
    cosines = candidate.sentence_cosines
    cosine = cosines[last] if cosines else candidate.hit.cosine or 0.0
    findings = asked.findings.get(study.study_id, ())
    understanding, is_advice = evidence.understanding, section in ADVICE
    closest = asked.closest_telling or asked.closest
    return {
        "cosine": cosine,
        "coverage": len(asked.terms & own) / max(1, len(asked.terms)),
        "passage": candidate.score / asked.best_score,
        "leading": float(study.study_id == evidence.leading_study),
        "closest": float(bool(cosines) and cosine == max(cosines)),
        "figures": float(asked.wants_figures and sound.has_number),
        "finding": _nearest(text, own, findings),
        "outcome": sum(asked.tells_of(text, concept) for concept in asked.outcomes) / max(1, len(asked.outcomes)),
        "target": float(section in asked.wants),
        "limits": float(section is Section.LIMITATIONS and section in asked.wants),
        "methods": float(section is Section.METHODS and section in asked.wants),
        "aside": float(Section.LIMITATIONS not in asked.wants and sound.is_aside),
        "claim": float(sound.is_claim),
        "short": float(word_count(text) < SHORT_SENTENCE_WORDS),
        "context": float(section in CONTEXT),
        "practical": float(section is Section.PRACTICAL_APPLICATIONS),
        "others": float(is_about_others(study, understanding.population)),
        "near": min(1.0, cosine / closest) if closest else len(asked.terms & own) / max(1, len(asked.terms)),
        "people": float(names_some_of(folded(text), understanding.population)),
        "special": float(asked.is_of_others(study)),
        "pair": float(first < last),
        "plain": float(is_advice and evidence.question.mode is Mode.BEGINNER),
        "off": float(_is_stray(text, own, findings)),
        "limit": float(section is Section.LIMITATIONS and section not in asked.wants),
        "reason": float(_is_unasked_reason(sound, asked)),
        "why": float(EXPLANATION in understanding.intents and sound.explains),
        "elsewhere": float(asked.is_elsewhere(own)),
        "chance": 1.0 if evidence.citable is None else evidence.citable.get(study.study_id, 0.0),
    }


@dataclass(frozen=True, slots=True)
class Told:
    """A finding, as far as sentences are compared with it."""

    said: frozenset[str]
    """Its statement as stems."""
    decimals: frozenset[str]
    about: float
    """How much of the question it is about."""
    is_on_outcome: bool
    """It is about an outcome that the question names; true where it names none."""

    def likeness(self, own: frozenset[str], decimals: frozenset[str]) -> float:
        """Shared words, and shared figures."""
        return jaccard(self.said, own) + 0.25 * min(2, len(decimals & self.decimals))


def _nearest(text: str, own: frozenset[str], findings: Sequence[Told]) -> float:
    """How much a sentence says the same as a finding on the matter."""
    decimals = _decimals(text)
    return max((told.likeness(own, decimals) * told.about for told in findings if told.about), default=0.0)


def _is_stray(text: str, own: frozenset[str], findings: Sequence[Told]) -> bool:
    """Whether a sentence tells a finding on another outcome than asked, of a study that has some on it."""
    if not any(told.is_on_outcome for told in findings) or all(told.is_on_outcome for told in findings):
        return False
    decimals = _decimals(text)
    on, off = (
        max(told.likeness(own, decimals) for told in findings if told.is_on_outcome is side) for side in (True, False)
    )
    return off >= STRAY_FROM and off > on


@lru_cache(maxsize=16_384)
def _decimals(text: str) -> frozenset[str]:
    return frozenset(_DECIMAL.findall(text))


def _is_on(finding: Finding, outcomes: Sequence[Concept]) -> bool:
    if not outcomes:
        return True
    said = stem_set(finding.outcome)
    return any(names(finding.outcome, concept) or said <= _names_of(concept) for concept in outcomes)


@lru_cache(maxsize=2_048)
def _name_stems(concept: Concept) -> tuple[frozenset[str], ...]:
    """Of each of its names."""
    return tuple(stem_set(name) for name in (concept.name, *concept.aliases))


@lru_cache(maxsize=2_048)
def _names_of(concept: Concept) -> frozenset[str]:
    return stem_set(" ".join((concept.name, *concept.aliases)))


def measured(finding: Finding) -> frozenset[str]:
    """Stems of its outcome."""
    return _core(finding.outcome)


def treatment(finding: Finding) -> frozenset[str]:
    """Stems of what was tried."""
    return _core(finding.intervention)


def compared(finding: Finding) -> frozenset[str]:
    """Stems of both sides that were compared."""
    return treatment(finding) | _core(finding.comparator)


@lru_cache(maxsize=8_192)
def _core(name: str) -> frozenset[str]:
    """Stems of a name, without what is said of it in brackets."""
    return frozenset(content_stems(_IN_BRACKETS.sub("", name)))


@lru_cache(maxsize=8_192)
def _said(finding: Finding) -> tuple[frozenset[str], frozenset[str]]:
    return stem_set(finding.statement), _decimals(finding.statement)


def _about(finding: Finding, terms: frozenset[str]) -> float:
    asked = stem_set(f"{finding.intervention} {finding.comparator} {finding.outcome}")
    return len(terms & asked) / max(1, len(terms))


def _suits(text: str, candidate: Candidate, asked: Asked, policy: Policy, *, cosine: float, is_stray: bool) -> float:
    """What is no sign of an answer point, but of a sentence that suits the question and the reader.

    Asked why, what explains leads; asked for a number, what gives one of the things asked about; asked for the newest study, or for
    that of a year, what that says; where the question names nobody, what is found of people of a special age waits. A beginner gets advice and plain sentences first.
    """
    evidence, understanding, sound = asked.evidence, asked.evidence.understanding, Sound.of(text)
    value = 0.0
    is_wanted = EXPLANATION in understanding.intents and sound.explains
    value += policy.explains_gain * is_wanted
    value -= policy.without_gain * asked.wants_without * sound.trains
    value -= policy.other_people_weight * names_others(folded(text), understanding.population)
    value += policy.dated_gain * (candidate.passage.study.study_id in asked.dated)
    if Section.LIMITATIONS not in asked.wants and sound.is_aside and not is_wanted:
        value -= policy.aside_weight
    if asked.number is not None and asked.number.search(text):
        value += policy.number_gain
    value -= policy.other_number_weight * asked.is_of_another_number(text)
    value -= policy.dieting_weight * asked.is_of_dieters(text, candidate.passage.study)
    if not understanding.population.is_named and _is_special(text, candidate.passage.study):
        value -= policy.special_age_weight
    is_advice = candidate.passage.section in ADVICE
    if is_advice and cosine < policy.advice_from * asked.closest:  # advice on another matter
        value -= policy.stray_advice_weight
    if evidence.question.mode is Mode.BEGINNER:
        value += policy.plain_weight * is_advice
        value -= policy.statistics_weight * min(3, sound.statistics) * (not asked.wants_size)
        value -= policy.abbreviation_weight * min(3, sound.abbreviations)
    if word_count(text) > LONG_SENTENCE_WORDS:
        value -= policy.long_weight
    if _is_unasked_reason(sound, asked) or (Section.METHODS not in asked.wants and sound.is_made):
        value -= policy.unasked_weight
    aimed_at = sound.aimed_at
    if aimed_at and len(aimed_at & asked.spoken) < AIMED_FROM * len(aimed_at):
        value -= policy.aimed_weight
    if is_stray:
        value -= policy.stray_outcome_weight
    return value


def _is_special(text: str, study: Study) -> bool:
    """Whether a sentence is of old or of young people alone: by its study, or by those whom it names."""
    if study.age_group in SPECIAL_AGES:
        return True
    said = folded(text)
    named = find_population(said).age_groups
    return bool(named) and SPECIAL_AGES.issuperset(named) and not _OF_ANY_AGE.search(said)


def _is_unasked_reason(sound: Sound, asked: Asked) -> bool:
    return EXPLANATION not in asked.evidence.understanding.intents and sound.reasons


def _is_aside(text: str, asked: Asked) -> bool:
    sound = Sound.of(text)
    is_talk = sound.is_aside and Section.LIMITATIONS not in asked.wants
    is_made = sound.is_made and Section.METHODS not in asked.wants
    return is_talk or is_made or _is_unasked_reason(sound, asked)


def _named(text: str, asked: Asked) -> float:
    """Share of the question's terms that a sentence holds, or that belong to a concept which it names."""
    concepts = [c for c in asked.evidence.understanding.concepts if names(text, c)]
    held = stem_set(text).union(*map(_names_of, concepts))
    return len(asked.terms & held) / max(1, len(asked.terms))


def _opens(text: str, candidate: Candidate, asked: Asked, policy: Policy, *, named: float, outcomes: float) -> float:
    """What makes a first sentence: it names what is asked and, unless that is what to do, the outcomes; for a beginner it is what was
    concluded or advised, but no mere advice where nobody asked for any. How a study was made, that none was found, and what speaks of
    nothing that was done of what the question names, is no first sentence; what names both of two things that the question sets against
    each other is a better one.
    """
    value = policy.opening_named_weight * named
    value += policy.opening_outcome_weight * outcomes * (not asked.wants_advice)
    understanding = asked.evidence.understanding
    wants_figures = asked.evidence.question.mode is not Mode.BEGINNER or understanding.asks_for_figures
    sound = Sound.of(text)
    is_mere_advice = not asked.wants_advice and sound.advises and not sound.tells
    if not wants_figures and EXPLANATION not in understanding.intents and candidate.passage.section in ADVICE:
        value += policy.opening_gain * (not is_mere_advice)
    value -= policy.mere_advice_weight * is_mere_advice
    if not asked.wants & UNSURE:
        is_without = sound.finds_none and asked.number is None
        value -= policy.opening_making_weight * (candidate.passage.section is Section.METHODS or is_without)
    value -= policy.opening_elsewhere_weight * asked.is_elsewhere(stem_set(text))
    value += policy.opening_apart_gain * asked.names_both(stem_set(text))
    return value
