"""Write the counted sentences that answer a question about the corpus."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from corpus_app.facets import COLUMNS, Facet
from corpus_app.records import Concept, Design, Notice, SourceKind, Study
from qa_app.pipeline.question.about_filters import Filters
from qa_app.pipeline.records import Sentence, SentenceKind, Verdict

MOST_NAMES = 8  # topics, journals or authors that a sentence names

_TEXTS = tomllib.loads((Path(__file__).parents[2] / "lexicon" / "site_facts.toml").read_text("utf-8"))
FACTS: Mapping[str, str] = {name: row["text"] for name, row in _TEXTS["facts"].items()}
NOTICES: Mapping[str, str] = _TEXTS["names"]["notice"]


def design_name(design: str, number: int, kind: SourceKind | None = None) -> str:
    """Return what a design, or a kind of source that the corpus declares, is called where it is of so many studies."""
    one, several = (kind.label, kind.plural) if kind else _TEXTS["names"]["design"][design]
    return str(one if number == 1 else several)


def describe(filters: Filters, collections: Mapping[str, str], facets: Mapping[str, Facet]) -> str:
    """Say in words which studies the filters select; empty for all. Takes the names of collections by slug."""
    values = filters.values
    named = {key: " or ".join(map(facets[key].words, values[key])) for key in facets if key in values}
    traits = [f"{facets[key].label.lower()} {words}" for key, words in named.items() if key not in COLUMNS]
    topics = [" or ".join(concept.name for concept in topic.concepts) for topic in filters.topics]
    parts = [
        ("", " or ", [design_name(value, 2) for value in values.get("design", ())]),
        ("about ", " and ", topics),
        ("only in ", " and ", [words for key, words in named.items() if key in COLUMNS]),
        ("of the ", " and the ", traits),
        ("by ", " and ", filters.source_names),
        ("published in ", " or ", filters.journals),
        ("in the collection ", " or ", [collections[slug] for slug in values.get("collection", ())]),
        ("marked as ", " or ", [NOTICES[value] for value in values.get("notice", ())]),
        ("", "", _years_in_words(filters)),
    ]
    return ", ".join(before + joint.join(names) for before, joint, names in parts if names)


def _years_in_words(filters: Filters) -> str:
    first, last = filters.first_year, filters.last_year
    if first is not None and last is not None:
        return f"of {first}" if first == last else f"from {first} to {last}"
    return f"from {first} on" if first is not None else f"up to {last}" if last is not None else ""


def write_count(selected: Sequence[Study], description: str) -> Sentence:
    """Say how many studies there are."""
    noun, verb = ("study", "is") if len(selected) == 1 else ("studies", "are")
    number = f"{len(selected):,}" if selected else "no"
    if not description:
        return counted(f"There {verb} {number} published {noun} here.", selected)
    return counted(f"{number.capitalize()} published {noun} here {verb} {description}.", selected)


def write_span(selected: Sequence[Study]) -> Iterator[Sentence]:
    """Say from when to when the studies were published."""
    years = sorted(study.year for study in selected if study.year)
    if len(set(years)) > 1:
        yield counted(f"They were published from {years[0]} to {years[-1]}.", selected)


def write_kinds(selected: Sequence[Study], designs: Sequence[str] = ()) -> Iterator[Sentence]:
    """Say how many studies there are of each design: of these, or of all that occur."""
    numbers = Counter(study.design for study in selected)
    kinds = {study.design: study.kind for study in selected}
    shown = designs or [design for design, _ in numbers.most_common()]
    if len(selected) > 1 and len(shown) > 1:
        parts = [_numbered(design, numbers[design], kinds.get(design)) for design in shown]
        yield counted(f"By kind: {', '.join(parts)}.", selected)


def _numbered(design: str, number: int, kind: SourceKind | None = None) -> str:
    return f"{number or 'no'} {design_name(design, number, kind)}"


def write_share(part: Sequence[Study], words: str, whole: Sequence[Study], description: str) -> Sentence:
    """Say how many of the whole the part is, with the percentage."""
    base = f"published studies here that are {description}" if description else "published studies here"
    percent = round(100 * len(part) / len(whole)) if whole else 0
    verb = "is" if len(part) == 1 else "are"
    return counted(f"Of {len(whole):,} {base}, {len(part):,} ({percent} %) {verb} {words}.", part or whole)


def write_extreme(wish: str, studies: Sequence[Study]) -> Iterator[Sentence]:
    """Name the newest or the oldest study, where the wish is for one."""
    if wish in {"newest", "oldest"} and studies and studies[0].year:
        first = studies[0]
        yield counted(f"The {wish} is “{first.title}”{_published(first)}.", [first], 1)


def write_growth(selected: Sequence[Study]) -> Iterator[Sentence]:
    """Say how many studies are of each year."""
    years = Counter(study.year for study in selected if study.year)
    if years:
        yield counted(f"By year: {', '.join(f'{year}: {n}' for year, n in sorted(years.items()))}.", selected)


def write_overview(
    studies: Sequence[Study], concepts: Sequence[Concept], collections: Mapping[str, str]
) -> Iterator[Sentence]:
    """Say what the corpus covers: collections and the topics of the most studies."""
    numbers = Counter(study.collection for study in studies)
    topics = Counter(concept_id for study in studies for concept_id in study.concepts)
    names = {concept.concept_id: concept.name for concept in concepts}
    named = [f"{name} ({numbers[slug]})" for slug, name in collections.items() if numbers[slug]]
    most = [f"{names[topic]} ({number})" for topic, number in topics.most_common() if topic in names]
    for before, parts in (("By collection", named), ("The topics of most studies", most[:MOST_NAMES])):
        if parts:
            yield counted(f"{before}: {', '.join(parts)}.", studies)


def write_names(kind: str, selected: Sequence[Study]) -> Iterator[Sentence]:
    """Say which journals or authors the most studies are from."""
    lists = [study.authors if kind == "author" else (study.journal or "",) for study in selected]
    numbers = Counter(name for names in lists for name in names if name)
    most = ", ".join(f"{name} ({number})" for name, number in numbers.most_common(MOST_NAMES))
    if numbers:
        yield counted(f"They are from {len(numbers):,} {kind}s; those of most studies: {most}.", selected)


def write_peer_review(studies: Sequence[Study]) -> Iterator[Sentence]:
    """Say how many studies are peer-reviewed, and how many are preprints or theses."""
    reviewed = [study for study in studies if study.peer_reviewed]
    yield write_share(reviewed, "marked as peer-reviewed", studies, "")
    numbers = Counter(study.design for study in studies)
    parts = [_numbered(design, numbers[design]) for design in (Design.PREPRINT, Design.THESIS)]
    yield counted(f"Preprints and theses: {', '.join(parts)}.", studies)


def write_notices(studies: Sequence[Study], notices: Sequence[str], description: str) -> Iterator[Sentence]:
    """Say how many of the studies carry each notice; `description` says which they are, empty for all."""
    base = f"published studies here that are {description}," if description else "published studies"
    for notice in notices:
        marked = [study for study in studies if study.notice is Notice(notice)]
        verb = "are" if len(marked) > 1 else "is"
        text = f"Of {len(studies):,} {base} {len(marked) or 'none'} {verb} marked as {NOTICES[notice]}."
        yield counted(text, marked or studies)


def write_fact(name: str, studies: Sequence[Study], changed_at: datetime | None) -> Iterator[Sentence]:
    """Answer a question about the site with its fixed text."""
    newest = max((study.year for study in studies if study.year), default=None)
    day = f"{changed_at.day} {changed_at:%B %Y}" if changed_at else "a day that is not recorded"
    yield counted(FACTS[name].format(changed=day, newest=newest or "an unknown year"), studies)


def write_line(number: int, study: Study) -> Sentence:
    """Name one study with its first author, kind, journal and year."""
    kind = design_name(study.design, 1, study.kind)
    author = f" by {study.authors[0]}{' and others' if len(study.authors) > 1 else ''}" if study.authors else ""
    text = f"“{study.title}”{author}, {'an' if kind[0] in 'aeiou' else 'a'} {kind}{_published(study)}."
    return counted(text, [study], number, paragraph=number - 1)


def _published(study: Study) -> str:
    return (
        f" ({', '.join(filter(None, [study.journal, str(study.year or '')]))})" if study.journal or study.year else ""
    )


def counted(text: str, studies: Sequence[Study], number: int | None = None, paragraph: int = 0) -> Sentence:
    """Return a sentence that rests on the rows of these studies; `number` cites one of them."""
    return Sentence(
        text=text,
        citations=() if number is None else (number,),
        verdict=Verdict.COUNTED,
        support_level="high",
        kind=SentenceKind.COUNT,
        support=(),
        paragraph=paragraph,
        counted_studies=tuple(sorted(study.study_id for study in studies)),
    )
