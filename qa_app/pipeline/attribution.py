"""Attribute quotations to their studies, and name what of their facets differs from what was asked about.

Names of studies come from their rows, never from a text. The quotation itself is not changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from corpus_app.facets import FacetValue
from corpus_app.records import Design, Study
from qa_app.pipeline.query import AskedFacets
from qa_app.pipeline.records import Evidence, Sentence, SentenceKind
from qa_app.pipeline.text import EMPTY_WORDS, folded, words

_DESIGNS: Mapping[str, str] = {
    Design.META_ANALYSIS: "meta-analysis",
    Design.RANDOMIZED_CONTROLLED_TRIAL: "randomised trial",
    Design.NONRANDOMIZED_TRIAL: "trial without randomisation",
    Design.CROSS_SECTIONAL_STUDY: "cross-sectional study",
    Design.OTHER: "",
}
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
    asked = evidence.query.facets
    found: list[Sentence] = []
    before: tuple[str, ...] = ()
    for sentence in sentences:
        own = sentence.study_ids
        study = studies.get(own[0]) if sentence.kind is SentenceKind.QUOTE and len(own) == 1 else None
        who = "" if study is None or own == before else attribution(sentence.text, study, asked)
        found.append(replace(sentence, attribution=who))
        before = own
    return tuple(found)


def attribution(text: str, study: Study, asked: AskedFacets) -> str:
    """Return the attribution of a text; empty where the text names its study.

    The facets of the study are named where they differ from those asked about and the text does not say so.
    """
    traits = differing_traits(study, asked, text)
    return "" if names_its_study(text, study) and not traits else describe(study, traits)


def differing_traits(study: Study, asked: AskedFacets, text: str = "") -> str:
    """Describe a study as far as its facets differ from those asked about: "mixed ages", "younger adults, men".

    Where the question names no value of a facet, only values that are always named differ. Words of the text are not
    repeated.
    """
    parts = {key: _difference(study, key, asked) for key in asked.declared}
    known = EMPTY_WORDS.union(words(text))  # whole words: "training" says nothing of trained people
    return ", ".join(part for part in _joined(parts, study, asked) if part and not known.issuperset(words(part)))


def _difference(study: Study, key: str, asked: AskedFacets) -> str:
    """Return the values of a study's facet in words; empty where they were asked about, or need not be named."""
    facet, wanted = asked.declared[key], asked.of(key)
    own = [value for value in study.values_of(key) if value in facet.values]
    if wanted:
        is_asked = any(v in wanted or any(set(wanted).issuperset(c) for c in facet.values[v].combines) for v in own)
        shown = [] if is_asked else own
    else:
        shown = [value for value in own if facet.values[value].always_named]
    return " and ".join(filter(None, (_words(study, facet.values[value], wanted, asked) for value in shown)))


def _words(study: Study, value: FacetValue, wanted: Sequence[str], asked: AskedFacets) -> str:
    if len(wanted) == 1 and wanted[0] in value.beside:
        return value.beside[wanted[0]]
    others = (other for key in asked.declared for other in study.values_of(key))
    return next((value.among[other] for other in others if other in value.among), value.words)


def _joined(parts: Mapping[str, str], study: Study, asked: AskedFacets) -> list[str]:
    """Return the parts in order; where the question names none of them, a prefix takes the place of its part."""
    named = [key for key in parts if any(value.always_named for value in asked.declared[key].values.values())]
    shown = [key for key in named if parts[key]]
    if len(shown) < 2 or any(map(asked.of, named)):
        return list(parts.values())
    for key in shown:
        values = (asked.declared[key].values.get(value) for value in study.values_of(key))
        prefix = next((value.prefix for value in values if value and value.prefix is not None), None)
        if prefix is not None:
            rest = {k: f"{prefix} {part}".strip() if k in shown else part for k, part in parts.items() if k != key}
            return list(rest.values())
    return list(parts.values())


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


def describe(study: Study, traits: str = "") -> str:
    """Return a study's name for a reader: `Schoenfeld and colleagues (meta-analysis, 2017; mixed ages)`.

    A study without authors is named by design and year: `Meta-analysis, 2017; mixed ages`.
    """
    design = study.kind.label if study.kind else _DESIGNS.get(study.design, study.design.replace("_", " "))
    kind = ", ".join(filter(None, (design, str(study.year or ""))))
    facts = "; ".join(filter(None, (kind, traits)))
    first, *others = map(surname, study.authors[:3]) if study.authors else ("",)
    if not first:
        return facts[:1].upper() + facts[1:] if kind else f"A study ({traits})" if traits else ""
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
