"""Evidence: which ranked passages the answer may use, and why the others may not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from corpus_app.records import Section
from qa_app.pipeline.naming import DONE, MEASURED, NUTRIENT, by_id, names, names_of, once_for_these
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.population import is_about, is_about_others, is_of_another_life
from qa_app.pipeline.qualifiers import besides_kept_food
from qa_app.pipeline.records import (
    TELLING,
    Candidate,
    Concept,
    Evidence,
    Finding,
    LeftOut,
    LeftOutReason,
    NearFinding,
    Population,
    Question,
    Study,
    Understanding,
)
from qa_app.pipeline.text import jaccard, stem_set

AT_A_TURN = 2  # passages of a study that may be quoted, before the next one has its turn
HARDLY = 0.5  # of the chance from which a study is quoted: one that found what was asked about is, where the others found nothing of it
LIKELY = 0.6  # chance that a study is quoted, from which what it found takes the place of another of its passages
TOLD_FROM = 0.7  # share of the words of a finding that a passage holds which tells it
FREE = frozenset({LeftOutReason.BUDGET, LeftOutReason.STUDY_CAP, LeftOutReason.DUPLICATE_LOCATION})
SETTING_OUT = frozenset({Section.INTRODUCTION, Section.BACKGROUND, Section.METHODS})


def find_citable(
    ranked: Sequence[Candidate],
    *,
    understanding: Understanding,
    policy: Policy,
    concepts: Sequence[Concept] = (),
    findings: Sequence[Finding] = (),
    near: Sequence[NearFinding] = (),
    asked: str = "",
    searched: str = "",
    alternatives: Collection[str] = (),
) -> dict[str, float]:
    """The studies that an answer may quote, with their chances to bear on the question: the first, and those with a fair one.

    Which study bears is another question than which passage comes close: a study that ranking puts first is worth more than
    a stray sentence of another one. The others stay evidence that readers may look at. Where the question as `asked` names an
    author ("Carpinelli's 2009 critique"), only what that author wrote is meant. Where it names nothing that people eat or take, a study
    that tried nothing else is not quoted if others bear on it. Where it is about older people, studies of children are not quoted if
    others bear on it, nor where it is about children those of older people. Studies on another matter are not quoted where a likely one
    found all that is asked about. Where the question sets two things against each other, the others are not quoted beside studies that
    compared them (`alternatives`) in people who are not plainly others than those asked about.
    """
    signals = study_signals(ranked, understanding=understanding, concepts=concepts, findings=findings, near=near)
    named = _by_named_author(asked, ranked)
    meant = named or tuple(signals)
    chances = {study_id: round(_chance(signals[study_id], policy), 6) for study_id in meant}
    others = _on_what_nobody_asked_about(searched or asked, understanding, concepts, findings)
    people, studies = understanding.population, [c.passage.study for c in ranked if not named]
    strangers = {study.study_id for study in studies if is_of_another_life(study, people)}
    bearing = [study_id for study_id in meant if chances[study_id] >= policy.cites_from and study_id not in others]
    known = [study_id for study_id in bearing if study_id not in strangers]
    aside = frozenset() if named else _on_another_matter(understanding, signals, studies, findings, concepts)
    likely = [i for i in meant if chances[i] >= policy.cites_from * HARDLY and i not in others | strangers]
    whole = [study_id for study_id in likely if signals[study_id]["matter"] == 1.0]
    if aside and whole:
        strangers |= aside
        known = [i for i in meant if (i in known and i not in aside) or i == whole[0]]
    first = [study_id for study_id in meant[:1] if study_id not in strangers | others or not known]
    quoted = _that_compared(alternatives, known or bearing, studies, people) or {*first, *(known or bearing)}
    return {study_id: chances[study_id] for study_id in meant if study_id in quoted}


def _on_another_matter(
    understanding: Understanding,
    signals: Mapping[str, Mapping[str, float]],
    studies: Sequence[Study],
    findings: Sequence[Finding],
    concepts: Sequence[Concept],
) -> frozenset[str]:
    """Where the question names both what is done and what comes of it: studies whose findings neither compare nor measure anything
    that it names, and which are about no outcome that it names, nor one next to that in the graph.

    Blood flow restriction, where lifting and blood pressure are asked about.
    """
    outcomes = [concept for concept in understanding.concepts if concept.kind in MEASURED]
    if not outcomes or not any(concept.kind in DONE for concept in understanding.concepts):
        return frozenset()
    known = by_id(concepts)
    near = {i for c in outcomes for i in c.neighbours if i in known and known[i].kind in MEASURED}
    alike = near.union(concept.concept_id for concept in outcomes)
    having = {finding.study_id for finding in findings}
    return frozenset(
        study.study_id
        for study in studies
        if study.study_id in having and not signals[study.study_id]["matter"] and alike.isdisjoint(study.concepts)
    )


def _that_compared(
    alternatives: Collection[str], bearing: Sequence[str], studies: Sequence[Study], people: Population
) -> set[str]:
    """Of the studies that bear those that compared what the question does, but for those of plainly other people than it names; none
    where none is of these alone.
    """
    comparing = {study.study_id: study for study in studies if study.study_id in alternatives}
    compared = [comparing[study_id] for study_id in bearing if study_id in comparing]
    if not any(is_about(study, people) for study in compared):
        return set()
    return {study.study_id for study in compared if not is_about_others(study, people)}


def _on_what_nobody_asked_about(
    asked: str, understanding: Understanding, concepts: Sequence[Concept], findings: Sequence[Finding]
) -> frozenset[str]:
    """Studies of which every finding has to do with a nutrient or a diet, where the question names none, nor a word of that one but
    to say that it stays as it is.

    What both sides ate, where one of them alone did something else (train, for people on a diet), is none of it.
    """
    if any(_is_eaten(concept) for concept in understanding.concepts):
        return frozenset()
    done, eaten = _done(concepts), _eaten(concepts)
    named = names_of(concepts)
    named_otherwise = map(_stems_of, understanding.concepts)  # neither "body fat" nor "lifting weights" is a diet
    kept = stem_set(asked) - stem_set(besides_kept_food(asked))
    terms = frozenset(understanding.terms).difference(kept, *named_otherwise)
    given: dict[str, list[bool]] = {}
    for finding in findings:
        tried = named.ids_in(finding.intervention) & done
        of_one_side = tried - named.ids_in(finding.comparator)
        diets = [eaten[i] for i in (of_one_side if of_one_side - eaten.keys() else tried) & eaten.keys()]
        is_other = bool(diets) and not any(terms & _stems_of(concept) for concept in diets)
        given.setdefault(finding.study_id, []).append(is_other)
    return frozenset(study_id for study_id, are_others in given.items() if all(are_others))


def _is_eaten(concept: Concept) -> bool:
    return concept.kind == NUTRIENT or (concept.kind in DONE and bool(_DIET & _stems_of(concept)))


_DIET = stem_set("diet")


@once_for_these
def _done(concepts: tuple[Concept, ...]) -> frozenset[str]:
    """Ids of what people do or take."""
    return frozenset(concept.concept_id for concept in concepts if concept.kind in DONE)


@once_for_these
def _eaten(concepts: tuple[Concept, ...]) -> dict[str, Concept]:
    """Nutrients and diets by their ids."""
    return {concept.concept_id: concept for concept in concepts if _is_eaten(concept)}


def _by_named_author(asked: str, ranked: Sequence[Candidate]) -> tuple[str, ...]:
    """Studies by an author whom the question names, in the order of the ranking: of the year that it names, where there are
    such, and by the first author, where there are such."""
    names, years = {word.casefold() for word in _NAME.findall(asked)}, set(map(int, _YEAR.findall(asked)))
    studies = {c.passage.study.study_id: c.passage.study for c in ranked}.values()
    found = [study for study in studies if names & {_surname(author) for author in study.authors}]
    found = [study for study in found if names & {_surname(author) for author in study.authors[:1]}] or found
    return tuple(study.study_id for study in [s for s in found if s.year in years] or found)


_NAME = re.compile(r"\b[A-Z][\w-]{3,}")  # a capital letter, so that "young" and "long" are no authors
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def _surname(author: str) -> str:
    """The longest word of an author's name: initials and particles are shorter."""
    return max(author.replace(",", " ").split(), key=len, default="").casefold()


