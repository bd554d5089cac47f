"""Questions about the corpus itself ("which studies on creatine do you have?"): recognised by their words, answered by counting.

Few forms, each read as a whole: a question of which one content word is not understood is left to the search.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app.records import AgeGroup, Concept, Design, Notice, Sex, Study, TrainingStatus
from qa_app.pipeline.naming import find_name_spans
from qa_app.pipeline.population import find_group_spans, find_population
from qa_app.pipeline.records import Overview, Sentence, SentenceKind, Verdict
from qa_app.pipeline.text import WORD, folded

LISTED = 12  # studies that an answer names; the corpus page has them all
LATE_YEARS = 5  # "of the last five years": from the newest year that a study is of

REVIEWS = frozenset(
    {
        Design.META_ANALYSIS,
        Design.SYSTEMATIC_REVIEW,
        Design.SCOPING_REVIEW,
        Design.UMBRELLA_REVIEW,
        Design.NARRATIVE_REVIEW,
    }
)
TRIALS = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL, Design.NONRANDOMIZED_TRIAL, Design.CROSSOVER_TRIAL})
KINDS: dict[str, frozenset[Design]] = {
    "stud": frozenset(), "paper": frozenset(), "article": frozenset(), "publication": frozenset(), "evidence": frozenset(),
    "research": frozenset(), "literature": frozenset(), "trial": TRIALS, "review": REVIEWS,
    "meta": frozenset({Design.META_ANALYSIS}), "position": frozenset({Design.POSITION_STAND}),
}  # fmt: skip
NAMES = {
    Design.META_ANALYSIS: ("meta-analysis", "meta-analyses"),
    Design.SYSTEMATIC_REVIEW: ("systematic review", "systematic reviews"),
    Design.SCOPING_REVIEW: ("scoping review", "scoping reviews"),
    Design.UMBRELLA_REVIEW: ("umbrella review", "umbrella reviews"),
    Design.NARRATIVE_REVIEW: ("narrative review", "narrative reviews"),
    Design.RANDOMIZED_CONTROLLED_TRIAL: ("randomised controlled trial", "randomised controlled trials"),
    Design.NONRANDOMIZED_TRIAL: ("non-randomised trial", "non-randomised trials"),
    Design.CROSSOVER_TRIAL: ("crossover trial", "crossover trials"),
    Design.COHORT_STUDY: ("cohort study", "cohort studies"),
    Design.CROSS_SECTIONAL_STUDY: ("cross-sectional study", "cross-sectional studies"),
    Design.POSITION_STAND: ("position stand", "position stands"),
    Design.GUIDELINE: ("guideline", "guidelines"),
    Design.THESIS: ("thesis", "theses"),
    Design.PREPRINT: ("preprint", "preprints"),
    Design.OTHER: ("study of another kind", "studies of other kinds"),
}


class Wish(StrEnum):
    CORPUS = "corpus"
    COUNT = "count"
    LIST = "list"
    NEWEST = "newest"
    OLDEST = "oldest"
    GROWTH = "growth"


@dataclass(frozen=True, slots=True)
class Selection:
    """Studies that carry all of these concepts and have all of these traits; empty for all studies."""

    concepts: tuple[Concept, ...] = ()
    ages: tuple[AgeGroup, ...] = ()
    sexes: tuple[Sex, ...] = ()
    training: tuple[TrainingStatus, ...] = ()
    designs: frozenset[Design] = frozenset()
    collection: str | None = None

    def takes(self, study: Study) -> bool:
        return (
            all(concept.concept_id in study.concepts for concept in self.concepts)
            and (not self.ages or study.age_group in self.ages)
            and (not self.sexes or study.sex in self.sexes)
            and (not self.training or study.training_status in self.training)
            and (not self.designs or study.design in self.designs)
            and self.collection in (None, study.collection)
        )

    @property
    def filters(self) -> tuple[tuple[str, str], ...]:
        """Facets of the corpus page and their values."""
        return (
            *((("collection", self.collection),) if self.collection else ()),
            *(("design", design.value) for design in sorted(self.designs)),
            *(("age", age.value) for age in self.ages),
            *(("sex", sex.value) for sex in self.sexes),
            *(("training", status.value) for status in self.training),
            *(("topic", concept.concept_id) for concept in self.concepts),
        )


_KIND = r"(?P<kind>(?:randomi[sz]ed (?:controlled )?|systematic )?(?:stud(?:y|ies)|papers?|articles?|publications?|trials?|reviews?|meta-?\s?analys[ei]s|position stands?))"
_HERE = r"(?:here|in (?:here|this|the|your) (?:corpus|library|database|collection)|in (?:this|your) site|on this site|in inform|in total|overall|altogether)"
_THERE = rf"(?:do you have|have you got|are there|do we have|are|do you know|are available|can you show(?: me)?|(?:does|do) (?:this|the|your) (?:corpus|library|database) (?:have|hold|contain|include))(?: {_HERE})?"
_ON = r"(?:on|about|of|regarding|concerning|that (?:are )?(?:about|on))"
_TOPIC = r"(?P<topic>.+?)"
_OF = r"(?:in|with|for|among|of)"  # before the people that a topic is about
_OURS = r"(?:this|the|your)"
_BY_YEAR = r"(?:(?:by|per|each|a|every) year|over (?:time|the (?:last )?(?:years|decades)))"
_END = rf"(?: {_HERE})?(?:,? please)?"
_FORMS: tuple[tuple[Wish, re.Pattern[str]], ...] = tuple(
    (wish, re.compile(form + _END))
    for wish, form in (
        (Wish.CORPUS, r"what(?: is|'s|s) (?:in|inside) (?:here|(?:this|the|your) (?:corpus|library|database))"),
        (Wish.CORPUS, rf"(?:which|what) (?:topics|subjects|areas|years) (?:do you|do {_OURS} studies|does {_OURS} (?:site|corpus|library|database)|does inform) cover"),
        (Wish.CORPUS, rf"what (?:do you|do {_OURS} studies|does (?:this site|inform)) cover"),
        (Wish.CORPUS, r"what (?:kinds?|sorts?|types?) of (?:studies|papers|evidence|research) (?:do you have|have you got|are there|are here|is there)"),
        (Wish.CORPUS, r"what (?:can|may|could) i ask(?: you)?(?: about)?"),
        (Wish.CORPUS, rf"(?:an |give me an |show me an )?overview of {_OURS} (?:corpus|library|database|studies)"),
        (Wish.CORPUS, rf"(?:show|list)(?: me)?(?: all)? {_OURS} (?:studies|papers|topics)"),
        (Wish.CORPUS, r"what (?:does|do) (?:this|the|your) (?:corpus|library|database) (?:cover|contain|hold|have|include|consist of)"),
        (Wish.CORPUS, rf"what (?:studies|topics|subjects|papers|evidence|research) (?:do you have|have you got|are {_HERE}|are there {_HERE})"),
        (Wish.CORPUS, r"(?:describe|show me|give me an overview of) (?:this|the|your) (?:corpus|library|database)"),
        (Wish.COUNT, rf"how many {_KIND} {_ON} {_TOPIC} {_THERE}"),
        (Wish.COUNT, rf"how many {_KIND} {_THERE}(?: {_ON} {_TOPIC})?"),
        (Wish.GROWTH, rf"how many {_KIND} {_ON} {_TOPIC} {_THERE} {_BY_YEAR}"),
        (Wish.COUNT, rf"how many {_KIND} (?:{_ON}|{_OF}) {_TOPIC}(?: {_THERE})?"),
        (Wish.COUNT, rf"(?:the )?number of {_KIND} (?:{_ON}|{_OF}) {_TOPIC}"),
        (Wish.COUNT, rf"how much (?P<kind>evidence|research|literature) (?:is there|do you have|have you got)(?: {_HERE})? {_ON} {_TOPIC}"),
        (Wish.COUNT, r"how (?:big|large) is (?:this|the|your) (?:corpus|library|database)"),
        (Wish.LIST, rf"(?:which|what) {_KIND} {_ON} {_TOPIC} {_THERE}"),
        (Wish.LIST, rf"(?:which|what) {_KIND} {_ON} {_TOPIC} {_THERE} (?P<people>{_OF} .+?)"),
        (Wish.LIST, rf"(?:which|what) {_KIND} {_THERE} {_ON} {_TOPIC}"),
        (Wish.LIST, rf"(?:show|list|give|find)(?: me)?(?: all)?(?: the| your)? {_KIND} (?:{_ON}|{_OF}) {_TOPIC}"),
        (Wish.LIST, rf"(?:(?:show|give)(?: me)? )?(?:a |the )?list of(?: all)?(?: the| your)? {_KIND} (?:{_ON}|{_OF}) {_TOPIC}"),
        (Wish.LIST, rf"all(?: the| your)? {_KIND} (?:{_ON}|{_OF}) {_TOPIC}"),
        (Wish.LIST, rf"(?:do you have|have you got|are there)(?: any)? {_KIND} (?:{_ON}|{_OF}) {_TOPIC}"),
        (Wish.LIST, rf"(?:do you have|have you got|is there) (?:anything|something) {_ON} {_TOPIC}"),
        (Wish.NEWEST, rf"(?:what|which)(?: is|'s|s) (?:the|your) (?:newest|latest|most recent) {_KIND}(?: {_ON} {_TOPIC})?"),
        (Wish.NEWEST, rf"when was (?:the|your) (?:newest|latest|most recent|last) {_KIND}(?: {_ON} {_TOPIC})? published"),
        (Wish.OLDEST, rf"(?:what|which)(?: is|'s|s) (?:the|your) (?:oldest|earliest|first) {_KIND}(?: {_ON} {_TOPIC})?"),
        (Wish.GROWTH, rf"how has (?:the )?(?P<kind>evidence|research|literature|number of studies) {_ON} {_TOPIC} (?:grown|developed|evolved|increased)(?: over (?:time|the (?:last )?(?:years|decades)))?"),
        (Wish.GROWTH, rf"(?:(?:show|draw|give)(?: me)? )?(?:the |a )?time\s?line of (?:the )?(?P<kind>evidence|research|literature|studies) {_ON} {_TOPIC}"),
        (Wish.GROWTH, r"how has (?:the )?(?P<kind>evidence|research|literature|corpus) (?:grown|developed|evolved|increased)(?: over (?:time|the (?:last )?(?:years|decades)))?"),
    )
)  # fmt: skip
_JOINING = frozenset(
    "and or with in for among of on about the a an people who are aged involving over men's women's".split()
)


def has_its_form(question: str) -> bool:
    """Whether a question begins and ends like one about the corpus; what it names is for `recognise` to read."""
    said = _said(question)
    return any(form.fullmatch(said) for _, form in _FORMS)


def _said(question: str) -> str:
    return " ".join(folded(question).strip(" ?!.").split())


def recognise(
    question: str, concepts: Sequence[Concept], *, collection: str | None = None
) -> tuple[Wish, Selection] | None:
    """What the question wants to know of the corpus; None for every other question."""
    said = _said(question)
    for wish, form in _FORMS:
        if match := form.fullmatch(said):
            found = match.groupdict()
            topic = " ".join(filter(None, (found.get("topic"), found.get("people"))))
            selection = _selection(topic, found.get("kind") or "", concepts, collection)
            if selection is not None:
                return wish, selection
    return None


def _selection(topic: str, kind: str, concepts: Sequence[Concept], collection: str | None) -> Selection | None:
    """What the topic and the kind name; None where a word of the topic is not understood."""
    spans = find_name_spans(topic, concepts)
    people = list(find_group_spans(topic))
    covered = [(start, end) for start, end, _ in spans] + people
    for word in WORD.finditer(topic):
        is_known = any(start <= word.start() and word.end() <= end for start, end in covered)
        if not is_known and word.group() not in _JOINING:
            return None
    population = find_population(_without(topic, [(a, b) for a, b, c in spans if c.kind != "population"]))
    named = [c for start, end, c in spans if not (c.kind == "population" and _among(start, end, people))]
    if topic and not (named or population.is_named):
        return None
    designs = next((found for begin, found in KINDS.items() if begin in kind), frozenset())
    if "randomi" in kind:
        designs = frozenset({Design.RANDOMIZED_CONTROLLED_TRIAL})
    if "systematic" in kind:
        designs = frozenset({Design.SYSTEMATIC_REVIEW})
    return Selection(
        concepts=tuple({concept.concept_id: concept for concept in named}.values()),
        ages=population.age_groups,
        sexes=population.sexes,
        training=population.training,
        designs=designs,
        collection=collection,
    )


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with spaces in the place of these spans: a name that is a topic ("sarcopenia") names no people."""
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _among(start: int, end: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(other <= start and end <= other_end for other, other_end in spans)


# --- Counting -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """What the rows say: sentences that count, then one for each study named."""

    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    named: tuple[Study, ...]
    """The studies that the answer names, each numbered by its place from 1."""
    overview: Overview


def count(wish: Wish, selection: Selection, studies: Sequence[Study]) -> Counted | None:
    """The answer from the rows of the published studies; None where no study fits. Retracted studies are not counted."""
    fitting = [s for s in studies if selection.takes(s) and s.notice is not Notice.RETRACTED]
    if not fitting:
        return None
    newest_first = sorted(fitting, key=lambda s: (-(s.year or 0), s.title.casefold(), s.study_id))
    named = tuple(newest_first[:LISTED])
    if wish is Wish.OLDEST:
        dated = sorted((s for s in fitting if s.year), key=lambda s: (s.year or 0, s.title.casefold(), s.study_id))
        named = tuple(dated[:LISTED]) or named
    ids = tuple(study.study_id for study in sorted(fitting, key=lambda s: s.study_id))
    counted = [*_lead(wish, named), *(_counted(text, ids) for text in _counts(selection, fitting))]
    return Counted(
        summary=tuple(counted),
        answer=tuple(_line(n, study) for n, study in enumerate(named, start=1)),
        named=named,
        overview=Overview(
            wish=wish.value,
            total=len(fitting),
            filters=selection.filters,
            years=tuple(sorted(Counter(s.year for s in fitting if s.year is not None).items())),
            designs=tuple(
                sorted(Counter(s.design.value for s in fitting).items(), key=lambda pair: (-pair[1], pair[0]))
            ),
        ),
    )


def _counts(selection: Selection, fitting: Sequence[Study]) -> Iterator[str]:
    one = len(fitting) == 1
    about = _about(selection)
    yield (
        f"{len(fitting):,} published {'study' if one else 'studies'} here {'is' if one else 'are'} {about}."
        if about
        else (f"There {'is' if one else 'are'} {len(fitting):,} published {'study' if one else 'studies'} here.")
    )
    years = sorted(study.year for study in fitting if study.year is not None)
    if len(years) > 1 and years[0] < years[-1]:
        since = years[-1] - LATE_YEARS + 1
        late = sum(year >= since for year in years)
        lately = f", {late} of them since {since}" if late < len(years) else ""
        yield f"They were published from {years[0]} to {years[-1]}{lately}."
    designs = Counter(study.design for study in fitting)
    if len(fitting) > 1 and len(selection.designs) != 1:
        parts = [f"{n} {NAMES[d][n > 1]}" for d, n in sorted(designs.items(), key=lambda pair: (-pair[1], pair[0]))]
        yield f"By kind: {', '.join(parts)}."


PEOPLE: dict[AgeGroup | Sex | TrainingStatus, str] = {
    AgeGroup.YOUTH: "young people", AgeGroup.ADULTS: "adults", AgeGroup.OLDER_ADULTS: "older adults",
    AgeGroup.MIXED: "people of mixed ages", AgeGroup.NOT_REPORTED: "people of an age not reported",
    Sex.FEMALE: "women", Sex.MALE: "men", Sex.BOTH: "women and men", Sex.NOT_REPORTED: "people of a sex not reported",
    TrainingStatus.UNTRAINED: "untrained people", TrainingStatus.RECREATIONALLY_TRAINED: "recreationally trained people",
    TrainingStatus.TRAINED: "trained people", TrainingStatus.ATHLETES: "athletes", TrainingStatus.MIXED: "people of mixed training",
    TrainingStatus.NOT_REPORTED: "people whose training is not reported", TrainingStatus.NOT_APPLICABLE: "people of any training",
}  # fmt: skip


def _about(selection: Selection) -> str:
    """ "about creatine, recorded as studies of older adults": by the topics and traits that curators gave to the studies."""
    parts = []
    if selection.designs:
        parts.append(" or ".join(NAMES[design][1] for design in sorted(selection.designs)))
    if selection.concepts:
        parts.append("about " + " and ".join(concept.name for concept in selection.concepts))
    traits = [
        " or ".join(PEOPLE[value] for value in kind)
        for kind in (selection.ages, selection.sexes, selection.training)
        if kind
    ]
    if traits:
        parts.append("recorded as studies of " + " and of ".join(traits))
    if selection.collection:
        parts.append("in this collection")
    return ", ".join(parts)


def _lead(wish: Wish, named: Sequence[Study]) -> Iterator[Sentence]:
    """Which study is the newest, or the oldest; where its year is known."""
    if wish in {Wish.NEWEST, Wish.OLDEST} and named and named[0].year:
        first = named[0]
        yield _sentence(f"The {wish.value} is “{first.title}”, of {first.year}.", (1,), (first.study_id,))


def _counted(text: str, study_ids: tuple[str, ...]) -> Sentence:
    return _sentence(text, (), study_ids)


def _line(number: int, study: Study) -> Sentence:
    kind = NAMES[study.design][0]
    article = "an" if kind[0] in "aeiou" else "a"
    year = f" of {study.year}" if study.year else ""
    return _sentence(f"“{study.title}”, {article} {kind}{year}.", (number,), (study.study_id,), paragraph=number - 1)


def _sentence(text: str, numbers: tuple[int, ...], study_ids: tuple[str, ...], paragraph: int = 0) -> Sentence:
    return Sentence(
        text=text, citations=numbers, verdict=Verdict.COUNTED, support_level="high", kind=SentenceKind.COUNT, support=(),
        paragraph=paragraph, counted_studies=study_ids,
    )  # fmt: skip
