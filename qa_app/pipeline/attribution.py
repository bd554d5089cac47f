"""Who says it: named before a quotation that does not name its study itself, where the one before it is of another study; and of whom,
where the question is about some people and the study is not of them alone, or where its people share a condition that nobody named.

What a study is called comes from its row, never from a text; the quotation stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from corpus_app.records import AgeGroup, Concept, Design, Sex, Study, TrainingStatus
from qa_app.pipeline.health import tells_of
from qa_app.pipeline.population import SPECIAL_AGES, find_population
from qa_app.pipeline.qualifiers import asks_for_newest
from qa_app.pipeline.records import Evidence, Population, Sentence, SentenceKind
from qa_app.pipeline.text import folded

_DESIGNS = {
    Design.META_ANALYSIS: "meta-analysis",
    Design.RANDOMIZED_CONTROLLED_TRIAL: "randomised trial",
    Design.NONRANDOMIZED_TRIAL: "trial without randomisation",
    Design.CROSS_SECTIONAL_STUDY: "cross-sectional study",
    Design.OTHER: "",
}
_AGES = {
    AgeGroup.YOUTH: "children and adolescents",
    AgeGroup.ADULTS: "adults",
    AgeGroup.OLDER_ADULTS: "older adults",
    AgeGroup.MIXED: "mixed ages",
}
_YOUNGER = "younger adults"  # of a study of adults, where older ones are asked about
_SEXES = {Sex.FEMALE: "women", Sex.MALE: "men"}
_YOUNG_SEXES = {Sex.FEMALE: "girls", Sex.MALE: "boys"}
_TRAININGS = {
    TrainingStatus.UNTRAINED: "untrained people",
    TrainingStatus.TRAINED: "trained people",
    TrainingStatus.RECREATIONALLY_TRAINED: "recreationally trained people",
    TrainingStatus.ATHLETES: "athletes",
    TrainingStatus.MIXED: "trained and untrained people",
}
NOBODY = Population()
_ANY_TRAINING = re.compile(
    r"\b(?:regardless|irrespective|independent(?:ly)?|whatever|across|depend(?:s|ed)?|differ(?:s|ed)?|moderated|modified|influenced|affected)\b[^.;]{0,60}"
    r"\b(?:training|exercise) (?:status|level|experience|background|history)\b"
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.?-?){1,4}")
MOST_CONDITIONS = 2
MOST_WORDS = 3  # of a person's name; a society has more
_WORKS = r"(?:meta-analys[ei]s|meta-regression|reviews?|trial|study|analysis|statement|(?:position )?stand|guidelines?|critique|cohort|consensus)"


def attributed(sentences: Sequence[Sentence], evidence: Evidence) -> tuple[Sentence, ...]:
    """The sentences of a summary or an answer, in order, each quotation with who says it where the reader could not tell.

    Depends on nothing that comes after a sentence: those told one by one get the same.
    """
    studies = {study.study_id: study for study in evidence.studies}
    asked, population = evidence.question.searched, evidence.understanding.population
    told: list[Sentence] = []
    before: tuple[str, ...] = ()
    has_told_whom = False  # since the study became another one
    for sentence in sentences:
        own = sentence.study_ids
        study = studies.get(own[0]) if sentence.kind is SentenceKind.QUOTE and len(own) == 1 else None
        has_told_whom &= own == before
        whom = besides(study, population, told=_whom(sentence.text)) if study else ""
        who = ""
        if study is not None and own != before:
            conditions = evidence.conditions.get(study.study_id, ())
            who = attribution(sentence.text, study, asked=asked, population=population, conditions=conditions)
        elif study is not None and whom and not has_told_whom:
            who = called(study, whom, is_told=names_its_author(sentence.text, study))
        has_told_whom |= bool(whom)
        told.append(replace(sentence, attribution=who))
        before = own
    return tuple(told)


def attribution(
    text: str, study: Study, *, asked: str, population: Population, conditions: Sequence[Concept] = ()
) -> str:
    """Who says a text; empty where it says so itself, with the year where the newest is asked for.

    With the people of the study, where those whom the question names are not they, or not they alone, and with the `conditions` that
    all of them have; where the text does not say so.
    An author whom the text names is not named twice.
    """
    ill = (
        ()
        if tells_of(text, conditions, study.population)
        else [condition.name for condition in conditions[:MOST_CONDITIONS]]
    )
    people = ", ".join(filter(None, (besides(study, population, told=_whom(text)), *ill)))
    is_named = names_its_study(text, study) and not (asks_for_newest(asked) and _lacks_year(text, study))
    return "" if is_named and not people else called(study, people, is_told=names_its_author(text, study))


def besides(study: Study, asked: Population, *, told: Population = NOBODY) -> str:
    """The people of a study, as far as they are others than those whom a question names: "mixed ages", "younger adults, men".

    Nothing of what a text has `told`: an age, a sex, or how people train. Where the question names no age, old or young people are others than
    everybody, and where it names no sex, one alone is. Older women alone are others than the older adults asked about, too. That a study of both sexes is not of one alone is said in other words, where
    nothing that is quoted is about that one (`parts`).
    """
    age = "" if told.age_groups else _age_of(study, asked.age_groups)
    sex = "" if told.sexes or len(asked.sexes) > 1 or study.sex in asked.sexes else _sex_of(study)
    if age and sex and not (asked.age_groups or asked.sexes):
        age, sex = "", sex if study.age_group is AgeGroup.YOUTH else f"older {sex}"
    found = [age, sex]
    if asked.training and not told.training and not _is_trained_so(study.training_status, asked.training):
        found.append(_TRAININGS.get(study.training_status, ""))
    return ", ".join(filter(None, found))


def _age_of(study: Study, asked: Collection[AgeGroup]) -> str:
    """Of those whom a study took, where they are not of the ages asked about, or old or young and no age was asked about."""
    if not asked:
        return _AGES[study.age_group] if study.age_group in SPECIAL_AGES else ""
    if _is_of_these(study.age_group, asked):
        return ""
    is_younger = study.age_group is AgeGroup.ADULTS and AgeGroup.YOUTH not in asked
    return _YOUNGER if is_younger else _AGES.get(study.age_group, "")


def _sex_of(study: Study) -> str:
    """Of those whom a study took, where they are of one sex."""
    return (_YOUNG_SEXES if study.age_group is AgeGroup.YOUTH else _SEXES).get(study.sex, "")


@lru_cache(maxsize=4_096)
def _whom(text: str) -> Population:
    """Of whom a text speaks: of all who train, however they do, where it says that this makes no difference, or which."""
    told = find_population(folded(text))
    return replace(told, training=tuple(TrainingStatus)) if _ANY_TRAINING.search(folded(text)) else told


def _is_of_these(people: AgeGroup, asked: Collection[AgeGroup]) -> bool:
    """A study of people of several ages is of adults, young and old."""
    return people in asked or (people is AgeGroup.MIXED and {AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS}.issubset(asked))


def _is_trained_so(people: TrainingStatus, asked: Collection[TrainingStatus]) -> bool:
    """A study of people who train in several ways is of the trained and the untrained."""
    return people in asked or (people is TrainingStatus.MIXED and TrainingStatus.UNTRAINED in asked and len(asked) > 1)


def _lacks_year(text: str, study: Study) -> bool:
    return study.year is not None and str(study.year) not in text


def spoken(text: str, attribution: str | None) -> str:
    """The sentence as it is read in plain text."""
    return f"{attribution}: {text}" if attribution else text


def names_its_study(text: str, study: Study) -> bool:
    """Whether a text names the first author, or the study by its year: "the 2017 meta-analysis"."""
    if names_its_author(text, study):
        return True
    return study.year is not None and bool(_work_of(study.year).search(folded(text)))


def names_its_author(text: str, study: Study) -> bool:
    """Whether a text names the first author."""
    return bool(study.authors) and bool(_author(study.authors[0]).search(folded(text)))


@cache
def _work_of(year: int) -> re.Pattern[str]:
    return re.compile(rf"\b{year} (?:[\w-]+ ){{0,4}}{_WORKS}\b")


@lru_cache(maxsize=4_096)
def _author(author: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(folded(surname(author)))}\b")


def called(study: Study, people: str = "", *, is_told: bool = False) -> str:
    """`Schoenfeld and colleagues (meta-analysis, 2017; mixed ages)`; a study without authors, or with a design and an author whom
    the text has told, goes by design and year: `Meta-analysis, 2017; mixed ages`.
    """
    design = _DESIGNS.get(study.design, study.design.value.replace("_", " "))
    kind = ", ".join(filter(None, (design, str(study.year or ""))))
    facts = "; ".join(filter(None, (kind, people)))
    names = study.authors[:3] if not (is_told and design) else ()
    first, *others = map(surname, names) if names else ("",)
    if not first:
        return facts[:1].upper() + facts[1:] if kind else f"A study ({people})" if people else ""
    authors = f"{first} and {others[0]}" if len(others) == 1 else f"{first} and colleagues" if others else first
    return f"{authors} ({facts})" if facts else authors


@lru_cache(maxsize=4_096)
def surname(author: str) -> str:
    """`Schoenfeld BJ`, `Schoenfeld, Brad J.`, `B. J. Schoenfeld` and `Brad Schoenfeld` as Schoenfeld; a society's name is whole."""
    family, comma, _ = author.partition(",")
    if comma:
        return family.strip()
    names = author.split()
    inner = [name for name in names if not _is_initials(name)]
    if not inner or len(names) == 1:
        return author.strip()
    if len(inner) < len(names):
        return " ".join(inner if not _is_initials(names[0]) else inner[-1:])
    return author.strip() if len(names) > MOST_WORDS else names[-1]


def _is_initials(name: str) -> bool:
    return name.isupper() and bool(_INITIALS.fullmatch(name))
