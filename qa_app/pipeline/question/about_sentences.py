"""Write the counted sentences that answer a question about the corpus."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from corpus_app.facets import COLUMNS, Facet
from corpus_app.records import Design, SourceKind, Study, StudyTotal, TraitCounts
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


def write_count(selected: StudyTotal, description: str) -> Sentence:
    """Say how many studies there are."""
    noun, verb = ("study", "is") if selected.total == 1 else ("studies", "are")
    number = f"{selected.total:,}" if selected.total else "no"
    if not description:
        return counted(f"There {verb} {number} published {noun} here.", selected.ids)
    return counted(f"{number.capitalize()} published {noun} here {verb} {description}.", selected.ids)


def write_span(selected: StudyTotal, years: Mapping[int, int]) -> Iterator[Sentence]:
    """Say from when to when the studies were published."""
    if len(years) > 1:
        yield counted(f"They were published from {min(years)} to {max(years)}.", selected.ids)


def write_kinds(
    selected: StudyTotal, numbers: TraitCounts, kind_of: Callable[[str], SourceKind | None], designs: Sequence[str] = ()
) -> Iterator[Sentence]:
    """Say how many studies there are of each design: of these, or of all that occur."""
    by_design = dict(numbers.most)
    shown = designs or list(by_design)
    if selected.total > 1 and len(shown) > 1:
        parts = [_numbered(design, by_design.get(design, 0), kind_of(design)) for design in shown]
        yield counted(f"By kind: {', '.join(parts)}.", selected.ids)


def _numbered(design: str, number: int, kind: SourceKind | None = None) -> str:
    return f"{number or 'no'} {design_name(design, number, kind)}"


def write_share(part: StudyTotal, words: str, whole: StudyTotal, description: str) -> Sentence:
    """Say how many of the whole the part is, with the percentage."""
    base = f"published studies here that are {description}" if description else "published studies here"
    percent = round(100 * part.total / whole.total) if whole.total else 0
    verb = "is" if part.total == 1 else "are"
    return counted(f"Of {whole.total:,} {base}, {part.total:,} ({percent} %) {verb} {words}.", part.ids or whole.ids)


def write_extreme(wish: str, studies: Sequence[Study]) -> Iterator[Sentence]:
    """Name the newest or the oldest study, where the wish is for one."""
    if wish in {"newest", "oldest"} and studies and studies[0].year:
        first = studies[0]
        yield counted(f"The {wish} is “{first.title}”{_published(first)}.", [first.study_id], 1)


def write_growth(selected: StudyTotal, years: Mapping[int, int]) -> Iterator[Sentence]:
    """Say how many studies are of each year."""
    if years:
        yield counted(f"By year: {', '.join(f'{year}: {n}' for year, n in sorted(years.items()))}.", selected.ids)


def write_overview(
    selected: StudyTotal, numbers: TraitCounts, topics: TraitCounts, collections: Mapping[str, str]
) -> Iterator[Sentence]:
    """Say what the corpus covers: collections, whose studies `numbers` counts by slug, and the most frequent topics."""
    by_slug = dict(numbers.most)
    named = [f"{name} ({by_slug[slug]})" for slug, name in collections.items() if slug in by_slug]
    most = [f"{name} ({number})" for name, number in topics.most]
    for before, parts in (("By collection", named), ("The topics of most studies", most)):
        if parts:
            yield counted(f"{before}: {', '.join(parts)}.", selected.ids)


def write_names(kind: str, selected: StudyTotal, numbers: TraitCounts) -> Iterator[Sentence]:
    """Say which journals or authors the most studies are from."""
    most = ", ".join(f"{name} ({number})" for name, number in numbers.most)
    if most:
        yield counted(f"They are from {numbers.names:,} {kind}s; those of most studies: {most}.", selected.ids)


def write_peer_review(studies: StudyTotal, reviewed: StudyTotal, numbers: TraitCounts) -> Iterator[Sentence]:
    """Say how many studies are peer-reviewed, and how many are preprints or theses."""
    yield write_share(reviewed, "marked as peer-reviewed", studies, "")
    by_design = dict(numbers.most)
    parts = [_numbered(design, by_design.get(design, 0)) for design in (Design.PREPRINT, Design.THESIS)]
    yield counted(f"Preprints and theses: {', '.join(parts)}.", studies.ids)


def write_notice(studies: StudyTotal, notice: str, marked: StudyTotal, description: str) -> Sentence:
    """Say how many of the studies carry a notice; `description` says which they are, empty for all."""
    base = f"published studies here that are {description}," if description else "published studies"
    verb = "are" if marked.total > 1 else "is"
    text = f"Of {studies.total:,} {base} {marked.total or 'none'} {verb} marked as {NOTICES[notice]}."
    return counted(text, marked.ids or studies.ids)


def write_fact(
    name: str, studies: StudyTotal, years: Mapping[int, int], changed_at: datetime | None
) -> Iterator[Sentence]:
    """Answer a question about the site with its fixed text."""
    newest = max(years, default=None)
    day = f"{changed_at.day} {changed_at:%B %Y}" if changed_at else "a day that is not recorded"
    yield counted(FACTS[name].format(changed=day, newest=newest or "an unknown year"), studies.ids)


def write_line(number: int, study: Study) -> Sentence:
    """Name one study with its first author, kind, journal and year."""
    kind = design_name(study.design, 1, study.kind)
    author = f" by {study.authors[0]}{' and others' if len(study.authors) > 1 else ''}" if study.authors else ""
    text = f"“{study.title}”{author}, {'an' if kind[0] in 'aeiou' else 'a'} {kind}{_published(study)}."
    return counted(text, [study.study_id], number, paragraph=number - 1)


def _published(study: Study) -> str:
    return (
        f" ({', '.join(filter(None, [study.journal, str(study.year or '')]))})" if study.journal or study.year else ""
    )


def counted(text: str, study_ids: Sequence[str], number: int | None = None, paragraph: int = 0) -> Sentence:
    """Return a sentence that rests on the rows of these studies; `number` cites one of them."""
    return Sentence(
        text=text,
        citations=() if number is None else (number,),
        verdict=Verdict.COUNTED,
        support_level="high",
        kind=SentenceKind.COUNT,
        support=(),
        paragraph=paragraph,
        counted_studies=tuple(study_ids),
    )
