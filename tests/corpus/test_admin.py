from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from corpus_app import curation, indexing
from corpus_app.models import (
    Collection,
    Concept,
    ConceptAlias,
    ConceptRelation,
    ConceptRelationStudy,
    CorpusEvent,
    CorpusVersion,
    Finding,
    Passage,
    PassageTerm,
    Study,
)
from tests.builders import (
    make_collection,
    make_concept,
    make_curator,
    make_finding,
    make_passage,
    make_study,
    make_superuser,
)
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db


@pytest.fixture
def curator(client: Client) -> User:
    user = make_curator()
    client.force_login(user)
    return user


def address(name: str, *args: Any) -> str:
    return reverse(f"admin:corpus_app_{name}", args=args)


def form_of(client: Client, url: str) -> dict[str, Any]:
    """What a browser would post from the form at this address, unchanged."""
    context = client.get(url).context
    posted: dict[str, Any] = {}

    def collect(form: Any) -> None:
        for bound in form:
            value = bound.value()
            if isinstance(value, bool):
                if value:
                    posted[bound.html_name] = "on"
            else:
                posted[bound.html_name] = "" if value is None else value

    collect(context["adminform"].form)
    for inline in context["inline_admin_formsets"]:
        collect(inline.formset.management_form)
        for form in inline.formset.forms:
            collect(form)
    return posted