def study_signals(
    ranked: Sequence[Candidate],
    *,
    understanding: Understanding,
    concepts: Sequence[Concept] = (),
    findings: Sequence[Finding] = (),
    near: Sequence[NearFinding] = (),
) -> dict[str, dict[str, float]]:
    """What speaks for each study, those of the best passages first.

    cosine    the closest of its sentences or passages
    keywords  the largest share of the question's terms in one of its passages
    held      the same over the most that any study holds: what no study says in these words tells none from another
    place     1 / rank
    score     its best score over the best of all
    about     share of the question's terms in its title and in the names of what it is about
    alike     share of what the first study is about, by rarity, that it is about too
    detail    how much closer its closest sentence comes than its closest finding: a study that only shares the subject has little
    matter    the largest share of the concepts asked about, by rarity, that one of its findings compares or measures
    others    its people are plainly not those that the question names
    """
    named, terms = by_id(concepts), frozenset(understanding.terms)
    by_study: dict[str, list[Candidate]] = {}
    for candidate in ranked:
        by_study.setdefault(candidate.passage.study.study_id, []).append(candidate)
    best = max((c.score for c in ranked), default=0.0) or 1.0
    leading = frozenset(ranked[0].passage.study.concepts if ranked else ())
    known = math.fsum(named[i].rarity for i in leading if i in named) or 1.0
    most = max((c.keyword_hits for c in ranked), default=0) or 1
    closest = {entry.study_id: entry.cosine for entry in near}
    nearest = {study_id: max(c.best_cosine for c in own) for study_id, own in by_study.items()}
    for study_id in by_study.keys() - closest.keys():
        closest[study_id] = max(c.hit.cosine or 0.0 for c in by_study[study_id])
    shares = _matters(understanding, concepts, findings)
    return {
        study_id: {
            "cosine": nearest[study_id],
            "keywords": max(c.keyword_hits for c in own) / max(1, len(understanding.terms)),
            "held": max(c.keyword_hits for c in own) / most,
            "place": 1 / rank,
            "score": max(c.score for c in own) / best,
            "about": len(terms & _subject_of(own[0].passage.study, named)) / max(1, len(terms)),
            "alike": math.fsum(
                named[i].rarity for i in leading.intersection(own[0].passage.study.concepts) if i in named
            )
            / known,
            "detail": nearest[study_id] - closest[study_id],
            "matter": shares.get(study_id, 0.0),
            "others": float(is_about_others(own[0].passage.study, understanding.population)),
        }
        for rank, (study_id, own) in enumerate(by_study.items(), start=1)
    }


