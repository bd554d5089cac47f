import html
import re
from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from corpus_app import curation, models
from corpus_app.desk.base import CleanTextForm
from corpus_app.models import CorpusEvent, CorpusVersion, Finding, Passage, PassageTerm, Study
from tests.builders import make_collection, make_concept, make_curator, make_finding, make_study, make_superuser

pytestmark = pytest.mark.django_db


def address(name: str, *args: Any) -> str:
    return reverse(f"admin:corpus_app_{name}", args=args)


def form_of(client: Client, url: str) -> dict[str, Any]:
    """What a browser would post from the form at this address, unchanged."""
    context = client.get(url).context
    forms = [context["adminform"].form]
    for inline in context["inline_admin_formsets"]:
        forms += [inline.formset.management_form, *inline.formset.forms]
    values = {bound.html_name: bound.value() for form in forms for bound in form}
    shown = {name: "" if value is None else value for name, value in values.items() if value is not False}
    return {name: "on" if value is True else value for name, value in shown.items()}


def messages(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def errors(response: Any) -> str:
    page: str = response.content.decode()
    assert response.status_code == 200
    assert "errornote" in page
    return page


def terms(passage: Passage) -> set[str]:
    return set(PassageTerm.objects.filter(passage=passage).values_list("lexeme", flat=True))


def all_rows() -> dict[str, Any]:
    concept, other = make_concept("one", aliases=("uno",)), make_concept("two")
    study = make_study(concepts=(concept,))
    curation.revise_study(study.study_id, by=None, by_name="test", year=1999)
    return {
        "study": study, "passage": study.passages.get(), "concept": concept,
        "conceptrelation": models.ConceptRelation.objects.create(source=concept, relation="affects", target=other),
        "collection": study.collection, "corpusevent": CorpusEvent.objects.get(),
    }  # fmt: skip


def test_curators_see_every_list_and_page_of_the_desk(client: Client, curator: User) -> None:
    for page, row in all_rows().items():
        assert client.get(address(f"{page}_changelist"), {"q": "uno"}).status_code == 200, page
        assert client.get(address(f"{page}_change", row.pk)).status_code == 200, page
    apps = {app["app_label"]: app["models"] for app in client.get(reverse("admin:index")).context["app_list"]}
    assert set(apps) == {"corpus_app", "qa_app"}
    assert {model["object_name"] for model in apps["qa_app"]} == {
        "Answer", "EvaluationRun", "Feedback", "FollowedQuestion", "Gap", "GoldenQuestion", "Proposal", "SafetyReply",
    }  # fmt: skip


def test_a_refusal_is_explained_and_links_back(client: Client, curator: User) -> None:
    response = client.get("/admin/auth/user/")

    assert response.status_code == 403
    assert "Your role at the desk does not include this." in response.content.decode()
    assert f'href="{reverse("admin:index")}"' in response.content.decode()


NO_NOUNS = re.compile(
    r"Cohort study|Cross-sectional study"  # designs, the words of a trade
    r"|Empty: (it is called a study|they are called studies)"  # the usual noun, where the site chooses its own
    r"|A library of studies is not what helps now"  # a reply as it is stored, to be changed
)


def words_of(page: str) -> str:
    """The text of a page, with what is read aloud of its elements or written in them."""
    attributes = re.findall(r'(?:title|aria-label|placeholder|alt)="([^"]*)"|type="submit"[^>]* value="([^"]*)"', page)
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    return "\n".join([text, *(one or other for one, other in attributes)])


def test_every_page_of_the_desk_says_the_nouns_of_the_site(client: Client) -> None:
    all_rows()
    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")
    client.force_login(make_superuser())
    waiting, left = [reverse("admin:index")], {}
    seen = {*waiting}

    while waiting:
        page = client.get(here := waiting.pop()).content.decode()
        lines = NO_NOUNS.sub("", words_of(page)).splitlines()
        left |= {line.strip(): here for line in lines if re.search(r"(?i)\bstud(y|ies)\b", line)}
        for link in (urljoin(here, html.unescape(link)) for link in re.findall(r'href="([^"#]+)"', page)):
            kind = re.sub(r"\d+", "N", link.partition("?")[0])  # one page of a kind
            if link.startswith("/admin/") and kind not in seen and not re.search("logout|account|export", kind):
                seen.add(kind)
                waiting.append(link)

    assert not left
    assert len(seen) > 60


def test_refusals_at_the_desk_say_the_nouns_of_the_site(client: Client, curator: User) -> None:
    study = make_study(study_id="S1", title="A study of studies")
    curation.set_lexica({"site": 'nouns = { one = "entry", many = "entries" }'}, by=None, by_name="tests")
    form = form_of(client, page := address("study_change", study.pk)) | {"passages-0-DELETE": "on"}

    refused = client.post(page, form)

    assert "A published entry keeps at least one passage" in errors(refused)
    assert "A study of studies" in refused.content.decode()  # what a person wrote stays


def test_a_table_keeps_its_line_ends_when_a_browser_sends_others() -> None:
    class TextForm(CleanTextForm):
        class Meta:
            model = Passage
            fields = ("text",)

    rows = "Ticket; Price\nAdults; 9.00\nChildren; 4.50"
    form = TextForm({"text": rows.replace("\n", "\r\n")}, instance=make_study(texts=(rows,)).passages.get())

    assert form.is_valid(), form.errors
    assert form.cleaned_data["text"] == rows


def test_history_is_read_only_even_for_superusers(client: Client) -> None:
    event = all_rows()["corpusevent"]
    client.force_login(make_superuser())

    assert client.get(address("corpusevent_add")).status_code == 403
    assert client.post(address("corpusevent_change", event.pk), {"action": "x"}).status_code == 403
    assert client.post(address("corpusevent_delete", event.pk), {"post": "yes"}).status_code == 403


def test_many_rows_need_no_more_queries(client: Client, curator: User, django_assert_max_num_queries: Any) -> None:
    study = make_study(texts=tuple(f"Passage {number}." for number in range(15)))
    for number in range(5):
        make_finding(study, position=number)
    for _ in range(11):
        make_study(texts=("One.", "Two."))

    for url, most in (  # three read the nouns of the site, which a corpus with a version keeps
        (address("study_changelist"), 16), (address("passage_changelist"), 12), (address("study_change", study.pk), 26),
    ):  # fmt: skip
        with django_assert_max_num_queries(most):
            assert client.get(url).status_code == 200


def test_studies_are_found_by_words_and_filters(client: Client, curator: User) -> None:
    make_study(
        study_id="C1", title="Creatine and strength", authors=["Ærlig Ø"], year=1999, notice="corrected",
        assignee=curator,
    )  # fmt: skip
    make_study(
        study_id="C2", doi="10.1000/c2", status="draft", collection=make_collection("nutrition"), design="thesis",
        labels=["to check"], texts=(),
    )  # fmt: skip

    for field, value, found in (
        ("q", "creatine", "C1"), ("q", "Ærlig", "C1"), ("q", "10.1000/c2", "C2"), ("status__exact", "draft", "C2"),
        ("notice__exact", "corrected", "C1"), ("collection__slug__exact", "nutrition", "C2"),
        ("design__exact", "thesis", "C2"), ("year", "1999", "C1"), ("queue", "me", "C1"), ("queue", "nobody", "C2"),
        ("label", "to check", "C2"),
        ("text", "none", "C2"),
    ):  # fmt: skip
        rows = client.get(address("study_changelist"), {field: value}).context["cl"].result_list
        assert [study.study_id for study in rows] == [found], field


def test_a_queue_leads_from_study_to_study_and_a_filter_is_kept(client: Client, curator: User) -> None:
    first, second, third = (make_study(status="draft") for _ in range(3))
    for study in (first, second):
        client.post(address("study_assign", study.pk), {"assignee": curator.get_username()})
    lists = address("study_changelist")

    def next_of(study: Study) -> str:
        return client.get(address("study_next", study.pk)).headers["Location"]

    assert next_of(first) == address("study_change", second.pk)
    assert next_of(second) == f"{lists}?queue=mine"
    client.get(lists, {"queue": "nobody", "p": "1"})
    assert next_of(first) == address("study_change", third.pk), "the list that was filtered last"
    published = client.post(address("study_state", "publish"), {"ids": f"{first.pk},{second.pk}", "reason": ""})
    assert published.headers["Location"] == f"{lists}?queue=nobody"
    client.get(lists, {"year": "x", "q": "%00"})
    assert next_of(first).startswith(lists)

    saved = {"name": "Free", "query": "queue=nobody", "is_shared": "on"}
    assert client.post(address("savedfilter_add"), saved).headers["Location"] == f"{lists}?queue=nobody"
    client.force_login(make_curator("other"))
    theirs = models.SavedFilter.objects.get()
    assert ">Free<" in client.get(lists).content.decode()
    assert client.post(address("savedfilter_delete", theirs.pk), {"post": "yes"}).status_code == 403


def test_a_passage_stands_beside_its_source(client: Client, curator: User) -> None:
    study = make_study(texts=("Creatine raised strength by 8 percent in trained rowers.",))
    row = {"file_name": "a.xml", "content": b"x", "content_hash": "0", "asked_by": curator, "status": "done"}
    job = models.ImportJob.objects.create(**row, asked_at=timezone.now())
    draft = {"passages": [{"text": "Creatine raised strength by 6 percent in trained rowers."}]}
    item = {"kind": "study", "study_key": study.study_id, "effect": "new", "outcome": "created"}
    models.ImportItem.objects.create(job=job, position=0, draft=draft, **item)

    page = client.get(address("passage_change", study.passages.get().pk)).content.decode()

    assert "<del>6</del><ins>8</ins>" in page


def test_a_nonsense_address_leads_to_the_page_without_it(client: Client, curator: User) -> None:
    for page, query in (
        ("study_changelist", "status__exact=%00"), ("study_changelist", "%00=x"),
        ("study_changelist", "authors__contains=x"), ("study_changelist", "title__regex=("),
        ("study_changelist", "year=abc"), ("study_changelist", "q=%00"), ("passage_changelist", "section=%00"),
        ("conceptrelation_add", "source=%00"),
    ):  # fmt: skip
        response = client.get(f"{address(page)}?{query}", follow=True)

        assert (response.status_code, response.request["PATH_INFO"]) == (200, address(page)), query
        assert "cannot be looked up" in messages(response)[0], query


@pytest.mark.parametrize("view", ["change", "delete", "history"])
def test_a_row_with_an_impossible_key_does_not_exist(client: Client, view: str) -> None:
    client.force_login(make_superuser())

    for page in ("study", "passage", "concept", "conceptrelation", "collection", "corpusevent"):
        response = client.get(f"{address(f'{page}_changelist')}%00/{view}/", follow=True)

        assert response.status_code in {200, 403}, page
        if response.status_code == 200:
            assert "doesn’t exist" in messages(response)[0], page


def test_a_page_is_saved_as_one_act_and_unchanged_it_changes_nothing(client: Client, curator: User) -> None:
    study = make_study(texts=("Squats grow thighs.", "Two."), duration_weeks_min=6.0)
    make_finding(study)
    concept = make_concept()
    url = address("study_change", study.pk)
    assert client.post(url, form_of(client, url)).status_code == 302
    assert not CorpusEvent.objects.exists()

    posted = form_of(client, url) | {
        "title": "A new title", "authors": "Ærlig Ø\r\nLi W", "doi": "https://doi.org/10.1000/NEW",
        "passages-0-text": "Creatine raised strength.", "findings-0-statement": "Another statement.",
        "passages-TOTAL_FORMS": 3, "passages-2-section": "conclusion", "passages-2-kind": "summary",
        "passages-2-text": "A third passage.", "passages-2-order": "1", "studyconcept_set-TOTAL_FORMS": 1,
        "studyconcept_set-0-concept": concept.pk, "studyconcept_set-0-study": study.pk,
    }  # fmt: skip
    response = client.post(url, posted)

    assert response.status_code == 302, response.context and response.context["errors"]
    study.refresh_from_db()
    assert (study.title, study.authors, study.doi) == ("A new title", ["Ærlig Ø", "Li W"], "10.1000/new")
    shown = [("A third passage.", 1), ("Creatine raised strength.", 2), ("Two.", 1)]
    assert list(study.passages.values_list("text", "version")) == shown
    assert set(study.passages.values_list("heading", flat=True)) == {"A new title"}
    assert Finding.objects.get().statement == "Another statement."
    assert list(study.concepts.all()) == [concept]
    assert CorpusVersion.objects.count() == 1
    assert set(CorpusEvent.objects.values_list("actor", flat=True)) == {curator.pk}
    assert set(CorpusEvent.objects.values_list("action", flat=True)) == {
        "revise_study", "revise_passage", "add_passage", "arrange_passages", "revise_finding", "add_study_concept",
    }  # fmt: skip


def test_passages_are_moved_and_deleted_on_the_page_of_their_study(client: Client, curator: User) -> None:
    study = make_study(texts=("One.", "Two.", "Three."))
    make_finding(study)
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"passages-2-order": "1"})
    assert list(study.passages.values_list("text", flat=True)) == ["Three.", "One.", "Two."]

    gone = {"passages-0-DELETE": "on", "passages-1-DELETE": "on"}
    client.post(url, form_of(client, url) | gone | {"findings-0-DELETE": "on"})
    assert list(study.passages.values_list("text", "position")) == [("Two.", 0)]
    assert not study.findings.exists()

    refused = client.post(url, form_of(client, url) | {"passages-0-DELETE": "on"})
    assert "A published study keeps at least one passage: withdraw it first" in errors(refused)
    assert study.passages.count() == 1