def messages(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def errors(response: Any) -> str:
    page: str = response.content.decode()
    assert response.status_code == 200
    assert "errornote" in page
    return page


def terms(passage: Passage) -> set[str]:
    return set(PassageTerm.objects.filter(passage=passage).values_list("lexeme", flat=True))


# --- Who may see what ---------------------------------------------------------------------------------------------------

PAGES = ["study", "passage", "concept", "conceptrelation", "collection", "corpusevent"]


def all_rows() -> dict[str, Any]:
    concept, other = make_concept("one", aliases=("uno",)), make_concept("two")
    study = make_study(concepts=(concept,))
    curation.revise_study(study.study_id, by=None, by_name="test", year=1999)
    return {
        "study": study,
        "passage": study.passages.get(),
        "concept": concept,
        "conceptrelation": ConceptRelation.objects.create(source=concept, relation="affects", target=other),
        "collection": study.collection,
        "corpusevent": CorpusEvent.objects.get(),
    }


@pytest.mark.parametrize("page", PAGES)
def test_curator_sees_every_list_and_page_of_the_desk(client: Client, curator: User, page: str) -> None:
    row = all_rows()[page]

    assert client.get(address(f"{page}_changelist")).status_code == 200
    assert client.get(address(f"{page}_changelist"), {"q": "uno"}).status_code == 200
    assert client.get(address(f"{page}_change", row.pk)).status_code == 200


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("who", ["nobody", "reader", "staff without the group"])
def test_nobody_else_sees_the_desk(client: Client, page: str, who: str) -> None:
    row = all_rows()[page]
    if who != "nobody":
        client.force_login(User.objects.create_user("reader", is_staff=who.startswith("staff")))

    for url in (address(f"{page}_changelist"), address(f"{page}_change", row.pk)):
        assert client.get(url).status_code in {302, 403}
        assert client.post(url, {}).status_code in {302, 403}


@pytest.mark.parametrize("url", ["/admin/auth/user/", "/admin/auth/group/", "/admin/auth/user/add/"])
def test_curator_has_no_business_with_users_and_groups(client: Client, curator: User, url: str) -> None:
    assert client.get(url).status_code == 403


def test_what_a_role_may_not_see_is_said_in_words_with_a_way_back(client: Client, curator: User) -> None:
    response = client.get("/admin/auth/user/")

    assert response.status_code == 403
    assert "Your role at the desk does not include this." in response.content.decode()
    assert f'href="{reverse("admin:index")}"' in response.content.decode()


@pytest.mark.parametrize("page", ["/admin/", "/admin/corpus_app/study/", "/admin/corpus_app/study/add/"])
def test_the_desk_speaks_english_whatever_the_browser_asks_for(client: Client, curator: User, page: str) -> None:
    client.cookies["django_language"] = "de"

    response = client.get(page, headers={"accept-language": "de"})

    html = response.content.decode()
    assert '<html lang="en-gb"' in html
    assert "Log out" in html
    assert "Abmelden" not in html


def test_curators_front_page_lists_their_desk_alone(client: Client, curator: User) -> None:
    context = client.get(reverse("admin:index")).context

    models = {app["app_label"]: {model["object_name"] for model in app["models"]} for app in context["app_list"]}
    assert set(models) == {"corpus_app", "qa_app"}
    assert models["qa_app"] == {"Answer", "EvaluationRun", "Feedback", "Gap", "GoldenQuestion", "SafetyReply"}


def test_superuser_sees_the_desk_too(client: Client) -> None:
    client.force_login(make_superuser())

    assert client.get(address("study_changelist")).status_code == 200
    assert client.get("/admin/auth/user/").status_code == 200


def test_history_is_read_only_even_for_superusers(client: Client) -> None:
    event = all_rows()["corpusevent"]
    client.force_login(make_superuser())

    assert client.get(address("corpusevent_add")).status_code == 403
    assert client.post(address("corpusevent_change", event.pk), {"action": "x"}).status_code == 403
    assert client.post(address("corpusevent_delete", event.pk), {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("verb", ["publish", "withdraw", "notice"])
def test_curator_without_the_permission_cannot_change_states(client: Client, curator: User, verb: str) -> None:
    study = make_study(status="draft" if verb == "publish" else "published")
    group = curator.groups.get()
    group.permissions.remove(*group.permissions.filter(codename__in=["publish_study", "set_notice_study"]))

    page = client.get(address("study_change", study.pk)).content.decode()
    response = client.post(address("study_state", verb), {"ids": study.pk, "reason": "x", "notice": "retracted"})

    assert address("study_state", verb) not in page
    assert response.status_code == 403
    assert not CorpusEvent.objects.exists()


# --- Lists --------------------------------------------------------------------------------------------------------------


def test_list_of_studies_takes_the_same_queries_for_many(
    client: Client, curator: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        make_study(texts=("One.", "Two."))

    with django_assert_max_num_queries(12):
        response = client.get(address("study_changelist"))

    assert response.status_code == 200


def test_list_of_passages_takes_the_same_queries_for_many(
    client: Client, curator: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        make_study(texts=("One.", "Two."))

    with django_assert_max_num_queries(9):
        client.get(address("passage_changelist"))


def test_page_of_a_study_takes_the_same_queries_for_many_passages(
    client: Client, curator: User, django_assert_max_num_queries: Any
) -> None:
    study = make_study(texts=tuple(f"Passage {number}." for number in range(15)))
    for number in range(5):
        make_finding(study, position=number)

    with django_assert_max_num_queries(16):
        client.get(address("study_change", study.pk))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"q": "creatine"}, ["C1"]),
        ({"q": "Ærlig"}, ["C1"]),
        ({"q": "10.1000/c2"}, ["C2"]),
        ({"status__exact": "draft"}, ["C2"]),
        ({"notice__exact": "corrected"}, ["C1"]),
        ({"collection__slug__exact": "nutrition"}, ["C2"]),
        ({"design__exact": "thesis"}, ["C2"]),
        ({"year": "1999"}, ["C1"]),
    ],
)
def test_studies_are_found_by_words_and_filters(
    client: Client, curator: User, query: dict[str, str], found: list[str]
) -> None:
    make_study(study_id="C1", title="Creatine and strength", authors=["Ærlig Ø"], year=1999, notice="corrected")
    make_study(
        study_id="C2", doi="10.1000/c2", status="draft", collection=make_collection("nutrition"), design="thesis"
    )

    response = client.get(address("study_changelist"), query)

    assert [study.study_id for study in response.context["cl"].result_list] == found


def test_lists_say_what_is_indexed(client: Client, curator: User, encoder: WordHashEncoder) -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    indexing.index_stale()
    one, two, _ = study.passages.all()
    curation.revise_passage(one.pk, by=curator, text="Edited since.")
    Passage.objects.filter(pk=two.pk).update(content_hash="x", index_attempts=3, index_error="too long to bear")

    studies = client.get(address("study_changelist")).content.decode()
    passages = client.get(address("passage_changelist")).content.decode()
    failed = client.get(address("passage_changelist"), {"indexed": "failed"})

    assert "1 of 3, 1 failed" in studies
    assert "Failed: too long to bear" in passages
    assert ">Waiting<" in passages
    assert [passage.pk for passage in failed.context["cl"].result_list] == [two.pk]


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("study_changelist", "status__exact=%00"),
        ("study_changelist", "%00=x"),
        ("study_changelist", "authors__contains=x"),
        ("study_changelist", "title__regex=("),
        ("study_changelist", "authors__nothing=x"),
        ("study_changelist", "year=abc"),
        ("study_changelist", "q=%00"),
        ("passage_changelist", "section=%00"),
        ("corpusevent_changelist", "action=%00"),
        ("conceptrelation_add", "source=%00"),
    ],
)
def test_address_that_cannot_be_looked_up_leads_to_the_page_without_it(
    client: Client, curator: User, page: str, query: str
) -> None:
    response = client.get(f"{address(page)}?{query}", follow=True)

    assert response.status_code == 200
    assert response.request["PATH_INFO"] == address(page)
    assert "cannot be looked up" in messages(response)[0]


