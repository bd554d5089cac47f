"""Import of drafts: each study in one transaction, unchanged ones skipped, then one publication.

An import never undoes a curator's decision: a withdrawn study stays withdrawn, and a notice stays set.
Edits made at the desk are replaced only if the file has changed too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import DataError, IntegrityError, transaction
from django.db.models.functions import Lower

from corpus_app import search
from corpus_app.curation import gate, rows
from corpus_app.curation.acts import Act, BrokenText, act, wake_indexing
from corpus_app.curation.creating import column_values, create_studies, default_status_reason
from corpus_app.curation.entries import save_certainty, save_concept
from corpus_app.curation.exporting import current_vocabulary
from corpus_app.curation.lexica import import_lexica
from corpus_app.curation.studies import find_obstacle, find_quality_obstacle, merge_labels, publish
from corpus_app.facets import facets_to_json, find_fault
from corpus_app.models import (
    Collection,
    Concept,
    ConceptAlias,
    ConceptCollection,
    ConceptRelation,
    ConceptRelationStudy,
    CorpusEvent,
    Passage,
    Study,
)
from corpus_app.records import Notice, Status
from corpus_app.sources import (
    CONCEPTS,
    CollectionDraft,
    ConceptDraft,
    CorpusDraft,
    Known,
    Problem,
    RelationDraft,
    StudyDraft,
    Vocabulary,
    concepts_json,
    digest,
    listed,
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    created: int
    updated: int
    unchanged: int
    broken: int
    published: int
    passages: int
    """Passages of the studies that were created or updated."""
    concepts: int
    """Concepts, relations, collections and certainties that were added or changed."""
    publishable: int
    """Unpublished studies whose file says published: another import with `publish` would publish them."""
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    """Outcomes that a curator may not expect."""


def known_ids() -> Known:
    """Return the ids of stored collections, concepts and studies, which a file may refer to."""
    return Known(
        collections=frozenset(Collection.objects.values_list("slug", flat=True)),
        concepts=frozenset(Concept.objects.values_list("concept_id", flat=True)),
        studies=frozenset(Study.objects.values_list("study_id", flat=True)),
        designs=frozenset(search.site().designs),
        facets=search.site().facets,
    )


def import_corpus(
    corpus: CorpusDraft,
    *,
    by: User | None = None,
    by_name: str = "",
    publish: bool = False,
    dry_run: bool = False,
    replace_settings: bool = False,
    on_progress: Progress | None = None,
) -> ImportReport:
    """Import the valid drafts; a dry run rolls everything back.

    `publish` publishes the studies whose files say published. `replace_settings` replaces the site file and the word
    lists even where they were revised at the desk.
    """
    run = _Import(by=by, by_name=by_name or "import_corpus", problems=list(corpus.problems), broken=corpus.broken)
    run.replace_settings = replace_settings
    run.notes += map(str, corpus.notes)
    if dry_run:
        with transaction.atomic():
            run.import_all(corpus, publish=publish, on_progress=on_progress)
            transaction.set_rollback(True)
        return run.report()
    run.import_all(corpus, publish=publish, on_progress=on_progress)
    if run.created or run.updated:
        transaction.on_commit(wake_indexing)
    return run.report()


def import_study(draft: StudyDraft, *, by: User | None, by_name: str = "", digest_of: StudyDraft | None) -> bool:
    """Import one study within the caller's act; return whether anything changed.

    The digest of `digest_of` is stored, so that the next import of the same draft is skipped. None keeps the one
    of the study's own file.
    """
    run = _Import(by=by, by_name=by_name, problems=[], broken=0)
    with act(by=by, by_name=by_name) as current:
        stored = Study.objects.filter(study_id=draft.study_id).first()
        if stored is None:
            create_studies(current, [(draft, digest(digest_of) if digest_of else "")])
            return True
        changed = run._update(current, draft)
        kept = digest(digest_of) if digest_of else stored.import_hash
        Study.objects.filter(study_id=draft.study_id).update(import_hash=kept)
    return changed


@dataclass(slots=True)
class _Import:
    by: User | None
    by_name: str
    problems: list[Problem]
    broken: int
    replace_settings: bool = False
    created: set[str] = field(default_factory=set)
    updated: set[str] = field(default_factory=set)
    unchanged: int = 0
    published: int = 0
    publishable: int = 0
    passages: int = 0
    concepts: int = 0
    notes: list[str] = field(default_factory=list)

    def import_all(self, corpus: CorpusDraft, *, publish: bool, on_progress: Progress | None) -> None:
        vocabulary_is_new = self._import_vocabulary(corpus.vocabulary)
        if corpus.lexica is not None:
            kept = import_lexica(corpus.lexica, replace_revised=self.replace_settings, by=self.by, by_name=self.by_name)
            self.notes += [f"{name}.toml was changed at the desk since it was imported, and is kept." for name in kept]
        for done, draft in enumerate(corpus.studies, start=1):
            self._import_study(draft)
            if on_progress:
                on_progress(done, len(corpus.studies))
        self._import_relations(corpus.vocabulary, vocabulary_is_new)
        self._publish(corpus, publish)

    def report(self) -> ImportReport:
        return ImportReport(
            created=len(self.created),
            updated=len(self.updated),
            unchanged=self.unchanged,
            broken=self.broken,
            published=self.published,
            passages=self.passages,
            concepts=self.concepts,
            publishable=self.publishable,
            problems=tuple(self.problems),
            notes=tuple(self.notes),
        )

    def _act(self) -> Any:
        return act(by=self.by, by_name=self.by_name, wake=False)

    # --- Studies

    def _import_study(self, draft: StudyDraft) -> None:
        if problem := find_clash(draft):
            self.problems.append(problem)
            self.broken += 1
            return
        stored = Study.objects.filter(study_id=draft.study_id).only("import_hash").first()
        if stored and stored.import_hash == digest(draft):
            self.unchanged += 1
            return
        try:
            with self._act() as current, current.savepoint():
                if stored:
                    changed = self._update(current, draft)
                else:
                    create_studies(current, [(draft, digest(draft))])
                    changed = True
        except BrokenText as error:
            self.problems.append(draft.problem("passages", str(error)))
            self.broken += 1
            return
        except (IntegrityError, DataError) as error:
            self.problems.append(draft.problem("", f"could not be saved: {str(error).splitlines()[0]}"))
            self.broken += 1
            return
        self.notes += [
            f"{draft.study_id}: no passage has the effect of “{finding}”, so this finding is unconfirmed."
            for finding in current.doubted
        ]
        if not changed:
            self.unchanged += 1
            return
        (self.updated if stored else self.created).add(draft.study_id)
        self.passages += len(draft.passages)

    def _update(self, current: Act, draft: StudyDraft) -> bool:
        study = current.study(draft.study_id)
        was_edited = _edited_at_desk(draft.study_id)
        values = column_values(draft) | {"labels": merge_labels(study.labels, draft.labels)}
        changes = rows.change(study, values | self._state(study, draft))
        if {"status", "notice"} & changes.keys():
            study.state_changed_at = current.at
        study.import_hash = digest(draft)
        rows.save_study(study, changes)
        if draft.columns is None or "concepts" in draft.columns:
            changes |= rows.replace_concepts(study, draft.concepts)
        done: list[dict[str, Any]] = []
        if draft.columns is None:
            changes |= rows.replace_findings(study, draft.findings)
            current.remember_texts(study)
            done = rows.replace_passages(study, draft.passages, at=current.at)
        if not changes and not done:
            return False
        current.touch(study)
        current.record("import_changes", study=draft.study_id, file=draft.origin, changes=changes, passages=done)
        if was_edited:
            self.notes.append(
                f"{draft.study_id}: the file has changed and replaced what was edited at the desk; "
                "its history keeps both."
            )
        return True

    def _state(self, study: Study, draft: StudyDraft) -> dict[str, str]:
        """Return the status and notice after an import; they never weaken what a curator has set."""
        values: dict[str, str] = {}
        if draft.status is Status.WITHDRAWN:
            values = {"status": Status.WITHDRAWN.value, "status_reason": draft.status_reason}
        elif study.status in {Status.DRAFT, Status.IN_REVIEW, Status.ARCHIVED}:
            status = Status(study.status) if draft.status is Status.PUBLISHED else draft.status
            values = {"status": status.value, "status_reason": draft.status_reason or default_status_reason(draft)}
        elif study.status == Status.PUBLISHED and draft.status is not Status.PUBLISHED:
            self.notes.append(
                f"{draft.study_id}: its file says {draft.status}, but it stays published. Withdraw it at the desk."
            )
        if draft.notice is not Notice.NONE:
            values |= {"notice": draft.notice.value, "notice_reason": draft.notice_reason}
        return values

    # --- Concepts

    def _import_vocabulary(self, vocabulary: Vocabulary) -> bool:
        """Import collections and concepts; return whether the file differs from the last one imported."""
        mark = hashlib.sha256(concepts_json(vocabulary)).hexdigest()
        if mark == _last_vocabulary():
            return False
        if not (vocabulary.collections or vocabulary.concepts or vocabulary.relations):
            return False
        with self._act() as current:
            changed = sum(_save_collection(current, draft, index) for index, draft in enumerate(vocabulary.collections))
            added, revised = self._save_concepts(vocabulary)
            if added:
                current.is_noticeable = True
            current.record("import_concepts", digest=mark, added=added, revised=revised)
            present = set(current_vocabulary().certainties)
            judged = [draft for draft in vocabulary.certainties if draft not in present]
            for draft in judged:
                save_certainty(draft, by=self.by, by_name=self.by_name)
        self.concepts += changed + len(added) + len(revised) + len(judged)
        return True

    def _save_concepts(self, vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
        """Save concepts; return the ids of the added and of the changed ones."""
        foreign = self._free_aliases(vocabulary)
        present = {draft.concept_id: draft for draft in current_vocabulary().concepts}
        drafts = [_without_aliases(draft, foreign) for draft in vocabulary.concepts]
        new = {index: draft for index, draft in enumerate(drafts) if draft.concept_id not in present}
        _create_concepts(new)
        changed = [draft for draft in drafts if draft.concept_id in present and draft != present[draft.concept_id]]
        for draft in changed:
            save_concept(draft, by=self.by, by_name=self.by_name)
        return [draft.concept_id for draft in new.values()], [draft.concept_id for draft in changed]

    def _free_aliases(self, vocabulary: Vocabulary) -> set[str]:
        """Delete aliases that move to another concept of the file.

        Aliases of concepts that are not in the file stay; return these, lower case.
        """
        wanted = {alias.lower(): draft.concept_id for draft in vocabulary.concepts for alias in draft.aliases}
        ids = {draft.concept_id for draft in vocabulary.concepts}
        foreign: set[str] = set()
        for alias in ConceptAlias.objects.all():
            owner = wanted.get(alias.name.lower())
            if owner is None or owner == alias.concept_id:
                continue
            if alias.concept_id in ids:
                alias.delete()
                continue
            foreign.add(alias.name.lower())
            reason = f"{alias.name} is an alias of {alias.concept_id} in the corpus already, and stays there."
            self.problems.append(Problem(CONCEPTS, None, f"concepts {owner} aliases", reason))
        return foreign

    def _import_relations(self, vocabulary: Vocabulary, is_new: bool) -> None:
        """Import all relations of a new file; for a known file only add links to studies created since."""
        if not vocabulary.relations or not (is_new or self.created):
            return
        with self._act() as current:
            if is_new:
                _create_relations(vocabulary.relations)
            changed = _link_relations(vocabulary.relations, only_add=not is_new)
            if changed:
                current.is_noticeable = True
                current.record("import_relations", changed=changed)
        self.concepts += changed

    # --- Publication

    def _publish(self, corpus: CorpusDraft, wanted: bool) -> None:
        drafts = {draft.study_id: draft for draft in corpus.studies if draft.status is Status.PUBLISHED}
        found = Study.objects.filter(study_id__in=drafts).exclude(status=Status.PUBLISHED).prefetch_related("passages")
        ready = []
        texts = gate.filter_blocked(Passage.objects.filter(study__in=found)) if wanted else Passage.objects.none()
        broken = {passage.study_id for passage in texts.only("study")}
        for study in found:
            if study.status == Status.WITHDRAWN:
                if wanted:
                    self.notes.append(f"{study.study_id}: was withdrawn at the desk and stays so. Publish it there.")
            elif not study.passages.all():
                if wanted:
                    reason = f"{study.study_id} has no passages yet, so it stays a draft. Import its study file."
                    self.problems.append(drafts[study.study_id].problem("status", reason))
            elif obstacle := find_obstacle(study):
                if wanted:
                    reason = f"{study.study_id} stays a draft: {obstacle}"
                    self.problems.append(drafts[study.study_id].problem("title", reason))
            elif study.pk in broken:
                reason = f"{study.study_id} stays a draft: {find_quality_obstacle(study)}"
                self.problems.append(drafts[study.study_id].problem("passages", reason))
            else:
                ready.append(study.study_id)
        if not wanted:
            self.publishable = len(ready)
            return
        with self._act():
            self.published = len(publish(ready, by=self.by, by_name=self.by_name))


def find_clash(draft: StudyDraft) -> Problem | None:
    """Return a problem where another study has the draft's DOI or PMID, or its kind of source is not known here."""
    if not search.site().is_design(draft.design):
        known = listed(search.site().designs)
        return draft.problem("design", f"{draft.design!r} is no kind of source here; known: {known}.")
    if fault := find_fault(facets_to_json(draft.facets), search.site().facets):
        return draft.problem("facets", fault)
    others = Study.objects.exclude(study_id=draft.study_id).annotate(low=Lower("doi"))
    if draft.doi and (other := others.filter(low=draft.doi).first()):
        return draft.problem(
            "doi", f"{draft.doi} is the DOI of {other.study_id} in the corpus; correct one of the two."
        )
    if draft.pmid and (other := others.filter(pmid=draft.pmid).first()):
        return draft.problem(
            "pmid", f"{draft.pmid} is the PMID of {other.study_id} in the corpus; correct one of the two."
        )
    return None