NEW_STUDY = {
    "study_id": "N001", "title": "New", "design": "thesis", "curator_notes": "My notes.", "passages-TOTAL_FORMS": 1,
    "passages-0-section": "results", "passages-0-kind": "summary", "passages-0-text": "Something was found.",
}  # fmt: skip


def test_new_study_is_a_draft_with_its_passages(client: Client, curator: User) -> None:
    url = address("study_add")

    response = client.post(url, form_of(client, url) | NEW_STUDY | {"collection": make_collection().pk})

    assert response.status_code == 302, errors(response)
    study = Study.objects.get()
    assert (study.study_id, study.status, study.passages.get().heading) == ("N001", "draft", "New")
    assert study.status_reason
    assert [event.action for event in CorpusEvent.objects.order_by("pk")] == ["create_study", "add_passage"]


def test_invalid_values_are_refused_at_their_field(client: Client, curator: User) -> None:
    make_study(doi="10.1000/taken")
    url = address("study_change", make_study().pk)
    shown = form_of(client, url)

    for field, value, message in (
        ("doi", "10.1000/TAKEN", "Another study has this DOI."),
        ("doi", "nOpe", "“nOpe” is not a DOI; it should look like 10."),
        ("pmid", "aBc", "“aBc” is not a PMID: a PMID has digits only."), ("url", "javascript:alert(1)", "valid URL"),
        ("title", "", "This field is required."), ("title", "a\x1bb", "U+001B"),
        ("title", "A title\r\nin two lines", "holds a line break or tab at position"),
        ("title", "a\x00b", "Null characters are not allowed."),
        ("authors", "\u200b", "holds nothing that can be seen"),
        ("authors", "Example AB; Sample CD", "a line of their own"),
        ("duration_weeks_max", "-8", "greater than or equal to 0"),
        ("passages-0-text", "\u0301\u200b", "holds nothing that can be seen"),
        ("passages-0-section", "middle", "Select a valid choice"),
        ("passages-0-order", "0", "greater than or equal to 1"),
    ):  # fmt: skip
        assert message in errors(client.post(url, shown | {field: value})), (field, value)
    backwards = {"duration_weeks_min": "9", "duration_weeks_max": "8"}
    assert "longer than the longest" in errors(client.post(url, shown | backwards))
    assert not CorpusEvent.objects.exists()