@pytest.mark.parametrize("view", ["change", "delete", "history"])
@pytest.mark.parametrize("page", PAGES)
def test_row_with_an_impossible_key_does_not_exist(client: Client, page: str, view: str) -> None:
    client.force_login(make_superuser())

    response = client.get(f"{address(f'{page}_changelist')}%00/{view}/", follow=True)

    assert response.status_code in {200, 403}
    if response.status_code == 200:
        assert "doesn’t exist" in messages(response)[0]


@pytest.mark.parametrize(
    ("page", "posted"),
    [
        ("study_changelist", {"action": "delete_selected", "_selected_action": "abc"}),
        ("concept_changelist", {"action": "delete_selected", "_selected_action": "\x00"}),
    ],
)
def test_post_that_no_page_makes_is_refused(client: Client, curator: User, page: str, posted: dict[str, str]) -> None:
    make_study(concepts=(make_concept(),))

    assert client.post(address(page), posted).status_code in {302, 400}
    assert Study.objects.exists()
    assert Concept.objects.exists()


# --- The page of a study ------------------------------------------------------------------------------------------------


def test_saving_an_unchanged_page_changes_nothing(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two."), concepts=(make_concept(),), duration_weeks_min=6.0)
    make_finding(study)
    url = address("study_change", study.pk)

    response = client.post(url, form_of(client, url))

    assert response.status_code == 302
    study.refresh_from_db()
    assert study.version == 1
    assert not CorpusEvent.objects.exists()


def test_study_passages_and_findings_are_saved_as_one_act(client: Client, curator: User) -> None:
    study = make_study(texts=("Squats grow thighs.", "Two."))
    make_finding(study)
    concept = make_concept()
    url = address("study_change", study.pk)
    posted = form_of(client, url) | {
        "title": "A new title",
        "authors": "Ærlig Ø\r\nLi W",
        "doi": "https://doi.org/10.1000/NEW",
        "passages-0-text": "Creatine raised strength.",
        "findings-0-statement": "Another statement.",
        "passages-TOTAL_FORMS": 3,
        "passages-2-section": "conclusion",
        "passages-2-kind": "summary",
        "passages-2-text": "A third passage.",
        "passages-2-order": "1",
        "studyconcept_set-TOTAL_FORMS": 1,
        "studyconcept_set-0-concept": concept.pk,
        "studyconcept_set-0-study": study.pk,
    }

    response = client.post(url, posted)

    assert response.status_code == 302, response.context and response.context["errors"]
    study.refresh_from_db()
    assert (study.title, study.authors, study.doi) == ("A new title", ["Ærlig Ø", "Li W"], "10.1000/new")
    rows = list(study.passages.values_list("text", "version", "heading"))
    assert rows == [
        ("A third passage.", 1, "A new title"),
        ("Creatine raised strength.", 2, "A new title"),
        ("Two.", 1, "A new title"),
    ]
    assert Finding.objects.get().statement == "Another statement."
    assert list(study.concepts.all()) == [concept]
    edited = study.passages.get(position=1)
    assert "creatin" in terms(edited)
    assert "squat" not in terms(edited)
    assert CorpusVersion.objects.count() == 1
    assert set(CorpusEvent.objects.values_list("actor", flat=True)) == {curator.pk}
    assert set(CorpusEvent.objects.values_list("action", flat=True)) == {
        "revise_study",
        "revise_passage",
        "add_passage",
        "arrange_passages",
        "revise_finding",
        "add_study_concept",
    }


def test_passages_change_places_on_the_page(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"passages-2-order": "1"})

    assert list(study.passages.values_list("text", flat=True)) == ["Three.", "One.", "Two."]


