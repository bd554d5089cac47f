"""Read a corpus folder, or a master CSV, into drafts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from corpus_app.facets import certainty_fault, facets_to_json, find_fault
from corpus_app.sources import master as master_csv
from corpus_app.sources.drafts import (
    CollectionDraft,
    ConceptDraft,
    CorpusDraft,
    Known,
    Problem,
    StudyDraft,
    Unreadable,
    Vocabulary,
    Weight,
)
from corpus_app.sources.files import link_fault
from corpus_app.sources.folder_pages import read_pages
from corpus_app.sources.layout import CONCEPTS, MASTER, SITE, STUDIES
from corpus_app.sources.lexicon import declared_site, read_lexica
from corpus_app.sources.studies import read_study
from corpus_app.sources.values import listed
from corpus_app.sources.vocabulary import read_vocabulary


def read(path: Path, *, known: Known | None = None) -> CorpusDraft:
    """Read the corpus in a folder or a master CSV. Raises Unreadable when there is neither."""
    known = known or Known()
    if path.is_dir():
        return _read_folder(path, known)
    if not path.exists():
        raise Unreadable(f"{path} does not exist.")
    if path.suffix.lower() != ".csv":
        raise Unreadable(
            f"{path} is neither a folder nor a CSV file. Name the folder that holds {STUDIES}/, or a {MASTER}."
        )
    master = master_csv.read_master(path)
    return _assemble(Vocabulary(), [*master.rows.values()], list(master.problems), known, broken=master.broken)


def _read_folder(folder: Path, known: Known) -> CorpusDraft:
    studies_folder, master_path = folder / STUDIES, folder / MASTER
    if not studies_folder.is_dir() and not master_path.is_file():
        raise Unreadable(
            f"{folder} holds neither a folder {STUDIES}/ nor a file {MASTER}. Put your pages, books and JSON "
            f"files into {folder / STUDIES}, and check it again."
        )
    links = {path: fault for path in (folder / CONCEPTS, master_path) if (fault := link_fault(path, folder))}
    if links:
        raise Unreadable(" ".join(f"{path} {fault}" for path, fault in links.items()))
    vocabulary, problems = read_vocabulary(folder / CONCEPTS)
    lexica, found = read_lexica(folder)
    problems += [problem for problem in found if problem.weight is Weight.BROKEN]
    notes = [problem for problem in found if problem.weight is not Weight.BROKEN]
    if site := declared_site(lexica):
        known = replace(known, designs=known.designs | frozenset(site.source_kinds), facets=site.facets)
    master = master_csv.read_master(master_path) if master_path.is_file() else master_csv.Master()
    problems += master.problems
    if not studies_folder.is_dir():
        drafts = [*master.rows.values()]
        corpus = _assemble(vocabulary, drafts, problems, known, broken=master.broken)
        return replace(corpus, lexica=lexica, notes=tuple(notes))
    drafts = []
    broken_ids: set[str] = set()
    paths = sorted(path for path in studies_folder.glob("*.json") if not path.name.startswith("."))
    for path in paths:
        if fault := link_fault(path, folder):
            problems.append(Problem(f"{STUDIES}/{path.name}", None, "", fault))
            broken_ids.add(path.stem)
            continue
        draft, found = read_study(path, f"{STUDIES}/{path.name}")
        problems += found
        if draft is None:
            broken_ids.add(path.stem)
        else:
            drafts.append(draft)
    problems += master_csv.compare(master, drafts, broken_ids)
    for item in read_pages(studies_folder, vocabulary, site.source_kinds if site else ()):
        if isinstance(item, StudyDraft):
            drafts.append(item)
        elif item.weight is Weight.BROKEN:
            problems.append(item)
            broken_ids.add(item.file)
        else:
            notes.append(item)
    known = replace(known, studies=known.studies | broken_ids)
    corpus = _assemble(vocabulary, drafts, problems, known, broken=len(broken_ids))
    return replace(corpus, lexica=lexica, notes=tuple(notes))


def _assemble(
    vocabulary: Vocabulary, drafts: list[StudyDraft], problems: list[Problem], known: Known, *, broken: int
) -> CorpusDraft:
    """Assemble drafts into a corpus without duplicate ids or DOIs, unknown collections or concepts."""
    vocabulary = _with_implied(vocabulary, drafts, known)
    sound: list[StudyDraft] = []
    taken: dict[tuple[str, str], StudyDraft] = {}
    collections = known.collections | {draft.slug for draft in vocabulary.collections}
    concepts = known.concepts | {draft.concept_id for draft in vocabulary.concepts}
    for draft in drafts:
        found = [*_clashes(draft, taken), *_unknown_names(draft, collections, concepts, known)]
        problems += found
        if not found:
            sound.append(draft)
            taken |= dict.fromkeys(draft.identities(), draft)
    for judged in vocabulary.certainties:
        if fault := certainty_fault(judged.facets, known.facets):
            place = f"certainties[{judged.intervention} on {judged.outcome}].facets"
            problems.append(Problem(CONCEPTS, None, place, f"{fault} Declare others in {SITE}."))
    study_ids = known.studies | {draft.study_id for draft in drafts}
    problems += _unknown_studies(vocabulary, study_ids)
    return CorpusDraft(vocabulary, tuple(sound), tuple(problems), broken + len(drafts) - len(sound))


def _with_implied(vocabulary: Vocabulary, drafts: Sequence[StudyDraft], known: Known) -> Vocabulary:
    """Accept the concept ids that studies name when neither a file nor the corpus defines any concept."""
    if vocabulary.is_given or known.collections or known.concepts:
        return vocabulary
    slugs = sorted({draft.collection for draft in drafts})
    ids = sorted({concept for draft in drafts for concept in draft.concepts})
    return replace(
        vocabulary,
        collections=tuple(CollectionDraft(slug, _words(slug).capitalize()) for slug in slugs),
        concepts=tuple(ConceptDraft(concept_id, _words(concept_id), "other") for concept_id in ids),
    )


def _words(slug: str) -> str:
    return slug.replace("-", " ").replace("_", " ")


def _clashes(draft: StudyDraft, taken: Mapping[tuple[str, str], StudyDraft]) -> Iterator[Problem]:
    for name, value in draft.identities():
        if other := taken.get((name, value)):
            place = other.origin if other.line is None else f"{other.origin}:{other.line}"
            yield draft.problem(name, f"{value} is taken by {other.study_id} in {place}; keep one of the two.")


def _unknown_names(
    draft: StudyDraft, collections: Collection[str], concepts: Collection[str], known: Known
) -> Iterator[Problem]:
    if draft.design not in known.designs:
        reason = (
            f"{draft.design!r} is no kind of source here; known: {listed(known.designs)}. Declare others in {SITE}."
        )
        yield draft.problem("design", reason)
    if fault := find_fault(facets_to_json(draft.facets), known.facets):
        yield draft.problem("facets", f"{fault} Declare others in {SITE}.")
    if draft.collection not in collections:
        yield draft.problem(
            "collection", f"{draft.collection!r} is not a sound collection of {CONCEPTS}; known: {listed(collections)}."
        )
    for concept in draft.concepts:
        if concept not in concepts:
            yield draft.problem(
                "concepts", f"{concept!r} is not a sound concept of {CONCEPTS}; add or correct it there."
            )


def _unknown_studies(vocabulary: Vocabulary, study_ids: Collection[str]) -> Iterator[Problem]:
    for relation in vocabulary.relations:
        for study_id in relation.studies:
            if study_id not in study_ids:
                name = f"relations {relation.source} {relation.relation} {relation.target}"
                yield Problem(
                    CONCEPTS, None, name, f"source {study_id} is not there, so it does not support this relation."
                )