def _edited_at_desk(study_id: str) -> bool:
    events = CorpusEvent.objects.filter(study_key=study_id)
    last = events.filter(action__startswith="import_").first()
    edits = events.exclude(action__in=["publish", "withdraw", "archive", "set_notice"])
    return edits.filter(pk__gt=last.pk if last else 0).exists()


def _last_vocabulary() -> str | None:
    last = CorpusEvent.objects.filter(action="import_concepts").first()
    return last.detail.get("digest") if last else None


def _create_concepts(new: Mapping[int, ConceptDraft]) -> None:
    Concept.objects.bulk_create(
        Concept(
            concept_id=draft.concept_id,
            name=draft.name,
            kind=draft.kind,
            definition=draft.definition,
            wanted=str(draft.wanted),
            position=place,
        )
        for place, draft in new.items()
    )
    ConceptAlias.objects.bulk_create(
        ConceptAlias(concept_id=draft.concept_id, name=name, position=place)
        for draft in new.values()
        for place, name in enumerate(draft.aliases)
    )
    ConceptCollection.objects.bulk_create(
        ConceptCollection(concept_id=draft.concept_id, collection_id=slug, position=place)
        for draft in new.values()
        for place, slug in enumerate(draft.collections)
    )


def _create_relations(drafts: Sequence[RelationDraft]) -> None:
    """Create the missing relations whose two concepts exist."""
    concepts = set(Concept.objects.values_list("pk", flat=True))
    present = set(ConceptRelation.objects.values_list("source", "relation", "target"))
    ConceptRelation.objects.bulk_create(
        ConceptRelation(source_id=draft.source, relation=draft.relation, target_id=draft.target, position=place)
        for place, draft in enumerate(drafts)
        if {draft.source, draft.target} <= concepts and (draft.source, draft.relation, draft.target) not in present
    )


