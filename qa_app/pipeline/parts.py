"""Which part of a question an answer leaves open: something that the question names and nothing cited speaks of.

In doubt nothing is open. Spoken of is what a quoted sentence, a passage of a cited study, its title or its findings hold, in any of the
names that the concepts know or in most of its words, and what a cited study is about or is next to in the graph of concepts, as far as
that tells something: of a condition not by what is done, of what is done not by a concept with many neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus_app.records import AgeGroup, Concept, Finding, Sex, Study, TrainingStatus
from qa_app.pipeline.naming import CONDITION, DONE, MEASURED, MOST_NEIGHBOURS, NUTRIENT, find_name_spans, names
from qa_app.pipeline.population import find_group_spans, find_population
from qa_app.pipeline.qualifiers import Kind, Qualifier, find_qualifiers, telling_stems
from qa_app.pipeline.records import Attempt, Evidence, InsufficientEvidence, Population, Sentence, Understanding
from qa_app.pipeline.text import content_stems, folded, stem_set, words
from qa_app.pipeline.unstudied import Subject, find_asked, find_subjects, is_named
from qa_app.pipeline.wording import Sound

OUTCOME = "outcome"
SUBJECTS = frozenset({"intervention", NUTRIENT})
MOST_BETWEEN = 3  # words between two names that "and" joins
SHORTEST_ROOT = 4  # letters of a stem with which others of its family begin: swim, swimmer
SHARED_ROOT = 5  # letters in common from which two stems may be of one family
EVERYWHERE = frozenset(
    stem for name in ("resistance training", "exercise", "diet", "supplement") for stem in content_stems(name)
)
"""Words of names of what is done that tell none apart."""
MOST_OF_A_NAME = 0.75  # of its other words, that a text holds which speaks of it
LOOSE_HEADS = frozenset(stem for name in ("function", "performance", "mass") for stem in content_stems(name))
"""Heads of names that say little of what was measured."""
_JOINT = re.compile(
    r"\b(?:and|or|vs\.?|versus|plus|than|compared (?:with|to))\b|[/&]|\bas\b[^?]{1,60}\bas\b", re.IGNORECASE
)
_COMPARED = re.compile(r"\b(?:vs\.?|versus|than|compared (?:with|to)|as)\b", re.IGNORECASE)
_BY_SEX = re.compile(r"\b(?:wom[ae]n|females?|m[ae]n|males?)\b", re.IGNORECASE)
_BOTH_AGES = re.compile(r"\byoung|\bchild|\bteen|\badolescen|\bkids?\b", re.IGNORECASE)
_GROUPS: dict[AgeGroup | Sex | TrainingStatus, str] = {
    AgeGroup.YOUTH: "young people",
    AgeGroup.ADULTS: "younger adults",
    AgeGroup.OLDER_ADULTS: "older adults",
    Sex.FEMALE: "women",
    Sex.MALE: "men",
    TrainingStatus.UNTRAINED: "untrained people",
    TrainingStatus.TRAINED: "trained people",
}
_YOUNG = {Sex.FEMALE: "girls", Sex.MALE: "boys"}
_OPEN_AGES = frozenset({AgeGroup.MIXED, AgeGroup.NOT_REPORTED})
_OPEN_SEXES = frozenset({Sex.BOTH, Sex.NOT_REPORTED})
_TRAINED = frozenset({TrainingStatus.TRAINED, TrainingStatus.ATHLETES, TrainingStatus.RECREATIONALLY_TRAINED})
_EQUAL = re.compile(
    r"\b(?:equa|match|same\b|identical|constant|isocaloric|controlled for|regardless of)", re.IGNORECASE
)
_STUDY = re.compile(
    r"\b(?:stud(?:y|ies)|trials?|reviews?|meta-?analys[ei]s|authors?|researchers?|papers?|statements?|position stands?|guidelines?|critiques?)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w-]{2,}")
_MARK = re.compile(r"\b\w*[A-Z]\w*[A-Z]\w*\b")  # two capitals in a word
_LONG = re.compile(
    r"\byears? (?!old|of age)|\byears?[.,;)]|\b(?:one|two|three|four|five|\d+)[- ]years?\b(?![- ](?:old|of age))|long(?:er)?[- ]term|follow[- ]?up|decade|"
    r"\b(?:[5-9]\d|\d{3}) weeks|\b(?:1[2-9]|[2-9]\d) months",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """All that an answer and the studies that it cites speak of."""

    texts: tuple[str, ...]
    stems: frozenset[str]
    topics: frozenset[str]
    """Ids of concepts that the studies are about."""

    @staticmethod
    def of(
        sentences: Sequence[Sentence],
        studies: Sequence[Study],
        findings: Sequence[Finding],
        passages: Sequence[str],
        concepts: Sequence[Concept],
    ) -> Heard:
        topics = frozenset(concept_id for study in studies for concept_id in study.concepts)
        named = (" ".join((c.name, *c.aliases)) for c in concepts if c.concept_id in topics)
        texts = (
            *(sentence.text for sentence in sentences),
            *(f"{f.intervention} {f.comparator} {f.outcome}" for f in findings),
            *passages,
            *(f"{study.title}. {study.population}" for study in studies),
        )
        return Heard(texts, frozenset().union(*map(stem_set, (*texts, *named))), topics)

    def has(self, concept: Concept) -> bool:
        if concept.concept_id in self.topics:
            return True
        own, most = frozenset(content_stems(concept.name)), 0.5
        if concept.kind in DONE:
            own, most = own - EVERYWHERE, MOST_OF_A_NAME
        return any(
            names(text, concept) or (own and len(own & stem_set(text)) >= most * len(own)) for text in self.texts
        )

    def has_like(self, outcome: Concept, concepts: Sequence[Concept]) -> bool:
        """Whether an outcome is spoken of by one of its names, or a study is about one next to it in the graph, or of its head word:
        lower-body strength and muscle strength, but not blood pressure and blood flow, nor kidney function and physical function.
        """
        if any(names(text, outcome) for text in self.texts):
            return True
        heads = frozenset(content_stems(outcome.name)[-1:]) - LOOSE_HEADS
        alike = (c for c in concepts if c.concept_id in self.topics and c.kind in MEASURED)
        return any(c.concept_id in outcome.neighbours or heads.intersection(content_stems(c.name)[-1:]) for c in alike)

    def is_near(self, concept: Concept, *, apart_from: frozenset[str] = frozenset()) -> bool:
        """Whether it is spoken of, or a study is about what is next to it in the graph; `apart_from` are ids that do not count."""
        return self.has(concept) or bool(self.topics.intersection(concept.neighbours) - apart_from)

    def has_word_of(self, stems: frozenset[str]) -> bool:
        """Whether one of the stems stands anywhere, or a word of its family."""
        if stems & self.stems:
            return True
        long = [stem for stem in self.stems if len(stem) >= SHORTEST_ROOT]
        return any(_are_kin(one, other) for one in stems if len(one) >= SHORTEST_ROOT for other in long)


def find_open(
    question: str,
    understanding: Understanding,
    *,
    sentences: Sequence[Sentence],
    studies: Sequence[Study],
    findings: Sequence[Finding] = (),
    passages: Sequence[str] = (),
    concepts: Sequence[Concept] = (),
) -> tuple[str, ...]:
    """Names of what the question asks for and nothing speaks of; `studies`, `findings` and `passages` are of those cited.

    - what is done or taken; of two outcomes or two interventions that are joined, the one of which is not spoken;
    - a condition that people have, unless a study is about what is next to it: but not about what is done, which is next to many;
    - what came of it, where neither that nor another outcome asked about, nor what is like them, is spoken of;
    - what no study is about; what something is compared or combined with; what is held equal; a long time;
    - people whom no cited study holds, and the one sex asked about that no quoted sentence tells apart.
    """
    asked = Asked.of(question, understanding)
    missing: list[str] = []
    doubtful, unsaid = _not_a_topic(asked.subjects, studies), _not_a_topic(asked.outcomes, studies)
    are_all = len(unsaid) == len(asked.outcomes)  # of two the one that is spoken of answers, unless they are joined
    if asked.names_parts or doubtful or (unsaid and are_all):
        heard = Heard.of(sentences, studies, findings, passages, concepts)
        for group in asked.joined:
            missing += _some_of([(concept.name, heard.has(concept)) for concept in group])
        done = frozenset(concept.concept_id for concept in concepts if concept.kind in DONE)
        missing += [concept.name for concept in asked.conditions if not heard.is_near(concept, apart_from=done)]
        told = [*(sentence.text for sentence in sentences), *(study.title for study in studies)]
        missing += [f"“{subject.text}”" for subject in asked.unstudied if not is_named(subject, told)]
        missing += [_name(q) for q in asked.qualifiers if not _is_spoken_of(q, asked, heard)]
        hubs = _hubs(concepts)
        unheard = [concept for concept in doubtful if not heard.is_near(concept, apart_from=hubs)]
        if are_all and not any(heard.has_like(concept, concepts) for concept in unsaid):
            unheard += unsaid
        missing += [concept.name for concept in unheard if not any(names(entry, concept) for entry in missing)]
    quoted = [sentence.text for sentence in sentences]
    texts = (*quoted, *passages, *(f"{study.title}. {study.population}" for study in studies))
    missing += _missing_people(question, understanding.population, texts, studies, quoted)
    missing += _not_alone(question, understanding.population, quoted, studies)
    return tuple(dict.fromkeys(missing))


class Unjoined(InsufficientEvidence):
    """Nothing found speaks of what is done or taken together with the rest of the question."""

    def __init__(self, names: Sequence[str], attempts: tuple[Attempt, ...] = ()) -> None:
        super().__init__(f"Nothing joins {', '.join(names)} with the rest of the question.")
        self.names = tuple(names)
        self.attempts = attempts
        """Of writers, where one wrote before it was seen."""


def find_unspoken(
    question: str, understanding: Understanding, evidence: Evidence, concepts: Sequence[Concept]
) -> tuple[str, ...]:
    """Names of what is done or taken, where the question is about that, and what may be quoted speaks neither of it nor of what is next to it.

    What that says on the rest of the question would be read as an answer about it. In doubt it speaks of it: one word of a name
    that tells it apart is enough, or how the training is done, where the question names that too.
    """
    subjects = _subjects(question, understanding, DONE)
    quotable = [study for study in evidence.studies if evidence.citable is None or study.study_id in evidence.citable]
    if not any(c.kind in SUBJECTS for c in subjects) or len(_not_a_topic(subjects, quotable)) < len(subjects):
        return ()
    ids = {study.study_id for study in quotable}
    texts = [c.passage.text for c in evidence.passages if c.passage.study.study_id in ids]
    findings = [finding for finding in evidence.findings if finding.study_id in ids]
    heard = Heard.of((), quotable, findings, texts, concepts)
    hubs = _hubs(concepts)
    is_spoken_of = any(
        heard.is_near(c, apart_from=hubs) or heard.stems.intersection(frozenset(content_stems(c.name)) - EVERYWHERE)
        for c in subjects
    )
    return () if is_spoken_of else tuple(concept.name for concept in subjects)


def find_lost(question: str, understanding: Understanding, missing: Sequence[str]) -> tuple[str, ...]:
    """What of that which was done or taken is `missing`, where all that was asked to come of it is missing too: what is left would be read
    as an answer.
    """
    if not missing:
        return ()
    asked = Asked.of(question, understanding)
    if not asked.outcomes or not all(any(names(told, outcome) for told in missing) for outcome in asked.outcomes):
        return ()
    done = [(concept.name, concept.name) for concept in asked.subjects]
    done += [(f"“{s.text}”", s.text) for s in asked.unstudied if s.is_asked_about and s.concept.kind in DONE]
    return tuple(name for told, name in done if told in missing)


def _hubs(concepts: Sequence[Concept]) -> frozenset[str]:
    """Ids of concepts next to so many others that being next to them tells nothing."""
    return frozenset(concept.concept_id for concept in concepts if len(concept.neighbours) > MOST_NEIGHBOURS)


def _subjects(question: str, understanding: Understanding, kinds: frozenset[str] = SUBJECTS) -> tuple[Concept, ...]:
    """What is done or taken, or of the `kinds` that are given, of which the question asks and of which some study is."""
    asked = (concept for _, concept in find_asked(question, understanding))
    return tuple(dict.fromkeys(concept for concept in asked if concept.kind in kinds and concept.is_studied))


def _not_a_topic(concepts: Sequence[Concept], studies: Sequence[Study]) -> list[Concept]:
    topics = {concept_id for study in studies for concept_id in study.concepts}
    return [concept for concept in concepts if concept.concept_id not in topics]


@dataclass(frozen=True, slots=True)
class Asked:
    """The parts that a question names, where it names them."""

    spans: tuple[tuple[int, int, Concept], ...]
    joined: tuple[tuple[Concept, ...], ...]
    """Concepts of one kind side by side, with a joint between them."""
    conditions: tuple[Concept, ...]
    unstudied: tuple[Subject, ...]
    qualifiers: tuple[Qualifier, ...]
    people: tuple[str, ...]
    """How it names groups of people."""
    concepts: tuple[Concept, ...]
    subjects: tuple[Concept, ...]
    """What is done or taken, of which it asks."""
    outcomes: tuple[Concept, ...]
    """What came of it, of which it asks."""

    @staticmethod
    def of(question: str, understanding: Understanding) -> Asked:
        spans, said = find_name_spans(question, understanding.concepts), question.lower()
        return Asked(
            spans=spans,
            joined=tuple(tuple(group) for group in _joined(question, spans)),
            conditions=tuple(c for c in understanding.concepts if c.kind == CONDITION),
            unstudied=find_subjects(question, understanding),
            qualifiers=find_qualifiers(question, [(start, end) for start, end, _ in spans]),
            people=tuple(said[start:end] for start, end in find_group_spans(said)),
            concepts=understanding.concepts,
            subjects=_subjects(question, understanding),
            outcomes=_subjects(question, understanding, frozenset({OUTCOME})),
        )

    @property
    def names_parts(self) -> bool:
        return bool(self.joined or self.conditions or self.unstudied or self.qualifiers)

    def is_told_apart(self, concept: Concept) -> bool:
        """Whether the concept is looked for by its own name already."""
        return concept in self.conditions or any(concept in group for group in self.joined)

    def is_on_both_sides(self, concept: Concept) -> bool:
        """Whether two kinds of it are compared: "creatine monohydrate or creatine nitrate"."""
        return sum(named is concept for *_, named in self.spans) > 1


def _joined(question: str, spans: Sequence[tuple[int, int, Concept]]) -> list[list[Concept]]:
    """Concepts of one kind that stand side by side in the question, with a joint between them."""
    groups: list[list[Concept]] = []
    for kinds in (MEASURED, SUBJECTS):
        own = [span for span in spans if span[2].kind in kinds]
        for (_, end, first), (start, _, second) in pairwise(own):
            if first is second or not _is_joint(question[end:start]):
                continue
            if groups and groups[-1][-1] is first:
                groups[-1].append(second)
            else:
                groups.append([first, second])
    return groups


def _is_joint(between: str) -> bool:
    """Whether what stands between two names joins them: "and", with few words around it, or a comparison."""
    joint = _JOINT.search(between) or between.strip() == ","
    return bool(joint) and (len(words(between)) <= MOST_BETWEEN or bool(_COMPARED.search(between)))


def _are_kin(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one) or one[:SHARED_ROOT] == other[:SHARED_ROOT]


def _is_spoken_of(qualifier: Qualifier, asked: Asked, heard: Heard) -> bool:
    if qualifier.kind is Kind.EQUAL:
        return any(map(_EQUAL.search, heard.texts))
    if qualifier.kind is Kind.LONG:
        return any(map(_LONG.search, heard.texts))
    text = qualifier.text
    if any(group in text for group in asked.people):  # who they are is asked of the studies themselves
        return True
    for start, end, concept in reversed(find_name_spans(text, asked.concepts)):
        if not heard.has(concept):
            return asked.is_told_apart(concept)
        if not asked.is_on_both_sides(concept):
            return True
        text = f"{text[:start]} {text[end:]}"
    stems = telling_stems(text)
    return not stems or heard.has_word_of(stems)


def _missing_people(
    question: str, asked: Population, texts: Sequence[str], studies: Sequence[Study], quoted: Sequence[str]
) -> Iterator[str]:
    """Groups of people whom the question names, and whom no text of a cited study does; of a sex only what its study took counts, and
    a quoted sentence that says what something did.

    An age that lies in two groups ("over 55") is one question, not two.
    """
    if not asked.is_named or not studies:
        return
    told = [find_population(text.lower()) for text in texts]
    ages = {study.age_group for study in studies} | {group for population in told for group in population.age_groups}
    said = [find_population(text.lower()) for text in quoted if Sound.of(text).tells]
    sexes = {study.sex for study in studies} | {sex for population in said for sex in population.sexes}
    training = {study.training_status for study in studies} | {t for population in told for t in population.training}
    are_two = bool(_BOTH_AGES.search(question))
    if are_two or not ages.intersection(asked.age_groups):
        wanted = asked.age_groups if are_two else asked.age_groups[:1]
        yield from (_GROUPS[group] for group in wanted if group not in ages and group is not AgeGroup.ADULTS)
        if AgeGroup.ADULTS in wanted and not ages & {AgeGroup.ADULTS, *_OPEN_AGES}:
            yield _GROUPS[AgeGroup.ADULTS]
    if not sexes & _OPEN_SEXES:
        names_of = _YOUNG if AgeGroup.YOUTH in asked.age_groups else _GROUPS
        yield from (names_of[sex] for sex in asked.sexes if sex not in sexes)
    if training and training <= _TRAINED and TrainingStatus.UNTRAINED in asked.training:
        yield _GROUPS[TrainingStatus.UNTRAINED]
    if training == {TrainingStatus.UNTRAINED} and _TRAINED & set(asked.training):
        yield _GROUPS[TrainingStatus.TRAINED]


def _not_alone(question: str, asked: Population, quoted: Sequence[str], studies: Sequence[Study]) -> Iterator[str]:
    """The one sex that the question names by its word ("women", but not "mum"), where studies took both, none took that one alone, and
    no quoted sentence tells them apart.
    """
    sexes = {study.sex for study in studies}
    if len(asked.sexes) != 1 or not _BY_SEX.search(question) or not sexes & _OPEN_SEXES:
        return
    told = sexes | {sex for text in quoted for sex in find_population(text.lower()).sexes}
    yield from (f"{_GROUPS[sex]} alone" for sex in asked.sexes if sex not in told)


def find_only(question: str, understanding: Understanding, studies: Sequence[Study], *, is_all: bool = True) -> str:
    """Whom all of these studies took, where these are old, young, or of one sex, and the question does not name them so: "older men"; and
    where they are of the age between, and the question names another: "younger men".

    Empty as well where it names what people have, or is about a study ("who took part in FrOST?"). One sex alone is told of all that
    is quoted, not of what leads.
    """
    asked = understanding.population
    is_special = any(concept.kind == CONDITION for concept in understanding.concepts)
    if not studies or is_special or _is_about_a_study(question, studies):
        return ""
    ages, sexes = {study.age_group for study in studies}, {study.sex for study in studies}
    told = {AgeGroup.YOUTH, AgeGroup.OLDER_ADULTS} | ({AgeGroup.ADULTS} if asked.age_groups else set())
    age = next((group for group in told if ages == {group}), None)
    sex = next((group for group in (Sex.FEMALE, Sex.MALE) if sexes == {group}), None)
    is_news_of_age = age is not None and age not in asked.age_groups
    is_news_of_sex = sex is not None and sex not in asked.sexes and (is_all or age is not None)
    if not (is_news_of_age or is_news_of_sex):
        return ""
    if age is AgeGroup.YOUTH:
        return _GROUPS[age]
    people = _GROUPS[sex] if sex else "adults"
    if age is AgeGroup.ADULTS and AgeGroup.OLDER_ADULTS in asked.age_groups:
        return f"younger {people}"
    return f"older {people}" if age is AgeGroup.OLDER_ADULTS else people


def _is_about_a_study(question: str, studies: Sequence[Study]) -> bool:
    """Whether a question speaks of a study, or names one of these by an author or by what its title calls it (FrOST)."""
    if _STUDY.search(question):
        return True
    names = {folded(name) for name in _NAME.findall(question)}
    marks = set(_MARK.findall(question))
    return any(
        names & {word for author in study.authors for word in folded(author).split()}
        or marks & set(_MARK.findall(study.title))
        for study in studies
    )


def only_in_words(people: str, *, is_all: bool) -> str:
    """What a reader is told where all that is quoted, or what leads, is about some people, and the question about all, or others."""
    return f"{'All that is quoted' if is_all else 'What is quoted first'} here was found in {people}; it may not hold for others."


def _name(qualifier: Qualifier) -> str:
    if qualifier.kind is Kind.LONG:
        return "the long term"
    return f"equal {qualifier.text}" if qualifier.kind is Kind.EQUAL else f"“{qualifier.text}”"


def _some_of(covered: Sequence[tuple[str, bool]]) -> list[str]:
    """The names not covered, where others are."""
    missing = [name for name, is_covered in covered if not is_covered]
    return missing if len(missing) < len(covered) else []


def in_words(missing: Sequence[str]) -> str:
    """What a reader is told."""
    *others, last = missing
    named = f"{', '.join(others)} or {last}" if others else last
    return f"Nothing quoted here is about {named}; the answer is about the rest of the question."
