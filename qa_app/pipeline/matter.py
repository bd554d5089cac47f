"""Find the matter of an answer: what it compares and measures, and where the studies of the corpus stand on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from corpus_app.records import Concept, ConceptRole, Finding, Lean, Passage, PassageKind, Study
from qa_app.pipeline import agreement
from qa_app.pipeline.agreement import FindingConcepts
from qa_app.pipeline.composition import Composition
from qa_app.pipeline.concepts import name_stems, names_of
from qa_app.pipeline.ports import Corpus, CorpusFacts
from qa_app.pipeline.query import Aspect, Intent, Query
from qa_app.pipeline.records import Agreement, StudyLean
from qa_app.pipeline.text import folded, stem_set

LEANING = frozenset({Intent.YES_NO, Intent.CLAIM, Intent.WHICH})
"""Intents that ask which way something goes: studies can disagree on it, and a verdict states it."""
WeightedLean = tuple[StudyLean, float]


@dataclass(frozen=True, slots=True)
class Matter:
    """The subject of an answer: a finding of its leading study, and where the studies of the corpus stand on it."""

    finding: Finding
    """The one that the headline quotes, or else the nearest."""
    is_quoted: bool
    concepts: FindingConcepts
    outcome: Concept | None
    """The outcome asked about, where the finding measured it; other measures of it count, too."""
    studies: tuple[StudyLean, ...]
    """The finding's own study first."""
    is_on_question: bool = False
    """Whether the studies are those on the interventions and outcomes that the question names."""
    is_about: bool = True
    """Whether the finding's own study is about the people and conditions that the question names; the others are."""


def named_outcomes(query: Query) -> list[Concept]:
    """Return the outcomes and conditions that a question names and a study is about."""
    named = frozenset((*query.outcome, *query.condition))
    return [concept for concept in query.concepts if concept.concept_id in named]


@dataclass(frozen=True, slots=True)
class Stances:
    """The leanings of studies on the interventions that a question names, and on some outcomes."""

    outcomes: tuple[Concept, ...] = ()
    studies: tuple[WeightedLean, ...] = ()

    @property
    def sides(self) -> Mapping[int, Lean]:
        """Return the side of each finding that leans as its study does, by finding id."""
        rows = ((row, finding) for row, _ in self.studies if row.lean in agreement.SIDES for finding in row.findings)
        return {finding.finding_id: row.lean for row, finding in rows if finding.lean is row.lean}

    @property
    def dissent(self) -> float:
        """Return the weight of the studies that are not on the strongest side."""
        weights = agreement.sum_sides(self.studies).values()
        return sum(weights) - max(weights, default=0.0)


def asks_direction(query: Query) -> bool:
    """Tell whether a question asks which way something goes, or why studies disagree on it."""
    return query.intent in LEANING or query.aspect is Aspect.DISAGREEMENT


def find_stances(query: Query, cited: Sequence[Finding], facts: CorpusFacts, corpus: Corpus) -> Stances:
    """Return where studies lean on the interventions and outcomes that a question names, among the people named.

    Why studies disagree may be asked without an outcome: it is then the one of the `cited` findings on which they do
    most. Empty where a question does not ask which way something goes, or sets interventions against each other.
    """
    by_id = facts.concept_index.by_id
    interventions = [by_id[pk] for pk in query.intervention if pk in by_id]
    if not asks_direction(query) or query.comparator or not interventions:
        return Stances()
    if (outcomes := named_outcomes(query)) or query.aspect is not Aspect.DISAGREEMENT:
        return _stances_on(outcomes, interventions, query, facts, corpus) if outcomes else Stances()
    tested = frozenset(query.intervention)
    measured = (agreement.map_finding(finding, facts.aliases) for finding in cited)
    ids = dict.fromkeys(pk for own in measured if tested <= own.intervention for pk in sorted(own.outcome))
    options = [_stances_on([by_id[pk]], interventions, query, facts, corpus) for pk in ids if pk in by_id]
    return max(options, key=lambda option: (option.dissent, len(option.studies)), default=Stances())


def _stances_on(
    outcomes: Sequence[Concept], interventions: Sequence[Concept], query: Query, facts: CorpusFacts, corpus: Corpus
) -> Stances:
    by_id = facts.concept_index.by_id
    measures = (by_id[pk] for outcome in outcomes for pk in outcome.measured_by if pk in by_id)
    names = [name for concept in (*outcomes, *measures) for name in names_of(concept)]
    findings = corpus.findings_naming(names, [names_of(concept) for concept in interventions])
    rows = agreement.studies_on_question(interventions, outcomes, findings, facts.aliases, by_id)
    studies = corpus.studies([row.study_id for row in rows])
    known = ((row, studies[row.study_id]) for row in rows if row.study_id in studies)
    weighed = ((row, agreement.weigh(study)) for row, study in known if is_about(study, row.findings, query, facts))
    return Stances(tuple(outcomes), tuple(weighed))