def _link_relations(drafts: Sequence[RelationDraft], *, only_add: bool) -> int:
    """Link relations to their studies, in order; return how many relations changed."""
    studies = dict(Study.objects.values_list("study_id", "pk"))
    rows = {(row.source_id, row.relation, row.target_id): row.pk for row in ConceptRelation.objects.all()}
    links: dict[int, dict[int, int]] = {}
    for relation, study, place in ConceptRelationStudy.objects.values_list("relation_id", "study_id", "position"):
        links.setdefault(relation, {})[study] = place
    changed: dict[int, dict[int, int]] = {}
    for draft in drafts:
        key = rows.get((draft.source, draft.relation, draft.target))
        if key is None:
            continue
        wanted = {studies[name]: place for place, name in enumerate(draft.studies) if name in studies}
        if only_add:
            wanted |= links.get(key, {})
        if wanted != links.get(key, {}):
            changed[key] = wanted
    ConceptRelationStudy.objects.filter(relation__in=changed).delete()
    ConceptRelationStudy.objects.bulk_create(
        ConceptRelationStudy(relation_id=key, study_id=study, position=place)
        for key, wanted in changed.items()
        for study, place in wanted.items()
    )
    return len(changed)


def _save_collection(current: Act, draft: CollectionDraft, position: int) -> bool:
    values = {"name": draft.name, "description": draft.description, "keywords": list(draft.keywords)}
    row = Collection.objects.filter(slug=draft.slug).first()
    is_new = row is None
    row = row or Collection(slug=draft.slug, position=position)
    changes = rows.change(row, values)
    if not changes and not is_new:
        return False
    row.save()
    current.is_noticeable = True
    current.record("add_collection" if is_new else "revise_collection", entry=draft.slug, changes=changes)
    return True


def _without_aliases(draft: ConceptDraft, aliases: set[str]) -> ConceptDraft:
    return replace(draft, aliases=tuple(name for name in draft.aliases if name.lower() not in aliases))