def _matters(
    understanding: Understanding, concepts: Sequence[Concept], findings: Sequence[Finding]
) -> dict[str, float]:
    """Of each study the largest share of the concepts asked about, by rarity, that one of its findings names."""
    asked = {concept.concept_id: concept.rarity for concept in understanding.concepts}
    total = math.fsum(asked.values())  # exact, so that all of it is 1.0
    shares: dict[str, float] = {}
    if not total:
        return shares
    names = names_of(concepts)
    for finding in findings:
        sides = (finding.intervention, finding.comparator, finding.outcome)
        named = frozenset().union(*map(names.ids_in, sides)) & asked.keys()
        share = math.fsum(asked[concept_id] for concept_id in named) / total
        shares[finding.study_id] = max(share, shares.get(finding.study_id, 0.0))
    return shares


def _subject_of(study: Study, concepts: Mapping[str, Concept]) -> frozenset[str]:
    """Stems of its title and of all names of what it is about."""
    about = (_stems_of(concepts[i]) for i in study.concepts if i in concepts)
    return stem_set(study.title).union(*about)


@lru_cache(maxsize=2_048)
def _stems_of(concept: Concept) -> frozenset[str]:
    return stem_set(" ".join((concept.name, *concept.aliases)))


def _chance(values: Mapping[str, float], policy: Policy) -> float:
    model = policy.citing if values["cosine"] > 0 else policy.citing_by_words
    z = model.intercept + sum(weight * values[name] for name, weight in model.weights)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def location(candidate: Candidate, policy: Policy) -> tuple[str, object, int]:
    """Study, page (or section where pages are unknown), and a group of neighbouring positions."""
    passage = candidate.passage
    return passage.study.study_id, passage.page or passage.section, passage.position // policy.location_group