def studies_of_other_sides(stances: Stances, cited: Sequence[str]) -> tuple[str, ...]:
    """Return the weightiest study of each side on which none of the cited studies is."""
    present = {row.lean for row, _ in stances.studies if row.study_id in cited}
    best: dict[Lean, WeightedLean] = {}
    for row, weight in stances.studies:
        if row.lean in agreement.SIDES and row.lean not in present and weight > best.get(row.lean, (row, 0.0))[1]:
            best[row.lean] = (row, weight)
    return tuple(row.study_id for row, _ in best.values())


def agreeing(on_question: Sequence[WeightedLean]) -> frozenset[int]:
    """Return the findings that lean where the studies do; none where no side is clearly stronger."""
    side = agreement.consensus(on_question)
    found = (finding for row, _ in on_question for finding in row.findings)
    return frozenset(finding.finding_id for finding in found if side and finding.lean is side)


def is_on_question(finding: Finding, query: Query, facts: CorpusFacts) -> bool:
    """Tell whether a finding tested just the interventions, and measured an outcome, that a question names."""
    by_id = facts.concept_index.by_id
    tested = [by_id[pk] for pk in query.intervention if pk in by_id]
    concepts = agreement.map_finding(finding, facts.aliases)
    is_tested = bool(tested) and agreement.tests_just(concepts, tested, by_id)
    return is_tested and agreement.measures_any(finding, concepts, named_outcomes(query), by_id)


def passages_on_outcome(
    query: Query, passages: Iterable[Passage], findings: Iterable[Finding], facts: CorpusFacts
) -> frozenset[int]:
    """Return the plain passages on an outcome that a question names: their finding measured it, or they name it."""
    outcomes, index = named_outcomes(query), facts.concept_index
    ids = frozenset(pk for concept in outcomes for pk in (concept.concept_id, *concept.measured_by))
    mapped = ((finding, agreement.map_finding(finding, facts.aliases)) for finding in findings)
    measured = {f.finding_id for f, own in mapped if agreement.measures_any(f, own, outcomes, index.by_id)}
    return frozenset(
        passage.passage_id
        for passage in passages
        if outcomes and passage.kind is PassageKind.PLAIN
        and (
            passage.finding_id in measured
            if passage.finding_id
            else any(mention.concept.concept_id in ids for mention in index.find(passage.text))
        )
    )  # fmt: skip


def passages_on_people(
    query: Query, passages: Iterable[Passage], findings: Iterable[Finding], facts: CorpusFacts
) -> frozenset[int]:
    """Return the plain passages of studies of the people that a question names, on one of its interventions."""
    if not query.facets.values:
        return frozenset()
    asked = frozenset((*query.intervention, *query.comparator))
    mapped = {finding.finding_id: agreement.map_finding(finding, facts.aliases) for finding in findings}

    def is_on(passage: Passage) -> bool:
        own = mapped.get(passage.finding_id or 0)
        named = {mention.concept.concept_id for mention in facts.concept_index.find(passage.text)}
        return not asked or bool(asked & (named | (own.intervention | own.comparator if own else frozenset())))

    return frozenset(
        passage.passage_id
        for passage in passages
        if passage.kind is PassageKind.PLAIN and _is_of_people(passage.study, query) and is_on(passage)
    )


def unstudied_relation(query: Query, sentences: Iterable[str], findings: Iterable[Finding], facts: CorpusFacts) -> str:
    """Return the interventions with the outcomes that a question asks about, where nothing cited is on both.

    Empty where a sentence names one of each, or a finding of the cited studies compared and measured them.
    """
    by_id = facts.concept_index.by_id
    interventions, outcomes = [by_id[pk] for pk in query.intervention if pk in by_id], named_outcomes(query)
    if not interventions or not outcomes:
        return ""
    asked = frozenset(query.intervention)
    for finding in findings:
        own = agreement.map_finding(finding, facts.aliases)
        if asked & (own.intervention | own.comparator) and agreement.measures_any(finding, own, outcomes, by_id):
            return ""
    measures = [by_id[pk] for outcome in outcomes for pk in outcome.measured_by if pk in by_id]
    sides = [
        [names for concept in side for names in name_stems(concept)] for side in (interventions, [*outcomes, *measures])
    ]
    for sentence in sentences:
        stems = stem_set(sentence)
        if all(any(names <= stems for names in side) for side in sides):
            return ""
    first, second = (" and ".join(concept.name for concept in side) for side in (interventions, outcomes))
    return f"{first} together with {second}"


