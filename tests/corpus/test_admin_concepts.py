"""The desk's pages of concepts and collections, and the states of studies."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from corpus_app import models
from corpus_app.models import Collection, Concept, ConceptAlias, CorpusEvent, Study
from tests.builders import make_concept, make_study
from tests.corpus.test_admin import address, all_rows, errors, form_of, messages

pytestmark = pytest.mark.django_db


ACTIONS = {"publish": "publish_studies", "withdraw": "withdraw_studies", "notice": "set_notice_of_studies"}


@pytest.mark.parametrize(("verb", "before", "posted", "after"), [
    ("publish", {"status": "draft"}, {}, {"status": "published"}),
    ("withdraw", {}, {"reason": "Made up."}, {"status": "withdrawn", "status_reason": "Made up."}),
    ("notice", {}, {"reason": "By the journal.", "notice": "retracted"}, {"notice": "retracted", "notice_reason": "By the journal."}),
])  # fmt: skip
def test_state_changes_are_confirmed_first_and_share_one_corpus_version(
    client: Client, curator: User, verb: str, before: dict[str, str], posted: dict[str, str], after: dict[str, str]
) -> None:
    studies = [make_study(**before) for _ in range(2)]
    ids = [study.pk for study in studies]

    offered = client.get(address("study_change", ids[0])).content.decode()
    asked = client.post(address("study_changelist"), {"action": ACTIONS[verb], "_selected_action": ids})
    assert f"{address('study_state', verb)}?ids={ids[0]}" in offered
    assert all(study.title in asked.content.decode() for study in studies)
    assert asked.context["change"].meaning in asked.content.decode().replace("&#x27;", "'")
    assert not CorpusEvent.objects.exists()

    response = client.post(address("study_state", verb), posted | {"ids": ids}, follow=True)
    assert all(study.study_id in messages(response)[0] for study in studies)
    assert Study.objects.filter(**after).count() == 2
    assert models.CorpusVersion.objects.count() == 1
    assert models.PassageTerm.objects.exists() == (verb == "publish")


def test_a_change_of_nothing_is_no_error(client: Client, curator: User) -> None:
    for ids in ("", "abc", "9" * 30, "-1", "٣"):
        page = client.get(address("study_state", "publish"), {"ids": ids})
        assert page.status_code == 200
        assert "There is nothing to do here" in page.content.decode()
    assert client.get(address("study_state", "burn")).status_code == 404


def test_published_study_is_not_deleted_and_a_draft_is(client: Client, curator: User) -> None:
    published, draft = make_study(), make_study(status="draft")
    posted = {"action": "delete_selected", "_selected_action": [published.pk], "post": "yes"}

    page = client.get(address("study_delete", published.pk)).content.decode()
    client.post(address("study_delete", published.pk), {"post": "yes"})
    client.post(address("study_changelist"), posted)
    client.post(address("study_delete", draft.pk), {"post": "yes"})

    assert "withdraw it first" in page
    assert "Nothing was deleted. In the way stands:" in page
    assert list(Study.objects.all()) == [published]
    assert CorpusEvent.objects.get().action == "delete_study"


def test_concept_is_saved_with_aliases_and_relations(client: Client, curator: User) -> None:
    concept, other = make_concept("one", aliases=("uno", "eins")), make_concept("two")
    url = address("concept_change", concept.pk)
    posted = form_of(client, url) | {
        "name": "number one", "aliases-0-DELETE": "on", "aliases-2-name": "first", "relations_out-TOTAL_FORMS": 1,
        "relations_out-0-relation": "affects", "relations_out-0-target": other.pk,
        "relations_out-0-source": concept.pk,
    }  # fmt: skip

    response = client.post(url, posted)

    assert response.status_code == 302, errors(response)
    concept.refresh_from_db()
    assert concept.name == "number one"
    assert list(concept.aliases.values_list("name", flat=True)) == ["eins", "first"]
    assert concept.relations_out.get().target == other
    assert models.CorpusVersion.objects.count() == 1


@pytest.mark.parametrize("page", ["add", "change"])
def test_a_refused_concept_is_shown_again_as_typed(client: Client, curator: User, page: str) -> None:
    make_concept("one", aliases=("uno",))
    url = address("concept_add") if page == "add" else address("concept_change", make_concept("two").pk)
    typed = {"name": "three", "kind": "outcome", "definition": "As it was typed."}
    shown = form_of(client, url) | typed | ({"concept_id": "three"} if page == "add" else {})
    key = "three" if page == "add" else "two"
    itself = {"relations_out-TOTAL_FORMS": 1, "relations_out-0-relation": "affects", "relations_out-0-target": key}

    for changes, message in (
        ({"name": "a\tname"}, "holds a line break or tab at position 2"),
        ({"name": "\u2800"}, "holds nothing that can be seen"),
        ({"aliases-0-name": "aaa", "aliases-1-name": "AAA", "aliases-TOTAL_FORMS": 2}, "stands here twice"),
        ({"aliases-0-name": "\ufeff"}, "holds nothing that can be seen"),
        ({"aliases-0-name": "UNO"}, "Another concept has this alias."),
        (itself, "A concept cannot be related to itself." if page == "change" else "Select a valid choice."),
    ):
        again = errors(client.post(url, shown | changes))
        assert message in again
        assert "As it was typed." in again
        assert "Constraint" not in again
    assert ConceptAlias.objects.get().name == "uno"


def test_concepts_and_collections_are_created_and_aliases_replaced(client: Client, curator: User) -> None:
    url = address("concept_add")
    client.post(url, form_of(client, url) | {"concept_id": "two", "name": "two", "kind": "outcome", "wanted": "less"})
    url = address("collection_add")
    client.post(url, form_of(client, url) | {"slug": "new", "name": "New", "keywords": "one\r\n\r\n two "})
    assert Concept.objects.get(pk="two").wanted == "less"
    assert Collection.objects.get(pk="new").keywords == ["one", "two"]
    assert set(CorpusEvent.objects.values_list("action", flat=True)) == {"add_concept", "add_collection"}

    concept = make_concept("one", aliases=("uno", "eins"))
    url = address("concept_change", concept.pk)
    response = client.post(url, form_of(client, url) | {"aliases-0-name": "EINS", "aliases-0-DELETE": "on"})
    assert response.status_code == 302, errors(response)
    assert concept.aliases.get().name == "eins"


OTHERS_CHANGES: list[tuple[str, str, Any]] = [
    ("concept", "name", lambda row: Concept.objects.filter(pk=row.pk).update(name="theirs")),
    ("concept", "aliases-0-name", lambda row: row.aliases.update(name="theirs")),
    ("concept", "name", lambda row: row.relations_out.update(relation="theirs")),
    ("concept", "name", lambda row: row.collections.clear()),
    ("collection", "name", lambda row: Collection.objects.filter(pk=row.pk).update(keywords=["theirs"])),
    ("conceptrelation", "relation", lambda row: models.ConceptRelation.objects.update(relation="theirs")),
    ("conceptrelation", "relation", lambda row: row.studies.clear()),
]


def test_what_somebody_else_saved_is_not_overwritten(client: Client, curator: User) -> None:
    rows = all_rows()
    models.ConceptRelationStudy.objects.create(relation=rows["conceptrelation"], study=rows["study"])
    before = CorpusEvent.objects.count()
    seen = {page: form_of(client, address(f"{page}_change", rows[page].pk)) for page, _, _ in OTHERS_CHANGES}

    for page, field, change in OTHERS_CHANGES:
        with transaction.atomic():
            change(rows[page])
            shown = errors(client.post(address(f"{page}_change", rows[page].pk), seen[page] | {field: "mine"}))
            assert "Someone else has saved this" in shown, (page, field)
            assert 'value="mine"' in shown
            assert CorpusEvent.objects.count() == before
            transaction.set_rollback(True)


def test_what_studies_rest_on_is_not_deleted(client: Client, curator: User) -> None:
    concept, free = make_concept("one"), make_concept("two", aliases=("due",))
    study = make_study(concepts=(concept,))

    for key in (concept.pk, free.pk):
        client.post(address("concept_delete", key), {"post": "yes"})
    client.post(address("collection_delete", study.collection.pk), {"post": "yes"})
    for page, chosen in (("study", "abc"), ("concept", "\x00")):  # no page makes these
        odd = {"action": "delete_selected", "_selected_action": chosen}
        assert client.post(address(f"{page}_changelist"), odd).status_code in {302, 400}

    assert list(Concept.objects.all()) == [concept]
    assert not ConceptAlias.objects.exists()
    assert Collection.objects.filter(studies=study).exists()


def test_choosers_find_concepts_by_their_aliases(client: Client, curator: User) -> None:
    make_concept("one", aliases=("uno",))
    asked = {"app_label": "corpus_app", "model_name": "studyconcept", "field_name": "concept"}

    for term, found in (("uno", ["one"]), ("one\x00", [])):
        rows = client.get(reverse("admin:autocomplete"), asked | {"term": term}).json()["results"]
        assert [row["id"] for row in rows] == found


def test_more_studies_than_a_form_has_fields_are_published(client: Client, curator: User, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 10
    studies = [make_study(status="draft") for _ in range(12)]
    chosen = {"action": "publish_studies", "select_across": "1", "_selected_action": [studies[0].pk]}

    asked = client.post(address("study_changelist"), chosen)
    page = asked.content.decode()
    ids = asked.context["ids"]
    client.post(address("study_state", "publish"), {"ids": ids, "reason": ""})

    assert "Publish: 12 studies" in page
    assert page.count('name="ids"') == 1
    assert Study.objects.filter(status="published").count() == 12