def select(
    ranked: Sequence[Candidate],
    *,
    question: Question,
    understanding: Understanding,
    policy: Policy,
    findings: Sequence[Finding] = (),
    citable: Mapping[str, float] | None = None,
) -> Evidence:
    """The best passages from different places, within the budget, and what their studies found; in the order of the ranking.

    Those that the answer may quote have the first call on the budget, and each of their studies is heard before one is heard out.
    Raises InsufficientEvidence where no passage is left.
    """
    quotable = [citable is not None and c.passage.study.study_id in citable for c in ranked]
    chosen: list[Candidate] = []
    words: list[frozenset[str]] = []
    refused: dict[int, tuple[LeftOutReason, str]] = {}
    for place in _in_turn(ranked, quotable, understanding):
        candidate = ranked[place]
        reason = _why_not(candidate, chosen, words, policy, is_citable=quotable[place])
        if reason is None:
            chosen.append(candidate)
            words.append(stem_set(candidate.passage.text))
        else:
            refused[place] = reason
    for silent, telling in _telling_instead(ranked, refused, understanding, policy, citable):
        del refused[telling]
        refused[silent] = (LeftOutReason.BUDGET, "another passage of this study tells what it found")
    for silent, telling in _naming_instead(ranked, refused, understanding, policy, citable):
        del refused[telling]
        refused[silent] = (
            LeftOutReason.BUDGET,
            "another passage of this study tells of an outcome that was asked about",
        )
    for silent, telling in _found_instead(ranked, refused, understanding, policy, citable, findings):
        del refused[telling]
        refused[silent] = (
            LeftOutReason.BUDGET,
            "another passage of this study tells what it found of what was asked about",
        )
    left_out = tuple(
        LeftOut("passage", *reason, ranked[place].passage.passage_id, None, ranked[place].passage.study.study_id)
        for place, reason in sorted(refused.items())
    )
    kept = tuple(candidate for place, candidate in enumerate(ranked) if place not in refused)
    studies = {c.passage.study.study_id for c in kept}
    found = tuple(finding for finding in findings if finding.study_id in studies)
    return Evidence(question, understanding, kept, left_out, found, citable)


def with_studies(
    evidence: Evidence,
    ranked: Sequence[Candidate],
    wanted: Collection[str],
    findings: Sequence[Finding],
    policy: Policy,
) -> Evidence:
    """The evidence with the best passage of each of these studies that tells what it found, in the place of the lowest of a study
    that has several. It is as it was where not all of them find room.
    """
    best: dict[str, Candidate] = {}
    for candidate in ranked:
        if candidate.passage.study.study_id in wanted and candidate.passage.section in TELLING:
            best.setdefault(candidate.passage.study.study_id, candidate)
    if len(best) < len(wanted) or len(evidence.studies) + len(best) > policy.counted_studies:
        return evidence
    kept = list(evidence.passages)
    while len(kept) + len(best) > policy.evidence_passages:
        of_study = Counter(c.passage.study.study_id for c in kept)
        spare = next((c for c in reversed(kept) if of_study[c.passage.study.study_id] > 1), None)
        if spare is None:
            return evidence
        kept.remove(spare)
    places = {candidate.passage.passage_id: place for place, candidate in enumerate(ranked)}
    inside = {c.passage.passage_id for c in (*kept, *best.values())}
    spared = tuple(
        LeftOut("passage", LeftOutReason.BUDGET, COUNTED_INSTEAD, c.passage.passage_id, None, c.passage.study.study_id)
        for c in evidence.passages
        if c.passage.passage_id not in inside
    )
    passages = sorted((*kept, *best.values()), key=lambda c: places.get(c.passage.passage_id, len(places)))
    studies = {c.passage.study.study_id for c in passages}
    return replace(
        evidence,
        passages=tuple(passages),
        left_out=(*(entry for entry in evidence.left_out if entry.passage_id not in inside), *spared),
        findings=tuple(finding for finding in findings if finding.study_id in studies),
    )


COUNTED_INSTEAD = "a passage of another study on the same matter stands in its place"