def test_a_second_curator_does_not_overwrite_the_first(client: Client, curator: User) -> None:
    study = make_study()
    passage = study.passages.get()
    pages = [address("study_change", study.pk), address("passage_change", passage.pk)]
    seen = [form_of(client, url) for url in pages]
    curation.revise_passage(passage.pk, by=make_curator("other"), text="The other's words.")
    curation.revise_study(study.study_id, by=None, by_name="other", title="The other's title")

    for at, mine in ((0, {"title": "My title"}), (0, {"passages-0-text": "My text."}), (1, {"text": "My text."})):
        page = errors(client.post(pages[at], seen[at] | mine))
        assert "Someone else has saved" in page
        assert next(iter(mine.values())) in page
    study.refresh_from_db()
    passage.refresh_from_db()
    assert (study.title, passage.text) == ("The other's title", "The other's words.")


def test_what_was_typed_stays_if_saving_fails(client: Client, curator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study()
    change, add = address("study_change", study.pk), address("study_add")
    seen = form_of(client, change) | {"title": "As typed", "passages-0-text": "Typed too."}

    def too_late(*args: Any, **options: Any) -> None:
        raise curation.UnknownStudy(study.study_id)

    def refuse(*args: Any, **options: Any) -> None:
        raise ValidationError({"source_ref": ["No form foresaw this."]})

    monkeypatch.setattr(curation, "revise_study", too_late)
    monkeypatch.setattr(curation, "create_study", refuse)
    page = errors(client.post(change, seen))
    new = errors(client.post(add, form_of(client, add) | NEW_STUDY | {"collection": study.collection.pk}))

    assert f"There is no study {study.study_id}." in page
    assert "As typed" in page
    assert "Typed too." in page
    assert "Source ref: No form foresaw this." in new
    assert "Something was found." in new


def test_status_and_notice_are_not_fields_of_the_form(client: Client, curator: User) -> None:
    study = make_study(status="draft", status_reason="new")
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"status": "published", "notice": "retracted", "study_id": "OTHER"})

    study.refresh_from_db()
    assert (study.status, study.notice) == ("draft", "none")
    assert study.study_id != "OTHER"


def test_a_passage_is_edited_and_deleted_on_its_own_page(client: Client, curator: User) -> None:
    study = make_study(texts=("Squats grow thighs.", "Two.", "Three."))
    first, second, third = study.passages.all()
    url = address("passage_change", first.pk)

    response = client.post(url, form_of(client, url) | {"text": "Creatine raised strength.", "page": "7"})
    assert response.status_code == 302
    first.refresh_from_db()
    assert (first.text, first.page, first.version) == ("Creatine raised strength.", 7, 2)
    assert terms(first) >= {"creatin", "strength"}
    assert "squat" not in terms(first)

    asked = client.get(address("passage_delete", first.pk))
    client.post(address("passage_delete", first.pk), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [second.pk], "post": "yes"}
    client.post(address("passage_changelist"), chosen)
    refused = client.post(address("passage_delete", third.pk), {"post": "yes"}, follow=True)

    assert asked.status_code == 200
    assert list(study.passages.all()) == [third]
    assert CorpusEvent.objects.filter(action="remove_passage").count() == 2
    assert messages(refused)[-1].startswith("A published study keeps at least one passage: withdraw it first")