def test_passage_and_finding_are_deleted_on_the_page(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two."))
    make_finding(study)
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"passages-0-DELETE": "on", "findings-0-DELETE": "on"})

    assert list(study.passages.values_list("text", "position")) == [("Two.", 0)]
    assert not study.findings.exists()


def test_last_passage_of_a_published_study_stays_on_the_page(client: Client, curator: User) -> None:
    study = make_study()
    url = address("study_change", study.pk)

    response = client.post(url, form_of(client, url) | {"passages-0-DELETE": "on"})

    assert "A published study keeps at least one passage: withdraw it first, or add another passage." in errors(
        response
    )
    assert study.passages.count() == 1


def test_new_study_is_a_draft_with_its_passages(client: Client, curator: User) -> None:
    collection = make_collection()
    url = address("study_add")
    posted = form_of(client, url) | {
        "study_id": "N001",
        "title": "New",
        "design": "thesis",
        "collection": collection.pk,
        "passages-TOTAL_FORMS": 1,
        "passages-0-section": "results",
        "passages-0-kind": "summary",
        "passages-0-text": "Something was found.",
    }

    response = client.post(url, posted)

    assert response.status_code == 302, errors(response)
    study = Study.objects.get()
    assert (study.study_id, study.status, study.passages.get().heading) == ("N001", "draft", "New")
    assert study.status_reason
    assert [event.action for event in CorpusEvent.objects.order_by("pk")] == ["create_study", "add_passage"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"doi": "10.1000/TAKEN"}, "Another study has this DOI."),
        ({"doi": "see the publisher"}, "is not a DOI"),
        ({"doi": "nOpe"}, "“nOpe” is not a DOI; it should look like 10."),
        ({"pmid": "aBc"}, "“aBc” is not a PMID: a PMID has digits only."),
        ({"url": "javascript:alert(1)"}, "valid URL"),
        ({"title": ""}, "This field is required."),
        ({"title": "a\x1bb"}, "U+001B"),
        ({"title": "\u200b"}, "holds nothing that can be seen"),
        ({"title": "A title\r\nin two lines"}, "holds a line break or tab at position"),
        ({"authors": "\u200b"}, "holds nothing that can be seen"),
        ({"title": "a\x00b"}, "Null characters are not allowed."),
        ({"authors": "Example AB; Sample CD"}, "a line of their own"),
        ({"year": "3000"}, "less than or equal to 2100"),
        ({"duration_weeks_min": "9", "duration_weeks_max": "8"}, "longer than the longest"),
        ({"passages-0-text": " "}, "This field is required."),
        ({"passages-0-text": "\u0301\u200b"}, "holds nothing that can be seen"),
        ({"passages-0-section": "middle"}, "Select a valid choice"),
        ({"passages-0-order": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_kept_is_said_at_its_field(
    client: Client, curator: User, changes: dict[str, str], message: str
) -> None:
    make_study(doi="10.1000/taken")
    study = make_study()
    url = address("study_change", study.pk)

    response = client.post(url, form_of(client, url) | changes)

    assert message in errors(response)
    assert not CorpusEvent.objects.exists()


def test_second_curator_does_not_overwrite_the_first(client: Client, curator: User) -> None:
    study = make_study()
    url = address("study_change", study.pk)
    seen = form_of(client, url)
    curation.revise_study(study.study_id, by=make_curator("other"), title="The other's title")

    response = client.post(url, seen | {"title": "My title"})

    assert "Someone else has saved this study in the meantime" in errors(response)
    assert "My title" in response.content.decode()
    study.refresh_from_db()
    assert study.title == "The other's title"


def test_second_curator_does_not_overwrite_a_passage_of_the_first(client: Client, curator: User) -> None:
    study = make_study()
    passage = study.passages.get()
    pages = [address("study_change", study.pk), address("passage_change", passage.pk)]
    seen = [form_of(client, url) for url in pages]
    curation.revise_passage(passage.pk, by=make_curator("other"), text="The other's words.")

    responses = [
        client.post(pages[0], seen[0] | {"passages-0-text": "Mine."}),
        client.post(pages[1], seen[1] | {"text": "Mine."}),
    ]

    for response in responses:
        assert "Someone else has saved" in errors(response)
    passage.refresh_from_db()
    assert passage.text == "The other's words."


def test_race_that_no_form_foresaw_is_a_message(client: Client, curator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    url = address("study_change", study.pk)
    seen = form_of(client, url)

    def too_late(*args: Any, **options: Any) -> None:
        raise curation.UnknownStudy(study.study_id)

    monkeypatch.setattr(curation, "revise_study", too_late)
    response = client.post(url, seen | {"title": "As typed", "passages-0-text": "Typed too."})

    page = errors(response)
    assert f"There is no study {study.study_id}." in page
    assert "As typed" in page
    assert "Typed too." in page


def test_study_deleted_while_it_was_edited_is_a_message(client: Client, curator: User) -> None:
    study = make_study(status="draft")
    url = address("study_change", study.pk)
    seen = form_of(client, url)
    curation.delete_study(study.study_id, by=curator)

    response = client.post(url, seen | {"title": "x"}, follow=True)

    assert "doesn’t exist" in messages(response)[0]


NEW_STUDY = {
    "study_id": "N001",
    "title": "New",
    "design": "thesis",
    "curator_notes": "My notes.",
    "passages-TOTAL_FORMS": 1,
    "passages-0-section": "results",
    "passages-0-kind": "summary",
    "passages-0-text": "Something was found.",
}


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"title": "Pasted from\r\na PDF"}, "title", "holds a line break or tab"),
        ({"title": "\u200b\u0301"}, "title", "holds nothing that can be seen"),
        ({"study_id": "t001"}, "study_id", "There is a study T001 already"),
    ],
)
def test_new_study_that_cannot_be_kept_is_shown_again_as_typed(
    client: Client, curator: User, changes: dict[str, str], field: str, message: str
) -> None:
    study = make_study(study_id="T001")
    url = address("study_add")

    response = client.post(url, form_of(client, url) | NEW_STUDY | {"collection": study.collection.pk} | changes)

    page = errors(response)
    assert message in response.context["adminform"].form.errors[field][0]
    assert "My notes." in page
    assert "Something was found." in page
    assert list(Study.objects.all()) == [study]