def is_about(study: Study, findings: Iterable[Finding], query: Query, facts: CorpusFacts) -> bool:
    """Tell whether a study is about values of each facet, and has each condition, that a question names.

    A study has a condition, or a kind of it, where its people, a value of its facets or one of these findings name it.
    Where its people are not described, the concepts and the title say it.
    """
    if not _is_of_people(study, query):
        return False
    named = (*query.condition, *(() if query.facets.values else query.people))
    if not named:
        return True
    values = (facet.values[value] for key, facet in facts.facets.facets.items() for value in study.values_of(key)
              if value in facet.values)  # fmt: skip
    texts = [study.population, *(value.label for value in values)]
    texts += [text for finding in findings for text in (finding.intervention, finding.outcome)]
    has = set() if study.population.strip() else set(study.concepts)
    texts += [] if study.population.strip() else [study.title]
    for text in texts:
        has |= agreement.find_concepts(text, facts.aliases, frozenset(ConceptRole), skips_less=True)
    by_id = facts.concept_index.by_id
    return all(
        agreement.names_any([by_id[pk] for pk in has if pk in by_id], by_id[one]) for one in named if one in by_id
    )


def _is_of_people(study: Study, query: Query) -> bool:
    return all(set(study.values_of(facet)) & set(values) for facet, values in query.facets.values.items())


def count_sides(found: Agreement | None) -> Counter[Lean]:
    """Return how many studies lean to each side on what a question asks; empty where none does."""
    return Counter(row.lean for row in (found.studies if found else ()) if row.lean in agreement.SIDES)


def find_matter(
    query: Query, composed: Composition, nearest: Finding | None, findings: Sequence[Finding],
    stances: Stances, facts: CorpusFacts, corpus: Corpus,
) -> Matter | None:  # fmt: skip
    """Return the matter of the quoted finding, or else of the nearest; None without either."""
    pk = composed.headline.passage.finding_id
    quoted = next((finding for finding in findings if finding.finding_id == pk), None)
    finding = quoted or nearest
    if finding is None:
        return None
    concepts = agreement.map_finding(finding, facts.aliases)
    if any(finding in row.findings for row, _ in stances.studies):
        rows = _own_first([row for row, _ in stances.studies], finding)
        return Matter(finding, quoted is not None, concepts, stances.outcomes[0], rows, is_on_question=True)
    outcome = _asked_outcome(query, concepts)
    outcomes = frozenset((outcome.concept_id, *outcome.measured_by)) if outcome else concepts.outcome
    others = _comparable_findings(concepts, outcomes, findings, facts, corpus)
    mapped = {other.finding_id: agreement.map_finding(other, facts.aliases) for other in others}
    rows = agreement.studies_on(concepts, others, mapped, outcomes)
    about = {row.study_id for row in _of_people_asked(rows, query, facts, corpus)}
    studies = tuple(row for row in rows if row.study_id in about or row.study_id == finding.study_id)
    if not studies and finding.lean:
        studies = (StudyLean((finding,), finding.lean),)
    own = finding.study_id in about
    return Matter(finding, quoted is not None, concepts, outcome, _own_first(studies, finding), is_about=own)


def _of_people_asked(
    rows: Sequence[StudyLean], query: Query, facts: CorpusFacts, corpus: Corpus
) -> Iterator[StudyLean]:
    """Yield the studies about the people and conditions that a question names: all where it names none."""
    if not (query.facets.values or query.condition or query.people):
        yield from rows
        return
    known = corpus.studies([row.study_id for row in rows]) if rows else {}
    for row in rows:
        if (study := known.get(row.study_id)) and is_about(study, row.findings, query, facts):
            yield row


def _own_first(studies: Sequence[StudyLean], finding: Finding) -> tuple[StudyLean, ...]:
    return tuple(sorted(studies, key=lambda row: row.study_id != finding.study_id))


def _comparable_findings(
    concepts: FindingConcepts, outcomes: frozenset[str], cited: Sequence[Finding], facts: CorpusFacts, corpus: Corpus
) -> tuple[Finding, ...]:
    """Return the findings that may be on a matter: those cited, and others that name its concepts, by study id."""
    if not concepts.is_mapped:
        return ()
    by_id = facts.concept_index.by_id
    measured = [name for pk in sorted(concepts.outcome | outcomes) if pk in by_id for name in names_of(by_id[pk])]
    compared = [names_of(by_id[pk]) for pk in sorted(concepts.intervention | concepts.comparator)]
    found = {finding.finding_id: finding for finding in (*cited, *corpus.findings_naming(measured, compared))}
    return tuple(sorted(found.values(), key=lambda finding: finding.study_id))


def _asked_outcome(query: Query, concepts: FindingConcepts) -> Concept | None:
    """Return the outcome asked about that a finding measured, itself or by one of its measures."""
    asked = named_outcomes(query)
    return next((c for c in asked if concepts.outcome and concepts.outcome <= {c.concept_id, *c.measured_by}), None)


