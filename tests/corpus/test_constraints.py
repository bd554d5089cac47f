"""Every constraint of the corpus has a test that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from corpus_app import models
from corpus_app.models import (
    ConceptAlias,
    ConceptCollection,
    ConceptRelation,
    ConceptRelationStudy,
    CorpusEvent,
    CorpusVersion,
    ImportItem,
    ImportJob,
    Passage,
    PassageSentence,
    PassageTerm,
    PassageVector,
    QualityWaiver,
    Study,
    StudyComment,
    StudyConcept,
)
from corpus_app.roles import DJANGO_ROLES, ROLES
from tests.builders import make_collection, make_concept, make_finding, make_passage, make_study

pytestmark = pytest.mark.django_db


def change_study(**values: Any) -> Callable[[], object]:
    return lambda: Study.objects.filter(pk=make_study().pk).update(**values)


def change_passage(**values: Any) -> Callable[[], object]:
    return lambda: Passage.objects.filter(pk=make_passage().pk).update(**values)


def twin_study(**values: Any) -> Callable[[], object]:
    def make() -> None:
        make_study(**values)
        make_study(**{key: value.upper() if isinstance(value, str) else value for key, value in values.items()})

    return make


def twin_position() -> None:
    passage = make_passage()
    make_passage(passage.study, position=passage.position)
    check_deferred()


def twin_finding() -> None:
    study = make_study()
    make_finding(study, position=0)
    make_finding(study, position=0)
    check_deferred()


def check_deferred() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def unknown_direction() -> None:
    make_finding(make_study(), direction="up")


def twin_sentence() -> None:
    sentence = PassageSentence.objects.filter(passage=make_passage()).first()
    assert sentence
    PassageSentence.objects.create(passage=sentence.passage, position=sentence.position, start=0, end=1)


def sentence(**values: Any) -> Callable[[], object]:
    return lambda: PassageSentence.objects.create(
        **({"passage": make_passage(), "position": 99, "start": 0, "end": 1} | values)
    )


def twin_vector() -> None:
    passage = make_passage()
    for _ in range(2):
        PassageVector.objects.create(
            passage=passage, collection=passage.study.collection, encoder="e", content_hash="h", vector=[1.0]
        )


def twin_term() -> None:
    term = PassageTerm.objects.filter(passage=make_passage()).first()
    assert term
    term.pk = None
    term.save(force_insert=True)


def short_text(**values: Any) -> models.StudyText:
    return models.StudyText.objects.create(
        **({"study": make_study(), "kind": "question", "position": 99, "text": "How many sets?"} | values)
    )


def twin_short_text() -> None:
    text = short_text()
    short_text(study=text.study)
    check_deferred()


def twin_text_vector() -> None:
    text = short_text()
    for _ in range(2):
        models.StudyTextVector.objects.create(
            text=text, study=text.study, collection=text.study.collection, kind=text.kind, encoder="e", vector=[1.0]
        )


def twin_text_term() -> None:
    text = short_text()
    for _ in range(2):
        models.StudyTextTerm.objects.create(
            text=text,
            study=text.study,
            collection=text.study.collection,
            kind=text.kind,
            lexeme="set",
            frequency=1,
            length=1,
        )


def passage_of_a_finding() -> None:
    study = make_study()
    Passage.objects.filter(study=study).update(finding=make_finding(study))


def silent_comment() -> None:
    StudyComment.objects.create(study=make_study(), author_name="curator", at=timezone.now(), text="")


def twin_alias() -> None:
    make_concept("one", aliases=("get bigger",))
    make_concept("two", aliases=("Get Bigger",))


def twin_concept_collection() -> None:
    concept = make_concept()
    ConceptCollection.objects.create(concept=concept, collection=make_collection())


def twin_relation() -> None:
    one, two = make_concept("one"), make_concept("two")
    for _ in range(2):
        ConceptRelation.objects.create(source=one, relation="affects", target=two)


def relation_to_itself() -> None:
    one = make_concept("one")
    ConceptRelation.objects.create(source=one, relation="affects", target=one)


def twin_relation_study() -> None:
    relation = ConceptRelation.objects.create(
        source=make_concept("one"), relation="affects", target=make_concept("two")
    )
    study = make_study()
    for _ in range(2):
        ConceptRelationStudy.objects.create(relation=relation, study=study)


def twin_study_concept() -> None:
    concept = make_concept()
    StudyConcept.objects.create(study=make_study(concepts=(concept,)), concept=concept)
    study = Study.objects.get()
    StudyConcept.objects.create(study=study, concept=concept)


def waiver(*, reason: str = "x", times: int = 1) -> Callable[[], object]:
    def make() -> None:
        passage = make_passage()
        for _ in range(times):
            QualityWaiver.objects.create(
                passage=passage,
                kind="operator",
                words="B",
                words_hash="h",
                reason=reason,
                by_name="n",
                at=timezone.now(),
            )

    return make


def twin_import_item() -> None:
    job = ImportJob.objects.create(asked_by_name="n", asked_at=timezone.now(), file_name="f", content=b"")
    for _ in range(2):
        ImportItem.objects.create(job=job, position=0, kind="study", study_key="S1", draft={}, effect="new")


BREACHES: dict[str, Callable[[], object]] = {
    "study_doi_unique": twin_study(doi="10.1000/same"),
    "study_pmid_unique": twin_study(pmid="123", doi=None),
    "study_status_known": change_study(status="secret"),
    "study_notice_known": change_study(notice="odd"),
    "study_design_known": change_study(design="rct"),
    "study_training_known": change_study(training_status="fit"),
    "study_age_group_known": change_study(age_group="old"),
    "study_sex_known": change_study(sex="men"),
    "study_duration_in_order": change_study(duration_weeks_min=9, duration_weeks_max=8),
    "study_absent_is_null": change_study(doi=""),
    "study_version_positive": change_study(version=0),
    "passage_position_unique": twin_position,
    "passage_section_known": change_passage(section="middle"),
    "passage_kind_known": change_passage(kind="rumour"),
    "passage_text_present": change_passage(text=""),
    "passage_version_positive": change_passage(version=0),
    "sentence_position_unique": twin_sentence,
    "sentence_not_empty": sentence(start=3, end=3),
    "sentence_vector_has_encoder": sentence(vector=[1.0]),
    "sentence_kept_vector_has_encoder": sentence(kept_vector=[1.0]),
    "vector_once_per_encoder": twin_vector,
    "term_once_per_passage": twin_term,
    "concept_wanted_known": lambda: make_concept(wanted="most"),
    "comment_says_something": silent_comment,
    "alias_names_one_concept": twin_alias,
    "concept_collection_once": twin_concept_collection,
    "relation_once": twin_relation,
    "relation_not_to_itself": relation_to_itself,
    "relation_study_once": twin_relation_study,
    "study_concept_once": twin_study_concept,
    "finding_position_unique": twin_finding,
    "finding_direction_known": unknown_direction,
    "finding_lean_known": lambda: make_finding(make_study(), lean="maybe"),
    "passage_of_finding_is_plain": passage_of_a_finding,
    "study_text_kind_known": lambda: short_text(kind="rumour"),
    "study_text_position_unique": twin_short_text,
    "text_vector_once_per_encoder": twin_text_vector,
    "text_term_once_per_text": twin_text_term,
    "waiver_once": waiver(times=2),
    "waiver_has_reason": waiver(reason=""),
    "import_item_once": twin_import_item,
}


@pytest.mark.parametrize("name", BREACHES)
def test_breach_is_refused_by_the_database(name: str) -> None:
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        BREACHES[name]()


def test_every_constraint_is_broken_once() -> None:
    tables = [
        model for model in vars(models).values() if isinstance(model, type) and issubclass(model, models.models.Model)
    ]

    names = {constraint.name for table in tables for constraint in table._meta.constraints}

    assert names == set(BREACHES)


@pytest.mark.parametrize("column", ["title", "doi", "pmid", "url", "journal"])
def test_absent_is_null_and_never_empty(column: str) -> None:
    with pytest.raises(IntegrityError, match="study_absent_is_null"), transaction.atomic():
        change_study(**{column: ""})()


def test_studies_without_a_doi_stand_beside_each_other() -> None:
    make_study(doi=None)
    make_study(doi=None)

    assert Study.objects.filter(doi=None).count() == 2


def test_passages_change_places_within_a_transaction() -> None:
    study = make_study(texts=("One.", "Two."))

    with transaction.atomic():
        Passage.objects.filter(study=study, text="One.").update(position=1)
        Passage.objects.filter(study=study, text="Two.").update(position=0)
        check_deferred()

    assert list(study.passages.values_list("text", flat=True)) == ["Two.", "One."]


def test_what_studies_rest_on_is_not_deleted() -> None:
    concept = make_concept()
    study = make_study(concepts=(concept,))

    with pytest.raises(ProtectedError):
        concept.delete()
    with pytest.raises(ProtectedError):
        study.collection.delete()


def test_corpus_version_with_events_is_not_deleted() -> None:
    version = CorpusVersion.objects.create(number=1, at=timezone.now(), summary="x")
    CorpusEvent.objects.create(at=timezone.now(), actor_name="x", action="x", corpus_version=version)

    with pytest.raises(ProtectedError):
        version.delete()


def test_alias_frees_its_words_when_it_goes() -> None:
    make_concept("one", aliases=("get bigger",))
    ConceptAlias.objects.all().delete()

    make_concept("two", aliases=("Get Bigger",))


def test_lexemes_weigh_the_heading_and_fold_what_readers_do_not_type() -> None:
    passage = make_passage(text="Caf\u00e9 protein in\u00adtake, co\ufb03n and zero\u200bwidth.", heading="Hypertrophy")

    passage.refresh_from_db()

    lexemes = str(passage.lexemes)
    assert "'hypertrophi':1A" in lexemes
    assert "'cafe'" in lexemes
    assert "'intak'" in lexemes
    assert "'coffin'" in lexemes
    assert "'zerowidth'" in lexemes


def test_vectors_lie_in_the_row() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attstorage FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'vector'",
            [PassageVector._meta.db_table],
        )
        assert cursor.fetchone() == ("p",)


# --- The groups of the desk ---------------------------------------------------------------------------------------------


def permissions(role: str) -> set[str]:
    return set(Group.objects.get(name=role).permissions.values_list("codename", flat=True))


def named_by_the_apps(role: str) -> set[str]:
    """What the apps' configs say that a role may do: its own share and that of the roles before it."""
    shares = [getattr(config, "role_permissions", {}) for config in apps.get_app_configs()] + [*DJANGO_ROLES.values()]
    reached = ROLES[: ROLES.index(role) + 1]
    return {name for share in shares for before in reached for name in share.get(before, ())}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_its_work_and_nothing_else(role: str) -> None:
    assert permissions(role) == named_by_the_apps(role)


def test_the_roles_build_on_each_other() -> None:
    readers, curators, reviewers, administrators = (permissions(role) for role in ROLES)

    assert readers < curators < reviewers < administrators
    assert all(name.startswith("view_") for name in readers)
    assert {"publish_study", "set_notice_study", "change_passage", "delete_finding"} <= curators - readers
    assert reviewers - curators == {"review_study"}
    assert administrators - reviewers == {
        "view_user",
        "add_user",
        "change_user",
        "view_group",
        "manage_vectors",
        "view_apikey",
        "add_apikey",
        "change_apikey",
    }
    assert not any(word in name for name in administrators for word in ("session", "logentry", "delete_user"))


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_made_whole_again_by_the_next_migrate(role: str) -> None:
    group = Group.objects.get(name=role)
    group.permissions.clear()
    call_command("migrate", verbosity=0)
    assert permissions(role) == named_by_the_apps(role)

    group.delete()
    call_command("migrate", verbosity=0)
    assert permissions(role) == named_by_the_apps(role)
    assert Group.objects.filter(name=role).count() == 1


def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