def test_what_was_typed_stays_where_saving_finds_a_fault(
    client: Client, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = make_collection()
    url = address("study_add")

    def refuse(*args: Any, **options: Any) -> None:
        raise ValidationError({"source_ref": ["No form foresaw this."]})

    monkeypatch.setattr(curation, "create_study", refuse)
    response = client.post(url, form_of(client, url) | NEW_STUDY | {"collection": collection.pk})

    page = errors(response)
    assert "Source ref: No form foresaw this." in page
    assert "Something was found." in page


def test_status_and_notice_are_not_fields_of_the_form(client: Client, curator: User) -> None:
    study = make_study(status="draft", status_reason="new")
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"status": "published", "notice": "retracted", "study_id": "OTHER"})

    study.refresh_from_db()
    assert (study.status, study.notice) == ("draft", "none")
    assert study.study_id != "OTHER"


# --- The page of a passage ----------------------------------------------------------------------------------------------


def test_edited_passage_is_found_by_its_new_words_at_once(client: Client, curator: User) -> None:
    passage = make_passage(text="Squats grow thighs.")
    url = address("passage_change", passage.pk)

    response = client.post(url, form_of(client, url) | {"text": "Creatine raised strength.", "page": "7"})

    assert response.status_code == 302
    passage.refresh_from_db()
    assert (passage.text, passage.page, passage.version) == ("Creatine raised strength.", 7, 2)
    assert "creatin" in terms(passage)
    assert "squat" not in terms(passage)
    assert CorpusEvent.objects.get().passage_key == passage.pk