def is_on_what_is_asked(query: Query, matter: Matter) -> bool:
    """Tell whether a finding may be on the intervention and outcome asked about, as far as both name concepts.

    Neighbours in the concept graph count as the same outcome.
    """
    if matter.is_on_question:
        return True
    concepts = matter.concepts
    outcomes = frozenset((*query.outcome, *query.condition))
    near = frozenset(neighbour for concept in named_outcomes(query) for neighbour in concept.neighbours)
    pairs = (
        (frozenset((*query.intervention, *query.comparator)), concepts.intervention | concepts.comparator),
        (outcomes | near, concepts.outcome),
    )
    return all(not asked or not own or asked & own for asked, own in pairs)


def is_strength_asked(query: Query, matter: Matter) -> bool:
    """Tell whether the studies on a matter are the evidence for what a question asks: a direction or a size of it."""
    return (asks_direction(query) or query.aspect is Aspect.SIZE) and is_on_what_is_asked(query, matter)


def find_agreement(query: Query, matter: Matter, facts: CorpusFacts) -> Agreement | None:
    """Return where the studies of the corpus stand on a matter, as seen from the intervention that a question names.

    None where the question does not ask which way something goes, or names another outcome or comparison.
    """
    concepts, outcome = matter.concepts, matter.outcome
    if not asks_direction(query) or not concepts.is_mapped or outcome is None:
        return None
    subject_side = concepts.intervention if matter.is_on_question else _side_asked(query, matter, facts)
    if not subject_side:
        return None
    is_turned = subject_side == concepts.comparator
    about = (row for row in matter.studies if matter.is_about or row.study_id != matter.finding.study_id)
    studies = tuple(row for study in about if (row := agreement.compared(study)))
    if not studies:
        return None
    sides = (concepts.intervention, concepts.comparator)
    if matter.is_on_question:
        sides = (frozenset(query.intervention), frozenset())
    texts = (matter.finding.intervention, matter.finding.comparator)
    if is_turned:
        sides, texts = sides[::-1], texts[::-1]
        studies = tuple(StudyLean(row.findings, row.lean.turned) for row in studies)
    findings = [finding for row in studies for finding in row.findings]
    mapped = {finding.finding_id: agreement.map_finding(finding, facts.aliases) for finding in findings}
    comparator = _side_name(sides[1], texts[1], facts) if sides[1] else _common_comparator(findings)
    name = _side_name(sides[0], texts[0], facts)
    return Agreement(
        outcome,
        _subject(sides[0], facts),
        studies,
        intervention=_plain_name(texts[0]) if folded(name) in folded(comparator) else name,
        comparator=comparator,
        turned=frozenset(pk for pk, own in mapped.items() if sides[1] and own.intervention == sides[1]),
    )


def _side_asked(query: Query, matter: Matter, facts: CorpusFacts) -> frozenset[str]:
    """Return the side of a finding that has what a question asks about; empty where it names another comparison.

    A side may have more than what is named only where it stands against another intervention: both are told in full.
    """
    sides = (matter.concepts.intervention, matter.concepts.comparator)
    asked, against = frozenset(query.intervention), frozenset(query.comparator)
    own = [(side, other) for pk in query.intervention for side, other in (sides, sides[::-1]) if pk in side]
    if not own or not asked | against <= agreement.concepts_compared(matter.finding, facts.aliases):
        return frozenset()
    side, other = own[0]
    by_id = facts.concept_index.by_id
    kinds = [by_id[pk] for pk in asked if pk in by_id]
    is_plain = all(agreement.is_kind_of(kinds, by_id[pk]) for pk in side - asked if pk in by_id)
    return side if against.isdisjoint(side) and (other or is_plain) else frozenset()


def _subject(side: Set[str], facts: CorpusFacts) -> Concept | None:
    by_id = facts.concept_index.by_id
    return by_id.get(next(iter(side))) if len(side) == 1 else None


def _side_name(side: Set[str], text: str, facts: CorpusFacts) -> str:
    """Return the name of the one concept of a side, or else the words of a finding without what stands in brackets."""
    subject = _subject(side, facts)
    return subject.name if subject else _plain_name(text)


def _plain_name(text: str) -> str:
    return text.partition("(")[0].strip()


def _common_comparator(findings: Sequence[Finding]) -> str:
    """Return what all findings compared with, without what went along with it; empty where they differ in it."""
    whole = {_plain_name(finding.comparator) for finding in findings}
    main = whole if len(whole) == 1 else {agreement.ALONG_OR_BESIDE.split(text)[0].strip() for text in whole}
    name = main.pop() if len(main) == 1 else ""
    is_shared = len(whole) > 1 and any(folded(name) in folded(finding.intervention) for finding in findings)
    return "" if is_shared else name
