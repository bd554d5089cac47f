"""Attribute quotations to their studies, and name the people studied where they differ from those asked about.

Names of studies come from their rows, never from a text. The quotation itself is not changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from corpus_app.records import AgeGroup, Design, Sex, Study, TrainingStatus
from qa_app.pipeline.query import Population
from qa_app.pipeline.records import Evidence, Sentence, SentenceKind
from qa_app.pipeline.text import EMPTY_WORDS, folded, words

_DESIGNS: Mapping[str, str] = {
    Design.META_ANALYSIS: "meta-analysis",
    Design.RANDOMIZED_CONTROLLED_TRIAL: "randomised trial",
    Design.NONRANDOMIZED_TRIAL: "trial without randomisation",
    Design.CROSS_SECTIONAL_STUDY: "cross-sectional study",
    Design.OTHER: "",
}
AGES = {
    AgeGroup.YOUTH: "children and adolescents",
    AgeGroup.ADULTS: "adults",
    AgeGroup.OLDER_ADULTS: "older adults",
    AgeGroup.MIXED: "mixed ages",
}
_YOUNGER = "younger adults"  # of a study of adults, where older ones are asked about
SEXES = {Sex.FEMALE: "women", Sex.MALE: "men"}
_YOUNG_SEXES = {Sex.FEMALE: "girls", Sex.MALE: "boys"}
TRAININGS = {
    TrainingStatus.UNTRAINED: "untrained people",
    TrainingStatus.TRAINED: "trained people",
    TrainingStatus.RECREATIONALLY_TRAINED: "recreationally trained people",
    TrainingStatus.ATHLETES: "athletes",
    TrainingStatus.MIXED: "trained and untrained people",
}
SPECIAL_AGES = frozenset({AgeGroup.YOUTH, AgeGroup.OLDER_ADULTS})
_WORKS = frozenset(
    """meta-analysis meta-analyses meta-regression review reviews trial study analysis statement stand guideline
    guidelines critique cohort consensus""".split()
)
WORK_WITHIN = 5
"""Words from a year to the kind of work that it dates: "the 2017 network meta-analysis"."""
MOST_INITIALS = 4


def attributed(sentences: Sequence[Sentence], evidence: Evidence) -> tuple[Sentence, ...]:
    """Return the sentences in order, with an attribution for each quotation that does not name its study.

    An attribution depends only on earlier sentences, so streamed sentences get the same one.
    """
    studies = {study.study_id: study for study in evidence.studies}
    population = evidence.query.population
    found: list[Sentence] = []
    before: tuple[str, ...] = ()
    for sentence in sentences:
        own = sentence.study_ids
        study = studies.get(own[0]) if sentence.kind is SentenceKind.QUOTE and len(own) == 1 else None
        who = "" if study is None or own == before else attribution(sentence.text, study, population)
        found.append(replace(sentence, attribution=who))
        before = own
    return tuple(found)


def attribution(text: str, study: Study, population: Population) -> str:
    """Return the attribution of a text; empty where the text names its study.

    The people of the study are named where they differ from those asked about and the text does not say so.
    """
    people = differing_people(study, population, text)
    return "" if names_its_study(text, study) and not people else describe(study, people)


def differing_people(study: Study, asked: Population, text: str = "") -> str:
    """Describe the people of a study as far as they differ from those asked about: "mixed ages", "younger adults, men".

    Where the question names no age, only old or young people differ; where it names no sex, a single sex differs. Words
    of the text are not repeated.
    """
    is_about_all = not (asked.age_groups or asked.sexes)
    age = _age_of(study, asked.age_groups)
    sex = "" if len(asked.sexes) > 1 or study.sex in asked.sexes else _sex_of(study)
    if age and sex and is_about_all:
        age, sex = "", sex if study.age_group is AgeGroup.YOUTH else f"older {sex}"
    training = ""
    if asked.training and not _is_asked_training(study.training_status, asked.training):
        training = TRAININGS.get(study.training_status, "")
    known = EMPTY_WORDS.union(words(text))  # whole words: "training" says nothing of trained people
    return ", ".join(part for part in (age, sex, training) if not known.issuperset(words(part)))


def _age_of(study: Study, asked: Collection[AgeGroup]) -> str:
    """Return the age group of a study; empty where it was asked about."""
    if not asked:
        return AGES[study.age_group] if study.age_group in SPECIAL_AGES else ""
    if _is_asked_age(study.age_group, asked):
        return ""
    is_younger = study.age_group is AgeGroup.ADULTS and AgeGroup.YOUTH not in asked
    return _YOUNGER if is_younger else AGES.get(study.age_group, "")


def _sex_of(study: Study) -> str:
    return (_YOUNG_SEXES if study.age_group is AgeGroup.YOUTH else SEXES).get(study.sex, "")


def _is_asked_age(people: AgeGroup, asked: Collection[AgeGroup]) -> bool:
    """Tell whether a study's age group is asked about; mixed ages match adults and older adults together."""
    return people in asked or (people is AgeGroup.MIXED and {AgeGroup.ADULTS, AgeGroup.OLDER_ADULTS}.issubset(asked))