def test_passage_is_deleted_after_being_asked(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two."))
    first, second = study.passages.all()

    asked = client.get(address("passage_delete", first.pk))
    client.post(address("passage_delete", first.pk), {"post": "yes"})
    refused = client.post(address("passage_delete", second.pk), {"post": "yes"}, follow=True)

    assert asked.status_code == 200
    assert list(study.passages.all()) == [second]
    assert messages(refused)[-1].startswith("A published study keeps at least one passage: withdraw it first")


def test_chosen_passages_are_deleted_together(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    chosen = [passage.pk for passage in study.passages.all()[:2]]
    posted = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}

    client.post(address("passage_changelist"), posted)

    assert study.passages.get().text == "Three."
    assert CorpusEvent.objects.filter(action="remove_passage").count() == 2


# --- Publish, withdraw, notice ------------------------------------------------------------------------------------------

ACTIONS = {"publish": "publish_studies", "withdraw": "withdraw_studies", "notice": "set_notice_of_studies"}


@pytest.mark.parametrize("verb", ACTIONS)
def test_action_asks_first_and_says_what_will_happen(client: Client, curator: User, verb: str) -> None:
    studies = [make_study(status="draft" if verb == "publish" else "published") for _ in range(2)]
    chosen = [study.pk for study in studies]

    response = client.post(address("study_changelist"), {"action": ACTIONS[verb], "_selected_action": chosen})

    page = response.content.decode()
    assert response.status_code == 200
    assert all(study.title in page for study in studies)
    assert response.context["change"].meaning in page.replace("&#x27;", "'")
    assert not CorpusEvent.objects.exists()


@pytest.mark.parametrize(
    ("verb", "before", "posted", "after"),
    [
        ("publish", {"status": "draft"}, {}, {"status": "published"}),
        ("withdraw", {}, {"reason": "Fabricated."}, {"status": "withdrawn", "status_reason": "Fabricated."}),
        (
            "notice",
            {},
            {"reason": "By the journal.", "notice": "retracted"},
            {"notice": "retracted", "notice_reason": "By the journal."},
        ),
    ],
)
def test_confirmed_change_happens_to_all_in_one_corpus_version(
    client: Client, curator: User, verb: str, before: dict[str, str], posted: dict[str, str], after: dict[str, str]
) -> None:
    studies = [make_study(**before) for _ in range(2)]

    response = client.post(address("study_state", verb), posted | {"ids": [study.pk for study in studies]}, follow=True)

    assert all(study.study_id in messages(response)[0] for study in studies)
    assert Study.objects.filter(**after).count() == 2
    assert CorpusVersion.objects.count() == 1
    assert PassageTerm.objects.exists() == (verb == "publish")


@pytest.mark.parametrize("verb", ["withdraw", "notice"])
def test_change_without_a_reason_is_asked_again(client: Client, curator: User, verb: str) -> None:
    study = make_study()

    response = client.post(address("study_state", verb), {"ids": study.pk, "reason": " ", "notice": "corrected"})

    assert "Give the reason" in errors(response)
    assert not CorpusEvent.objects.exists()


def test_buttons_of_a_page_lead_to_the_question(client: Client, curator: User) -> None:
    draft, published = make_study(status="draft"), make_study()

    draft_page = client.get(address("study_change", draft.pk)).content.decode()
    published_page = client.get(address("study_change", published.pk)).content.decode()
    question = client.get(address("study_state", "withdraw"), {"ids": published.pk})

    assert f"{address('study_state', 'publish')}?ids={draft.pk}" in draft_page
    assert address("study_state", "withdraw") not in draft_page
    assert f"{address('study_state', 'withdraw')}?ids={published.pk}" in published_page
    assert "gone from search at once" in question.content.decode()


def test_studies_that_cannot_be_changed_are_left_and_said_why(client: Client, curator: User) -> None:
    empty, sound = make_study(status="draft", texts=()), make_study(status="draft")

    page = client.get(address("study_state", "publish"), {"ids": [empty.pk, sound.pk]}).content.decode()
    client.post(address("study_state", "publish"), {"ids": [empty.pk, sound.pk]})

    assert "it has no passage. Add at least one." in page
    assert list(Study.objects.published()) == [sound]


@pytest.mark.parametrize("ids", ["", "abc", "9" * 30, "-1", "٣"])
def test_question_about_no_study_is_no_error(client: Client, curator: User, ids: str) -> None:
    page = client.get(address("study_state", "publish"), {"ids": ids})

    assert page.status_code == 200
    assert "There is nothing to do here" in page.content.decode()


def test_unknown_change_is_not_found(client: Client, curator: User) -> None:
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


# --- Concepts and collections -------------------------------------------------------------------------------------------


def test_concept_is_saved_with_aliases_and_relations(client: Client, curator: User) -> None:
    concept, other = make_concept("one", aliases=("uno", "eins")), make_concept("two")
    url = address("concept_change", concept.pk)
    posted = form_of(client, url) | {
        "name": "number one",
        "aliases-0-DELETE": "on",
        "aliases-2-name": "first",
        "relations_out-TOTAL_FORMS": 1,
        "relations_out-0-relation": "affects",
        "relations_out-0-target": other.pk,
        "relations_out-0-source": concept.pk,
    }

    response = client.post(url, posted)

    assert response.status_code == 302, errors(response)
    concept.refresh_from_db()
    assert concept.name == "number one"
    assert list(concept.aliases.values_list("name", flat=True)) == ["eins", "first"]
    assert concept.relations_out.get().target == other
    assert CorpusVersion.objects.count() == 1


def test_alias_of_another_concept_is_refused_at_its_field(client: Client, curator: User) -> None:
    make_concept("one", aliases=("uno",))
    other = make_concept("two")
    url = address("concept_change", other.pk)

    response = client.post(url, form_of(client, url) | {"aliases-0-name": "UNO"})

    assert "Another concept has this alias." in errors(response)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "a\tname"}, "holds a line break or tab at position 2"),
        ({"name": "\u2800"}, "holds nothing that can be seen"),
        ({"aliases-0-name": "aaa", "aliases-1-name": "AAA", "aliases-TOTAL_FORMS": 2}, "stands here twice"),
        ({"aliases-0-name": "\ufeff"}, "holds nothing that can be seen"),
    ],
)
@pytest.mark.parametrize("page", ["add", "change"])
def test_concept_that_cannot_be_kept_is_shown_again_as_typed(
    client: Client, curator: User, page: str, changes: dict[str, Any], message: str
) -> None:
    url = address("concept_add") if page == "add" else address("concept_change", make_concept("two").pk)
    typed = {"name": "three", "kind": "outcome", "definition": "As it was typed."}
    if page == "add":
        typed["concept_id"] = "three"

    response = client.post(url, form_of(client, url) | typed | changes)

    shown = errors(response)
    assert message in shown
    assert "As it was typed." in shown
    assert not ConceptAlias.objects.exists()


