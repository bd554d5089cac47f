"""Replacement of the whole corpus by that of another folder, in one act: all of it, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from corpus_app import hooks, indexing, quality, search
from corpus_app.curation.acts import Act, CurationError, act, wake_indexing
from corpus_app.curation.exporting import current_vocabulary
from corpus_app.curation.importing import ImportReport, Progress, import_corpus
from corpus_app.curation.lexica import set_lexica
from corpus_app.curation.studies import archive, set_concepts
from corpus_app.embedding import EncoderUnavailable
from corpus_app.models import Collection, Concept, ConceptAlias, ConceptRelation, OutcomeCertainty, Study
from corpus_app.records import Status
from corpus_app.sources import CorpusDraft, Vocabulary, concepts_json

EMBEDDING_SECONDS = 300  # until a replacement is committed without the rest of its vectors, which a worker makes
TITLE_SHOWN = 80  # characters


class CannotReplace(CurationError):
    """Nothing was changed; `problems` are all the reasons."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__(f"Nothing was changed: {len(problems)} problems in the folder.")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Replacement:
    """Report what an import that replaces the corpus added and archived."""

    imported: ImportReport
    archived: tuple[str, ...]
    """Studies that the new folder does not have; answers keep their words."""
    concepts: int
    """Number of concepts deleted."""
    notes: tuple[str, ...]
    is_embedded: bool
    """False: some passages are found by their words alone until a worker has embedded them."""


def find_faults(corpus: CorpusDraft) -> list[str]:
    """Return the faults of texts for which the gate would keep a study a draft."""
    return [
        f"{study.origin} passages[{number}]: {fault.kind.replace('_', ' ')}: “{fault.words}”"
        for study in corpus.studies
        for number, passage in enumerate(study.passages, start=1)
        for fault in quality.check(passage.text)
        if fault.severity is quality.Severity.BLOCKS
    ]


def replace_corpus(
    corpus: CorpusDraft,
    *,
    name: str,
    by: User | None,
    by_name: str = "",
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> Replacement:
    """Replace studies, concepts, site file and word lists by those of a folder read by itself.

    All of it is one transaction with one corpus version: readers see the old corpus or the new one. A dry run takes
    everything back. Raises CannotReplace.
    """
    problems = (*map(str, corpus.problems), *find_faults(corpus))
    if not corpus.studies:
        problems += ("There is no sound source in the folder.",)
    if problems:
        raise CannotReplace(problems)
    with transaction.atomic():
        notes = [*_same_ids(corpus)]
        with act(by=by, by_name=by_name, wake=False) as current:
            set_lexica(corpus.lexica or {}, by=by, by_name=by_name)
            with search.without_version():
                archived, removed, imported = _swap(current, corpus, name, by, by_name, on_progress)
                notes += [note for step in hooks.replacement_steps if archived for note in step(archived)]
        if dry_run:
            transaction.set_rollback(True)
        is_embedded = dry_run or _embed()
        if not is_embedded:
            transaction.on_commit(wake_indexing)
    return Replacement(imported, archived, removed, tuple(notes), is_embedded)


def _swap(
    current: Act, corpus: CorpusDraft, name: str, by: User | None, by_name: str, on_progress: Progress | None
) -> tuple[tuple[str, ...], int, ImportReport]:
    """Archive what the folder does not have and bring in what it has; return ids, concepts that went, and the report.

    Raises CannotReplace.
    """
    before = current_vocabulary()
    left = Study.objects.exclude(study_id__in=[study.study_id for study in corpus.studies])
    going = left.exclude(status__in=[Status.WITHDRAWN, Status.ARCHIVED]).values_list("study_id", flat=True)
    archived = archive(going, by=by, by_name=by_name, reason=f"The corpus was replaced by {name}.")
    for study in left.filter(status=Status.WITHDRAWN, concepts__isnull=False).distinct():
        set_concepts(study.study_id, [], by=by, by_name=by_name)
    ConceptAlias.objects.exclude(concept__in=[draft.concept_id for draft in corpus.vocabulary.concepts]).delete()
    imported = import_corpus(corpus, by=by, by_name=by_name, publish=True, on_progress=on_progress)
    if imported.problems:
        raise CannotReplace(tuple(map(str, imported.problems)))
    removed = _drop_vocabulary(corpus.vocabulary)
    current.is_noticeable = current.is_noticeable or bool(removed)
    if archived or removed or imported.created or imported.updated or imported.published:
        current.record("replace_corpus", entry=name, archived=list(archived), was=json.loads(concepts_json(before)))
    return archived, removed, imported


def _drop_vocabulary(kept: Vocabulary) -> int:
    """Delete relations, certainties, concepts and collections that the new corpus has not; return the concepts."""
    relations = {(draft.source, draft.relation, draft.target) for draft in kept.relations}
    for relation in ConceptRelation.objects.all():
        if (relation.source_id, relation.relation, relation.target_id) not in relations:
            relation.delete()
    judged = set(kept.certainties)
    for row, draft in zip(OutcomeCertainty.objects.all(), current_vocabulary().certainties, strict=True):
        if draft not in judged:
            row.delete()
    going = Concept.objects.exclude(pk__in=[draft.concept_id for draft in kept.concepts]).filter(studies=None)
    count = going.count()
    going.delete()
    Collection.objects.exclude(pk__in=[draft.slug for draft in kept.collections]).filter(studies=None).delete()
    return count


def _same_ids(corpus: CorpusDraft) -> Iterator[str]:
    """Yield a note for each study whose id now names a source of another title."""
    titles = dict(Study.objects.exclude(status=Status.ARCHIVED).values_list("study_id", "title"))
    for draft in corpus.studies:
        former = titles.get(draft.study_id, draft.title)
        if former != draft.title:
            yield (
                f"{draft.study_id} was “{former[:TITLE_SHOWN]}” and is “{draft.title[:TITLE_SHOWN]}” now; "
                "answers that quote it keep the former words."
            )


def _embed() -> bool:
    """Embed the new passages before anybody sees them, within EMBEDDING_SECONDS; return whether all are."""
    with suppress(EncoderUnavailable):
        indexing.index_stale(seconds=EMBEDDING_SECONDS, only_published=True)
    return not indexing.has_work(only_published=True)