def _is_asked_training(people: TrainingStatus, asked: Collection[TrainingStatus]) -> bool:
    """Tell whether a study's people train as asked; a mixed study matches untrained and other people together."""
    return people in asked or (people is TrainingStatus.MIXED and TrainingStatus.UNTRAINED in asked and len(asked) > 1)


def spoken(text: str, attribution: str | None) -> str:
    """Return the sentence with its attribution, as plain text."""
    return f"{attribution}: {text}" if attribution else text


def names_its_study(text: str, study: Study) -> bool:
    """Tell whether a text names the first author, or the study by its year: "the 2017 meta-analysis"."""
    spoken_words = folded(text).replace(",", " ").replace(".", " ").split()
    if study.authors and set(folded(surname(study.authors[0])).split()) <= set(spoken_words):
        return True
    year = str(study.year or "")
    places = [n for n, word in enumerate(spoken_words) if year and word == year]
    return any(_WORKS & set(spoken_words[n + 1 : n + 1 + WORK_WITHIN]) for n in places)


def describe(study: Study, people: str = "") -> str:
    """Return a study's name for a reader: `Schoenfeld and colleagues (meta-analysis, 2017; mixed ages)`.

    A study without authors is named by design and year: `Meta-analysis, 2017; mixed ages`.
    """
    design = study.kind.label if study.kind else _DESIGNS.get(study.design, study.design.replace("_", " "))
    kind = ", ".join(filter(None, (design, str(study.year or ""))))
    facts = "; ".join(filter(None, (kind, people)))
    first, *others = map(surname, study.authors[:3]) if study.authors else ("",)
    if not first:
        return facts[:1].upper() + facts[1:] if kind else f"A study ({people})" if people else ""
    authors = f"{first} and {others[0]}" if len(others) == 1 else f"{first} and colleagues" if others else first
    return f"{authors} ({facts})" if facts else authors


def surname(author: str) -> str:
    """Return the family name of an author: Schoenfeld for `Schoenfeld BJ` or `Schoenfeld, Brad J.`.

    A name without initials, such as that of a society, is returned whole.
    """
    family, comma, _ = author.partition(",")
    if comma:
        return family.strip()
    names = author.split()
    inner = [name for name in names if not _is_initials(name)]
    if not inner or len(names) == 1:
        return author.strip()
    if len(inner) < len(names):
        return " ".join(inner if not _is_initials(names[0]) else inner[-1:])
    return author.strip()


def _is_initials(name: str) -> bool:
    letters = name.replace(".", "").replace("-", "")
    return letters.isalpha() and letters.isupper() and len(letters) <= MOST_INITIALS