def test_deleted_alias_stands_in_no_ones_way(client: Client, curator: User) -> None:
    concept = make_concept("one", aliases=("uno", "eins"))
    url = address("concept_change", concept.pk)

    response = client.post(url, form_of(client, url) | {"aliases-0-name": "EINS", "aliases-0-DELETE": "on"})

    assert response.status_code == 302, errors(response)
    assert concept.aliases.get().name == "eins"


def test_new_concept_and_collection_are_made(client: Client, curator: User) -> None:
    make_concept("one")
    url = address("concept_add")
    client.post(url, form_of(client, url) | {"concept_id": "two", "name": "two", "kind": "outcome", "wanted": "less"})
    url = address("collection_add")
    client.post(url, form_of(client, url) | {"slug": "new", "name": "New", "keywords": "one\r\n\r\n two "})

    assert (Concept.objects.get(pk="two").position, Concept.objects.get(pk="two").wanted) == (1, "less")
    assert Collection.objects.get(pk="new").keywords == ["one", "two"]
    assert set(CorpusEvent.objects.values_list("action", flat=True)) == {"add_concept", "add_collection"}


def test_concept_is_not_related_to_itself(client: Client, curator: User) -> None:
    concept, other = make_concept("one"), make_concept("two")
    relation = ConceptRelation.objects.create(source=concept, relation="affects", target=other)
    pages = [address("conceptrelation_change", relation.pk), address("concept_change", concept.pk)]

    responses = [
        client.post(pages[0], form_of(client, pages[0]) | {"target": concept.pk}),
        client.post(pages[1], form_of(client, pages[1]) | {"relations_out-0-target": concept.pk}),
    ]

    for response in responses:
        page = errors(response)
        assert "A concept cannot be related to itself." in page
        assert "Constraint" not in page


