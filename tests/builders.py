"""Rows for tests, as curation would leave them: searchable where published, waiting to be embedded; commands and work."""

import io
import itertools
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db import transaction

from corpus_app import indexing, models, passages
from corpus_app.curation import bulk, jobs
from corpus_app.models import Collection, Concept, ConceptCollection, Finding, Passage, Study, StudyConcept
from corpus_app.search import versions
from qa_app.models import StoredPolicy

_numbers = itertools.count(1)

TEXT = "Ten weekly sets of leg press increased quadriceps thickness in trained men. Five sets increased it less."


def run_command(*arguments: Any, **options: Any) -> str:
    """Run a management command; return what it printed."""
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO(), no_color=True, **options)
    return out.getvalue()


def work() -> None:
    """Do what the worker does with imports and bulk edits when it is woken."""
    for queue in (jobs, bulk):
        while job := queue.find_work():
            queue.run_job(job)


def declare_site(content: str | None = None) -> None:
    """Store a site file: that of the starter corpus, or this text."""
    text = content if content is not None else (Path(__file__).parents[1] / "corpus" / "site.toml").read_text("utf-8")
    models.CorpusLexicon.objects.update_or_create(name="site", defaults={"content": text})
    versions.cache.clear()


def make_collection(slug: str = "training", **changes: Any) -> Collection:
    """The collection with this slug: made on first use."""
    defaults = {"name": slug.replace("-", " ").capitalize(), "keywords": []}
    collection, _ = Collection.objects.update_or_create(slug=slug, defaults=changes, create_defaults=defaults | changes)
    return collection


def make_concept(concept_id: str = "hypertrophy", *, aliases: tuple[str, ...] = (), **changes: Any) -> Concept:
    fields = {"name": concept_id.replace("-", " "), "kind": "outcome", "definition": ""} | changes
    concept = Concept.objects.create(concept_id=concept_id, **fields)
    ConceptCollection.objects.create(concept=concept, collection=make_collection())
    for position, name in enumerate(aliases):
        concept.aliases.create(name=name, position=position)
    return concept


@transaction.atomic
def make_study(*, texts: tuple[str, ...] = (TEXT,), concepts: tuple[Concept, ...] = (), **changes: Any) -> Study:
    """A published study with one passage of results for each of `texts`."""
    number = next(_numbers)
    doi = f"10.1000/test.{number}"
    fields = {
        "study_id": f"T{number:03}", "title": f"Weekly sets and muscle growth, trial {number}", "year": 2020, "doi": doi,
        "authors": ["Example AB", "Sample CD"], "journal": "Journal of Examples", "url": f"https://doi.org/{doi}",
        "design": "randomized_controlled_trial", "status": "published",
    } | changes  # fmt: skip
    study = Study.objects.create(**({} if "collection" in fields else {"collection": make_collection()}) | fields)
    for position, concept in enumerate(concepts):
        StudyConcept.objects.create(study=study, concept=concept, position=position)
    for position, text in enumerate(texts):
        _create_passage(study, position=position, text=text)
    indexing.sync_studies([study.pk])
    return study


@transaction.atomic
def make_passage(study: Study | None = None, **changes: Any) -> Passage:
    """A passage at the end of its study: of a new published one where none is given."""
    study = study or make_study(texts=())
    passage = _create_passage(study, **({"position": study.passages.count(), "text": TEXT} | changes))
    indexing.sync_studies([study.pk])
    return passage


def make_finding(study: Study, **changes: Any) -> Finding:
    fields = {
        "position": study.findings.count(), "intervention": "ten weekly sets", "comparator": "five weekly sets",
        "outcome": "quadriceps thickness", "direction": "favours_intervention",
        "statement": "Ten weekly sets increased quadriceps thickness more than five.",
    } | changes  # fmt: skip
    finding = Finding.objects.create(study=study, **fields)
    indexing.sync_studies([study.pk])
    return finding


def make_curator(username: str = "curator", *, role: str = "Curators", **changes: Any) -> User:
    user = User.objects.create_user(username, password=None, is_staff=True, **changes)
    user.groups.add(Group.objects.get(name=role))
    return user


def make_superuser(username: str = "owner", **changes: Any) -> User:
    return User.objects.create_superuser(username, password=None, **changes)


def _create_passage(study: Study, **changes: Any) -> Passage:
    fields: dict[str, Any] = {"section": "results", "heading": study.title} | changes
    fields["content_hash"] = passages.content_hash(heading=fields["heading"], text=fields["text"])
    return Passage.objects.create(study=study, **fields)


def make_policy(label: str = "test-0") -> StoredPolicy:
    """The policy that made-up answers name."""
    return StoredPolicy.objects.get_or_create(label=label, defaults={"values": {}})[0]