def _telling_instead(
    ranked: Sequence[Candidate],
    refused: Mapping[int, tuple[LeftOutReason, str]],
    understanding: Understanding,
    policy: Policy,
    citable: Mapping[str, float] | None,
) -> Iterator[tuple[int, int]]:
    """Of each study that may be quoted and of which no chosen passage tells what it found, the last of these, and the best that does.

    Where the question aims at sections, passages of those tell what was asked.
    """
    by_study: dict[str, list[int]] = {}
    for place, candidate in enumerate(ranked):
        by_study.setdefault(candidate.passage.study.study_id, []).append(place)
    asked = TELLING.union(understanding.target_sections)
    for study_id, places in by_study.items():
        chosen = [place for place in places if place not in refused]
        if study_id not in (citable or {}) or not chosen or any(ranked[p].passage.section in asked for p in chosen):
            continue
        others = {location(ranked[place], policy) for place in chosen[:-1]}
        for place in places:
            is_free = place in refused and refused[place][0] is LeftOutReason.BUDGET
            if is_free and ranked[place].passage.section in TELLING and location(ranked[place], policy) not in others:
                yield chosen[-1], place
                break


def _naming_instead(
    ranked: Sequence[Candidate],
    refused: Mapping[int, tuple[LeftOutReason, str]],
    understanding: Understanding,
    policy: Policy,
    citable: Mapping[str, float] | None,
) -> Iterator[tuple[int, int]]:
    """For each outcome asked about that no chosen passage names of a study that may be quoted: one of such a passage, and the best that does.

    Of the same study, and the one at the same place if there is one. The best of all passages stays, what stands in a section that
    was asked for, what names another outcome asked about, and the only one of a study.
    """
    outcomes = [concept for concept in understanding.concepts if concept.kind in MEASURED]
    quotable = [place for place, c in enumerate(ranked) if c.passage.study.study_id in (citable or {})]
    for outcome in outcomes:
        chosen = [place for place in quotable if place not in refused]
        if not chosen or any(names(ranked[place].passage.text, outcome) for place in chosen):
            continue
        silent = [
            place
            for place in chosen
            if place > 0
            and ranked[place].passage.section not in understanding.target_sections
            and not any(names(ranked[place].passage.text, other) for other in outcomes)
        ]
        for place in quotable:
            passage = ranked[place].passage
            is_free = place in refused and refused[place][0] in FREE
            if not is_free or passage.section not in TELLING or not names(passage.text, outcome):
                continue
            if _is_near_copy(place, chosen, ranked, policy):
                continue
            own = [p for p in silent if ranked[p].passage.study.study_id == passage.study.study_id]
            instead = _in_place_of(place, own, chosen, ranked, policy)
            others = [p for p in chosen if p != instead and ranked[p].passage.study == passage.study]
            if instead is not None and others:
                yield instead, place
                break


def _found_instead(
    ranked: Sequence[Candidate],
    refused: Mapping[int, tuple[LeftOutReason, str]],
    understanding: Understanding,
    policy: Policy,
    citable: Mapping[str, float] | None,
    findings: Sequence[Finding],
) -> Iterator[tuple[int, int]]:
    """Of each study that is likely to be quoted and found something of an outcome asked about, which none of its chosen passages tells: the
    last of these that can be spared, and the best that does.

    The best of all passages stays, what stands in a section that was asked for, the only one of a study, and the only one that names an
    outcome asked about.
    """
    outcomes = [concept for concept in understanding.concepts if concept.kind in MEASURED]
    outcomes += [measure for _, measure in understanding.measures]
    for study_id, chance in (citable or {}).items():
        if chance < LIKELY:
            continue
        own = [f for f in findings if f.study_id == study_id and any(names(f.outcome, outcome) for outcome in outcomes)]
        places = [place for place, c in enumerate(ranked) if c.passage.study.study_id == study_id]
        chosen = [place for place in places if place not in refused]
        if not own or len(chosen) < 2 or any(_tells_one(ranked[place], own) for place in chosen):
            continue
        kept = [place for place in range(len(ranked)) if place not in refused]
        spare = [
            p
            for p in chosen
            if p > 0
            and ranked[p].passage.section not in understanding.target_sections
            and not _is_alone_on_one(p, kept, ranked, outcomes)
        ]
        for place in places:
            is_free = place in refused and refused[place][0] in FREE
            if not is_free or not _tells_one(ranked[place], own) or _is_near_copy(place, kept, ranked, policy):
                continue
            instead = _in_place_of(place, spare, chosen, ranked, policy)
            if instead is not None:
                yield instead, place
                break