OTHERS_CHANGES: list[tuple[str, str, Any]] = [
    ("concept", "name", lambda row: Concept.objects.filter(pk=row.pk).update(name="theirs")),
    ("concept", "name", lambda row: row.aliases.update(name="theirs")),
    ("concept", "aliases-0-name", lambda row: row.aliases.update(name="theirs")),
    ("concept", "name", lambda row: row.aliases.all().delete()),
    ("concept", "name", lambda row: row.relations_out.update(relation="theirs")),
    ("concept", "name", lambda row: row.collections.clear()),
    ("collection", "name", lambda row: Collection.objects.filter(pk=row.pk).update(keywords=["theirs"])),
    ("conceptrelation", "relation", lambda row: ConceptRelation.objects.update(relation="theirs")),
    ("conceptrelation", "relation", lambda row: row.studies.clear()),
]


@pytest.mark.parametrize(("page", "field", "change"), OTHERS_CHANGES)
def test_what_somebody_else_saved_is_not_overwritten(
    client: Client, curator: User, page: str, field: str, change: Any
) -> None:
    rows = all_rows()
    ConceptRelationStudy.objects.create(relation=rows["conceptrelation"], study=rows["study"])
    url = address(f"{page}_change", rows[page].pk)
    seen = form_of(client, url)
    before = CorpusEvent.objects.count()
    change(rows[page])

    response = client.post(url, seen | {field: "mine"})

    assert "Someone else has saved this" in errors(response)
    assert 'value="mine"' in response.content.decode()
    assert CorpusEvent.objects.count() == before


@pytest.mark.parametrize("page", ["concept", "collection", "conceptrelation"])
def test_page_saved_twice_in_a_row_is_no_conflict(client: Client, curator: User, page: str) -> None:
    url = address(f"{page}_change", all_rows()[page].pk)
    field = "relation" if page == "conceptrelation" else "name"

    for value in ("first", "second"):
        response = client.post(url, form_of(client, url) | {field: value})
        assert response.status_code == 302, errors(response)

    assert form_of(client, url)[field] == "second"


def test_concept_that_studies_rest_on_is_not_deleted(client: Client, curator: User) -> None:
    concept, free = make_concept("one"), make_concept("two", aliases=("due",))
    make_study(concepts=(concept,))

    for key in (concept.pk, free.pk):
        client.post(address("concept_delete", key), {"post": "yes"})

    assert list(Concept.objects.all()) == [concept]
    assert not ConceptAlias.objects.exists()


def test_collection_with_studies_is_not_deleted(client: Client, curator: User) -> None:
    study = make_study()

    response = client.post(address("collection_delete", study.collection.pk), {"post": "yes"})

    assert response.status_code == 200
    assert Collection.objects.exists()


def test_choosers_find_concepts_and_studies(client: Client, curator: User) -> None:
    make_concept("one", aliases=("uno",))
    asked = {"app_label": "corpus_app", "model_name": "studyconcept", "field_name": "concept", "term": "uno"}

    found = client.get(reverse("admin:autocomplete"), asked).json()

    assert [row["id"] for row in found["results"]] == ["one"]


def test_chooser_finds_nothing_by_an_impossible_term(client: Client, curator: User) -> None:
    make_concept("one")
    asked = {"app_label": "corpus_app", "model_name": "studyconcept", "field_name": "concept", "term": "one\x00"}

    assert client.get(reverse("admin:autocomplete"), asked).json()["results"] == []


def test_more_studies_than_a_form_has_fields_are_published_at_once(
    client: Client, curator: User, settings: Any
) -> None:
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
