"""Every constraint of the corpus has a test that breaks it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.utils import timezone

from corpus_app import models
from corpus_app.models import ConceptRelation, OutcomeCertainty, Passage, PassageVector
from corpus_app.roles import DJANGO_ROLES, ROLES
from tests.builders import make_concept, make_curator, make_finding, make_passage, make_study

pytestmark = pytest.mark.django_db
EFFECT = {"effect_measure": "correlation", "effect_value": -0.3, "effect_lower": -0.5, "effect_upper": -0.1}


def check_deferred() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def twins(model: type[Model], **values: Any) -> None:
    for _ in range(2):
        model._base_manager.create(**values)
    check_deferred()


def breaches() -> dict[str, Callable[[], object]]:
    """What breaks each constraint, by its name."""
    one, two = make_concept("one", aliases=("get bigger",)), make_concept("two")
    passage = make_passage()
    study, sentence = passage.study, passage.sentences.first()
    finding = make_finding(study)
    text = models.StudyText.objects.create(study=study, kind="question", position=99, text="How many sets?")
    relation = ConceptRelation.objects.create(source=one, relation="affects", target=two)
    job = models.ImportJob.objects.create(asked_by_name="n", asked_at=timezone.now(), file_name="f", content=b"")
    now, home = timezone.now(), study.collection
    edit = models.BulkEdit.objects.create(asked_by_name="n", asked_at=now)
    owner = make_curator("owner")
    waiver = {"passage": passage, "kind": "operator", "words": "B", "words_hash": "h", "by_name": "n", "at": now}
    judged = {"intervention": one, "outcome": two, "level": "low", "reasons": "Few trials."}
    of_text = {"text": text, "study": study, "collection": home, "kind": text.kind}
    of_passage = {"passage": passage, "collection": home}

    def change(row: Model, **values: Any) -> Callable[[], object]:
        return lambda: type(row)._base_manager.filter(pk=row.pk).update(**values)

    def make(model: type[Model], **values: Any) -> Callable[[], object]:
        return lambda: model._base_manager.create(**values)

    def twice(model: type[Model], **values: Any) -> Callable[[], object]:
        return lambda: twins(model, **values)

    return {
        "study_doi_unique": lambda: [make_study(doi=doi) for doi in ("10.1000/same", "10.1000/SAME")],
        "study_pmid_unique": lambda: [make_study(pmid="123") for _ in range(2)],
        "study_status_known": change(study, status="secret"), "study_notice_known": change(study, notice="odd"),
        "study_training_known": change(study, training_status="fit"),
        "study_age_group_known": change(study, age_group="old"), "study_sex_known": change(study, sex="men"),
        "study_duration_in_order": change(study, duration_weeks_min=9, duration_weeks_max=8),
        "study_bias_tool_known": change(study, risk_of_bias={"tool": "eye"}),
        "finding_effect_has_measure_and_value": change(finding, effect_measure="odds_ratio"),
        "finding_effect_in_interval": change(finding, **EFFECT | {"effect_upper": None}),
        "finding_ratio_positive": change(finding, **EFFECT | {"effect_measure": "odds_ratio"}),
        "finding_unit_of_mean_difference": change(finding, **EFFECT | {"effect_measure": "mean_difference"}),
        "finding_effect_level_percent": change(finding, effect_level=100),
        "certainty_once": twice(OutcomeCertainty, **judged),
        "certainty_level_known": make(OutcomeCertainty, **judged | {"level": "sure"}),
        "certainty_of_two_concepts": make(OutcomeCertainty, **judged | {"outcome": one}),
        "certainty_has_reasons": make(OutcomeCertainty, **judged | {"reasons": ""}),
        "study_absent_is_null": change(study, doi=""), "study_version_positive": change(study, version=0),
        "passage_position_unique": twice(Passage, study=study, position=9, section="results", text="x"),
        "passage_section_known": change(passage, section="middle"),
        "passage_kind_known": change(passage, kind="rumour"), "passage_text_present": change(passage, text=""),
        "passage_version_positive": change(passage, version=0),
        "passage_of_finding_is_plain": change(passage, finding=finding),
        "sentence_position_unique": twice(models.PassageSentence, passage=passage, position=99, start=0, end=1),
        "sentence_not_empty": change(sentence, start=3, end=3),
        "sentence_vector_has_encoder": change(sentence, vector=[1.0]),
        "sentence_kept_vector_has_encoder": change(sentence, kept_vector=[1.0]),
        "vector_once_per_encoder": twice(PassageVector, **of_passage, encoder="e", content_hash="h", vector=[1.0]),
        "term_once_per_passage": twice(models.PassageTerm, **of_passage, lexeme="x", frequency=1, length=1),
        "word_once_per_study": twice(models.StudyWord, study=study, field="title", word="x"),
        "concept_wanted_known": change(one, wanted="most"),
        "comment_says_something": make(models.StudyComment, study=study, author_name="curator", at=now, text=""),
        "alias_names_one_concept": make(models.ConceptAlias, concept=two, name="Get Bigger", position=0),
        "concept_collection_once": make(models.ConceptCollection, concept=one, collection=home),
        "relation_once": make(ConceptRelation, source=one, relation="affects", target=two),
        "relation_not_to_itself": make(ConceptRelation, source=one, relation="affects", target=one),
        "relation_study_once": twice(models.ConceptRelationStudy, relation=relation, study=study),
        "study_concept_once": twice(models.StudyConcept, study=study, concept=one),
        "finding_position_unique": lambda: [make_finding(study, position=7) for _ in range(2)] and check_deferred(),
        "finding_direction_known": change(finding, direction="up"),
        "finding_lean_known": change(finding, lean="maybe"), "study_text_kind_known": change(text, kind="rumour"),
        "study_text_position_unique": twice(models.StudyText, study=study, kind="question", position=98, text="x"),
        "text_vector_once_per_encoder": twice(models.StudyTextVector, **of_text, encoder="e", vector=[1.0]),
        "text_term_once_per_text": twice(models.StudyTextTerm, **of_text, lexeme="set", frequency=1, length=1),
        "waiver_once": twice(models.QualityWaiver, **waiver, reason="x"),
        "waiver_has_reason": make(models.QualityWaiver, **waiver, reason=""),
        "distinct_studies_once": twice(models.DistinctStudies, first="S1", second="S2", by_name="n", at=now),
        "encoder_choice_once": make(models.EncoderChoice, pk=2, name="e", configured="e"),
        "zotero_library_once": twice(models.ZoteroLibrary, owner=owner, library="users/1", encrypted_key="k"),
        "bulk_edit_item_once": twice(models.BulkEditItem, bulk_edit=edit, position=0, study_key="S1"),
        "import_item_once": twice(models.ImportItem, job=job, position=0, kind="study", study_key="S1", draft={},
         effect="new"),
    }  # fmt: skip


def test_the_database_refuses_what_breaks_a_constraint() -> None:
    tables = [table for table in vars(models).values() if isinstance(table, type) and issubclass(table, Model)]
    attempts = breaches()
    assert {constraint.name for table in tables for constraint in table._meta.constraints} == set(attempts)

    for name, attempt in attempts.items():
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            attempt()
    make_study(doi=None)
    make_study(doi=None)


def permissions(role: str) -> set[str]:
    return set(Group.objects.get(name=role).permissions.values_list("codename", flat=True))


def named_by_the_apps(role: str) -> set[str]:
    """What the apps' configs say that a role may do: its own share and that of the roles before it."""
    shares = [getattr(config, "role_permissions", {}) for config in apps.get_app_configs()] + [*DJANGO_ROLES.values()]
    reached = ROLES[: ROLES.index(role) + 1]
    return {name for share in shares for before in reached for name in share.get(before, ())}


def test_roles_have_exactly_their_permissions_and_migrate_restores_them() -> None:
    readers, curators, reviewers, administrators = (permissions(role) for role in ROLES)
    assert readers < curators < reviewers < administrators
    assert all(name.startswith("view_") for name in readers)
    assert {"publish_study", "set_notice_study", "change_passage", "delete_finding"} <= curators - readers
    assert reviewers - curators == {"review_study"}
    assert administrators - reviewers == {
        "view_user", "add_user", "change_user", "view_group", "manage_vectors", "view_apikey", "add_apikey",
        "change_apikey", "view_auditentry",
    }  # fmt: skip
    assert not any(word in name for name in administrators for word in ("session", "logentry", "delete_user"))

    Group.objects.get(name=ROLES[0]).delete()
    for role in ROLES[1:]:
        Group.objects.get(name=role).permissions.clear()
    call_command("migrate", verbosity=0)

    for role in ROLES:
        assert permissions(role) == named_by_the_apps(role)