def _in_place_of(
    place: int, spare: Sequence[int], chosen: Sequence[int], ranked: Sequence[Candidate], policy: Policy
) -> int | None:
    """The last of those that can be spared, or of these the one at its own place, where a chosen one stands there; None without any."""
    here = location(ranked[place], policy)
    at_its_place = [p for p in chosen if location(ranked[p], policy) == here]
    fit = [p for p in spare if p in at_its_place] if at_its_place else spare
    return fit[-1] if fit else None


def _is_alone_on_one(place: int, kept: Sequence[int], ranked: Sequence[Candidate], outcomes: Sequence[Concept]) -> bool:
    """Whether it names an outcome that no other chosen passage names."""
    own = [outcome for outcome in outcomes if names(ranked[place].passage.text, outcome)]
    return any(not any(names(ranked[p].passage.text, outcome) for p in kept if p != place) for outcome in own)


def _is_like_one(own: frozenset[str], others: Iterable[frozenset[str]], share: float) -> bool:
    """Whether this share of the words is that of one of the others, at least. Of sets of too different sizes it cannot be."""
    for other in others:
        small, large = sorted((len(own), len(other)))
        if (small / large if large else 1.0) >= share and jaccard(own, other) >= share:
            return True
    return False


def _is_near_copy(place: int, chosen: Sequence[int], ranked: Sequence[Candidate], policy: Policy) -> bool:
    own, others = stem_set(ranked[place].passage.text), (stem_set(ranked[p].passage.text) for p in chosen)
    return _is_like_one(own, others, policy.near_duplicate_jaccard)


def _tells_one(candidate: Candidate, findings: Sequence[Finding]) -> bool:
    """Whether a passage holds nearly all words of what one of these findings says."""
    held = stem_set(candidate.passage.text)
    return candidate.passage.section in TELLING and any(
        len(said & held) >= TOLD_FROM * len(said) for said in (stem_set(finding.statement) for finding in findings)
    )


def _in_turn(ranked: Sequence[Candidate], quotable: Sequence[bool], understanding: Understanding) -> list[int]:
    """Places in the order in which passages are taken: of the studies that may be quoted so many of each, and again; then the rest.

    What such a study set out to do and how comes after what it found, unless it is the best of all passages, or the question aims
    there.
    """
    late = SETTING_OUT.difference(understanding.target_sections)
    order = sorted(range(len(ranked)), key=lambda n: (n > 0 and quotable[n] and ranked[n].passage.section in late, n))
    taken: Counter[str] = Counter()
    turns: dict[int, tuple[bool, int, int]] = {}
    for place in order:
        study_id, is_quotable = ranked[place].passage.study.study_id, quotable[place]
        turn = taken[study_id] // AT_A_TURN if is_quotable else 0
        turns[place] = (not is_quotable, turn, place)
        taken[study_id] += 1
    return sorted(turns, key=turns.__getitem__)


def _why_not(
    candidate: Candidate,
    chosen: Sequence[Candidate],
    words: Sequence[frozenset[str]],
    policy: Policy,
    *,
    is_citable: bool,
) -> tuple[LeftOutReason, str] | None:
    """Of a study that the answer may quote more is taken: what it says of the matter may stand in several passages."""
    if len(chosen) >= policy.evidence_passages:
        return LeftOutReason.BUDGET, f"the {policy.evidence_passages} best passages were already chosen"
    cap = policy.passages_per_cited_study if is_citable else policy.passages_per_study
    study = candidate.passage.study.study_id
    of_study = [c for c in chosen if c.passage.study.study_id == study]
    here = location(candidate, policy)
    if any(location(c, policy) == here for c in of_study):
        return LeftOutReason.DUPLICATE_LOCATION, "a better passage stands at the same place of this study"
    if len(of_study) >= cap:
        return LeftOutReason.STUDY_CAP, f"this study already gave {cap} passages"
    if not of_study and len({c.passage.study.study_id for c in chosen}) >= policy.evidence_studies:
        return LeftOutReason.BUDGET, f"the {policy.evidence_studies} best studies were already chosen"
    if chosen and not is_citable and candidate.bears < max(policy.bears_from, policy.bears_share * chosen[0].bears):
        return (
            LeftOutReason.BELOW_THRESHOLD,
            f"the chance that it bears on the question is only {candidate.bears} of 100",
        )
    if _is_like_one(stem_set(candidate.passage.text), words, policy.near_duplicate_jaccard):
        return LeftOutReason.NEAR_DUPLICATE, "a chosen passage says the same in almost the same words"
    return None
