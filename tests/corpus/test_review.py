"""Hand over, send back, publish by a second person, comments, and who may do what at the desk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import jobs
from corpus_app.models import CorpusEvent, CorpusVersion, Study, StudyComment
from corpus_app.roles import ADMINISTRATORS, CURATORS, READERS, REVIEWERS, ROLES
from tests.builders import make_concept, make_curator, make_study, make_superuser

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return make_curator("author")


@pytest.fixture
def reviewer() -> User:
    return make_curator("reviewer", role=REVIEWERS)


@pytest.fixture
def draft(author: User) -> Study:
    return make_study(study_id="T-DRAFT", status="draft")


@pytest.fixture
def two_people_needed(settings: Any) -> None:
    settings.REVIEW_REQUIRED = True


def status(study: Study) -> str:
    study.refresh_from_db()
    return study.status


# --- Handing over and back -------------------------------------------------------------------------------------------------


def test_a_draft_is_handed_over_and_sent_back_with_the_reason(draft: Study, author: User, reviewer: User) -> None:
    assert curation.submit(["T-DRAFT"], by=author) == ("T-DRAFT",)
    assert status(draft) == "in_review"

    assert curation.send_back(["T-DRAFT"], by=reviewer, reason="The table is missing.") == ("T-DRAFT",)
    assert (status(draft), draft.status_reason) == ("draft", "The table is missing.")
    assert [event.action for event in CorpusEvent.objects.order_by("id")] == ["submit", "send_back"]


def test_review_is_nothing_that_readers_notice(draft: Study, author: User, reviewer: User) -> None:
    before = CorpusVersion.objects.count()
    curation.submit(["T-DRAFT"], by=author)
    curation.comment("T-DRAFT", "Who checks the doses?", by=reviewer)
    curation.send_back(["T-DRAFT"], by=reviewer, reason="Doses.")

    assert CorpusVersion.objects.count() == before


def test_what_is_not_in_the_right_state_stays_as_it_is(author: User, draft: Study) -> None:
    published = make_study()

    assert curation.submit([published.study_id], by=author) == ()
    assert curation.send_back(["T-DRAFT", published.study_id], by=author, reason="No.") == ()
    assert (status(published), status(draft)) == ("published", "draft")


def test_a_study_without_passages_cannot_be_handed_over(author: User) -> None:
    empty = make_study(texts=(), status="draft")

    with pytest.raises(curation.NotPublishable, match="no passage"):
        curation.submit([empty.study_id], by=author)


def test_sending_back_takes_a_reason(draft: Study, author: User) -> None:
    curation.submit(["T-DRAFT"], by=author)

    with pytest.raises(curation.ReasonMissing):
        curation.send_back(["T-DRAFT"], by=author, reason=" ")


def test_a_withdrawn_study_can_be_handed_over_again(author: User) -> None:
    study = make_study()
    curation.withdraw([study.study_id], by=author, reason="A mistake.")

    curation.submit([study.study_id], by=author)

    assert status(study) == "in_review"


# --- The second person -----------------------------------------------------------------------------------------------------


def test_without_the_setting_a_curator_publishes_alone(draft: Study, author: User) -> None:
    assert curation.publish(["T-DRAFT"], by=author) == ("T-DRAFT",)


@pytest.mark.usefixtures("two_people_needed")
class TestReviewRequired:
    def test_a_second_person_publishes(self, draft: Study, author: User, reviewer: User) -> None:
        curation.submit(["T-DRAFT"], by=author)

        assert curation.publish(["T-DRAFT"], by=reviewer) == ("T-DRAFT",)

    def test_a_draft_is_not_published(self, draft: Study, reviewer: User) -> None:
        with pytest.raises(curation.NotPublishable, match="not been handed over"):
            curation.publish(["T-DRAFT"], by=reviewer)

    def test_nobody_publishes_what_they_handed_over(self, draft: Study, reviewer: User) -> None:
        curation.submit(["T-DRAFT"], by=reviewer)

        with pytest.raises(curation.NotPublishable, match="another reviewer"):
            curation.publish(["T-DRAFT"], by=reviewer)

    def test_who_changes_it_in_review_becomes_an_author(self, draft: Study, author: User, reviewer: User) -> None:
        curation.submit(["T-DRAFT"], by=author)
        curation.comment("T-DRAFT", "I mend the year.", by=reviewer)
        assert curation.find_review_obstacle(Study.objects.get(), reviewer) is None

        curation.revise_study("T-DRAFT", by=reviewer, year=1999)

        with pytest.raises(curation.NotPublishable, match="wrote in it"):
            curation.publish(["T-DRAFT"], by=reviewer)

    def test_nobody_publishes_their_own_words_whoever_hands_them_over(
        self, draft: Study, author: User, reviewer: User
    ) -> None:
        curation.revise_study("T-DRAFT", by=reviewer, year=1999)
        curation.submit(["T-DRAFT"], by=author)

        with pytest.raises(curation.NotPublishable, match="wrote in it"):
            curation.publish(["T-DRAFT"], by=reviewer)

    def test_what_was_published_before_counts_no_more(self, draft: Study, author: User, reviewer: User) -> None:
        curation.revise_study("T-DRAFT", by=reviewer, year=1999)
        curation.publish(["T-DRAFT"], by=None, by_name="import")
        curation.withdraw(["T-DRAFT"], by=author, reason="A mistake.")
        curation.submit(["T-DRAFT"], by=author)

        assert curation.publish(["T-DRAFT"], by=reviewer) == ("T-DRAFT",)

    def test_only_reviewers_change_what_readers_see(self, author: User, reviewer: User) -> None:
        study = make_study()
        passage = study.passages.all()[0]

        with pytest.raises(curation.CurationError, match="only reviewers"):
            curation.revise_passage(passage.pk, by=author, text="Unread words.")
        with pytest.raises(curation.CurationError, match="only reviewers"):
            curation.revise_study(study.study_id, by=author, title="An unread title")
        curation.revise_study(study.study_id, by=author, curator_notes="Readers do not see these.")
        curation.revise_passage(passage.pk, by=reviewer, text="Words that a reviewer read.")
        curation.withdraw([study.study_id], by=author, reason="Anybody may take away.")

    def test_a_curator_who_is_no_reviewer_does_not_publish(self, draft: Study, author: User) -> None:
        curation.submit(["T-DRAFT"], by=author)

        with pytest.raises(curation.NotPublishable, match="takes a reviewer"):
            curation.publish(["T-DRAFT"], by=make_curator("third"))

    def test_a_command_publishes_for_the_site(self, draft: Study) -> None:
        assert curation.publish(["T-DRAFT"], by=None, by_name="import") == ("T-DRAFT",)

    def test_the_page_says_why_it_cannot_be_published(self, client: Client, draft: Study, reviewer: User) -> None:
        client.force_login(reviewer)
        curation.submit(["T-DRAFT"], by=reviewer)

        page = client.get(reverse("admin:corpus_app_study_state", args=["publish"]), {"ids": draft.pk})

        assert "another reviewer has to read and publish it" in page.content.decode()


# --- At the desk -----------------------------------------------------------------------------------------------------------


def test_the_whole_way_at_the_desk(client: Client, draft: Study, author: User, reviewer: User) -> None:
    def act(who: User, verb: str, **data: str) -> str:
        client.force_login(who)
        address = reverse("admin:corpus_app_study_state", args=[verb])
        assert client.get(address, {"ids": draft.pk}).status_code == 200
        client.post(address, {"ids": draft.pk, **data})
        return status(draft)

    assert act(author, "submit") == "in_review"
    assert act(reviewer, "send_back") == "in_review"  # without a reason
    assert act(reviewer, "send_back", reason="Mend it.") == "draft"
    assert act(author, "submit", reason="Mended.") == "in_review"
    assert act(reviewer, "publish") == "published"


def test_comments_are_read_and_added_at_the_desk(client: Client, draft: Study, author: User) -> None:
    client.force_login(author)
    address = reverse("admin:corpus_app_study_comments", args=[draft.pk])
    assert "Nobody has said anything" in client.get(address).content.decode()

    client.post(address, {"text": "<b>Who</b> checked this?"})

    assert "&lt;b&gt;Who&lt;/b&gt; checked this?" in client.get(address).content.decode()
    assert "Comments (1)" in client.get(reverse("admin:corpus_app_study_change", args=[draft.pk])).content.decode()
    assert CorpusEvent.objects.get().action == "comment"


@pytest.mark.parametrize("text", ["", "   ", "a\x00b", "\u200b"])
def test_a_comment_that_says_nothing_is_not_kept(client: Client, draft: Study, author: User, text: str) -> None:
    client.force_login(author)

    page = client.post(reverse("admin:corpus_app_study_comments", args=[draft.pk]), {"text": text})

    assert page.status_code == 200
    assert not StudyComment.objects.exists()
    with pytest.raises(ValidationError):
        curation.comment("T-DRAFT", text, by=author)


def test_no_comments_on_nothing(client: Client, author: User) -> None:
    client.force_login(author)

    assert client.get(reverse("admin:corpus_app_study_comments", args=["99"])).status_code == 404


# --- Roles -----------------------------------------------------------------------------------------------------------------

NOBODY, STAFF = "nobody", "staff without a role"


def pages(draft: Study) -> dict[str, tuple[str, dict[str, Any], frozenset[str]]]:
    """Each page of the desk: address, what is posted to it (empty: it is read), and who may."""
    everyone, curators = frozenset(ROLES), frozenset(ROLES) - {READERS}
    concept = make_concept("one")
    twin = make_study(study_id="T-TWIN", status="draft")
    passage = draft.passages.get().pk
    job = jobs.create_job(b"10.1000/x", file_name="x", by=None, by_name="x", way="lookup")

    def state(verb: str) -> str:
        return reverse("admin:corpus_app_study_state", args=[verb])

    def of(name: str, *args: Any) -> str:
        return reverse(f"admin:{name}", args=args)

    post, reason = {"ids": draft.pk, "reason": "why"}, {"ids": draft.pk, "reason": "why", "notice": "corrected"}
    return {
        "front": (of("index"), {}, everyone | {STAFF}),
        "studies": (of("corpus_app_study_changelist"), {}, everyone),
        "study": (of("corpus_app_study_change", draft.pk), {}, everyone),
        "study saved": (of("corpus_app_study_change", draft.pk), {"title": "x"}, curators),
        "new study": (of("corpus_app_study_add"), {}, curators),
        "study deleted": (of("corpus_app_study_delete", draft.pk), {"post": "yes"}, curators),
        "passages": (of("corpus_app_passage_changelist"), {}, everyone),
        "passage saved": (of("corpus_app_passage_change", draft.passages.get().pk), {"text": "x"}, curators),
        "concept": (of("corpus_app_concept_change", concept.pk), {}, everyone),
        "concept saved": (of("corpus_app_concept_change", concept.pk), {"name": "x"}, curators),
        "words of no concept": (of("corpus_app_concept_terms"), {}, everyone),
        "aliases made": (of("corpus_app_concept_terms"), {"term": "x", "concept": concept.pk}, curators),
        "relations": (of("corpus_app_conceptrelation_changelist"), {}, everyone),
        "collections": (of("corpus_app_collection_changelist"), {}, everyone),
        "new collection": (of("corpus_app_collection_add"), {}, curators),
        "events": (of("corpus_app_corpusevent_changelist"), {}, everyone),
        "comments": (of("corpus_app_study_comments", draft.pk), {}, everyone),
        "comment": (of("corpus_app_study_comments", draft.pk), {"text": "x"}, curators),
        "submit": (state("submit"), post, curators),
        "send back": (state("send_back"), post, curators),
        "publish": (state("publish"), post, curators),
        "withdraw": (state("withdraw"), post, curators),
        "notice": (state("notice"), reason, curators),
        "text mended": (of("corpus_app_study_quality", draft.pk), {"verb": "mend_all"}, curators),
        "finding waived": (
            of("corpus_app_study_quality", draft.pk),
            {"verb": "waive", "passage": passage, "reason": "x"},
            curators,
        ),
        "export": (of("corpus_app_study_export"), {}, everyone),
        "exported": (of("corpus_app_study_export"), {"form": "ris", "ids": str(draft.pk)}, everyone),
        "duplicates": (of("corpus_app_study_duplicates"), {}, curators),
        "merge": (of("corpus_app_study_merge") + f"?keep={draft.study_id}&other={twin.study_id}", {}, curators),
        "merged": (
            of("corpus_app_study_merge"),
            {"keep": draft.study_id, "other": twin.study_id, "reason": "x"},
            curators,
        ),
        "imports": (of("corpus_app_importjob_changelist"), {}, everyone),
        "new import": (of("corpus_app_importjob_add"), {}, curators),
        "import asked": (of("corpus_app_importjob_add"), {"lookup": "10.1000/x"}, curators),
        "import": (of("corpus_app_importjob_change", job.pk), {}, everyone),
        "import confirmed": (of("corpus_app_importjob_change", job.pk), {"verb": "confirm"}, curators),
        "import report": (of("corpus_app_importjob_report", job.pk), {}, everyone),
        "import file": (of("corpus_app_importjob_file", job.pk), {}, everyone),
        "encoder": (of("corpus_app_encoder"), {}, frozenset({ADMINISTRATORS})),
        "embed again": (of("corpus_app_encoder"), {"do": "again"}, frozenset({ADMINISTRATORS})),
        "retraction list": (of("corpus_app_study_retractions"), {}, curators),
        "replies": (of("qa_app_safetyreply_changelist"), {}, everyone),
        "new reply": (of("qa_app_safetyreply_add"), {}, curators),
        "answers": (of("qa_app_answer_changelist"), {}, everyone),
        "feedback": (of("qa_app_feedback_changelist"), {}, everyone),
        "gaps": (of("qa_app_gap_changelist"), {}, everyone),
        "golden questions": (of("qa_app_goldenquestion_changelist"), {}, everyone),
        "new golden question": (of("qa_app_goldenquestion_add"), {}, curators),
        "golden file": (of("qa_app_goldenquestion_import"), {}, curators),
        "runs": (of("qa_app_evaluationrun_changelist"), {}, everyone),
        "new run": (of("qa_app_evaluationrun_start"), {"post": "yes"}, curators),
        "people": (of("auth_user_changelist"), {}, frozenset({ADMINISTRATORS})),
        "new person": (of("auth_user_add"), {}, frozenset({ADMINISTRATORS})),
        "new group": (of("auth_group_add"), {}, frozenset()),
    }


@pytest.mark.parametrize("who", [NOBODY, STAFF, *ROLES])
def test_each_role_opens_its_pages_and_no_other(client: Client, who: str) -> None:
    desk = pages(make_study(study_id="T-DRAFT", status="draft"))
    if who == STAFF:
        client.force_login(User.objects.create_user("staff", is_staff=True))
    elif who != NOBODY:
        client.force_login(make_curator(role=who))
    wrong = []

    for page, (address, posted, allowed) in desk.items():
        with transaction.atomic():
            before = CorpusEvent.objects.count()
            response = client.post(address, posted) if posted else client.get(address)
            is_sent_away = "/login/" in response.headers.get("Location", "")
            if who in allowed:
                is_right = response.status_code in {200, 302} and not is_sent_away
            else:
                is_refused = response.status_code == 403 or is_sent_away
                is_right = is_refused and CorpusEvent.objects.count() == before
            if not is_right:
                wrong.append((page, response.status_code))
            transaction.set_rollback(True)

    assert wrong == []
    assert len(desk) > 50


def test_an_administrator_gives_roles_and_cannot_become_a_superuser(client: Client) -> None:
    administrator = make_curator("administrator", role=ADMINISTRATORS)
    person = User.objects.create_user("newcomer", is_staff=False)
    client.force_login(administrator)
    curators = Group.objects.get(name=CURATORS)

    for who in (person, administrator):
        client.post(
            reverse("admin:auth_user_change", args=[who.pk]),
            {
                "username": who.username, "is_active": "on", "is_staff": "on", "groups": [curators.pk],
                "is_superuser": "on", "user_permissions": ["1"],
            },
        )  # fmt: skip
        who.refresh_from_db()
        assert who.is_staff
        assert not who.is_superuser
        assert not who.user_permissions.exists()
        assert [group.name for group in who.groups.all()] == [CURATORS]


def test_an_administrator_cannot_touch_a_superuser(client: Client) -> None:
    owner = make_superuser()
    client.force_login(make_curator("administrator", role=ADMINISTRATORS))

    for address in ("auth_user_change", "auth_user_password_change"):
        url = reverse(f"admin:{address}", args=[owner.pk])
        assert client.post(url, {"username": "mine", "password1": "x" * 20, "password2": "x" * 20}).status_code == 403
    owner.refresh_from_db()
    assert owner.username == "owner"
    assert owner.is_superuser


def test_what_a_role_may_do_is_ticked_and_kept(client: Client) -> None:
    client.force_login(make_superuser())
    role = Group.objects.create(name="Publishers")
    view, publish = (Permission.objects.get(codename=name) for name in ("view_study", "publish_study"))
    role.permissions.add(view)
    address = reverse("admin:auth_group_change", args=[role.pk])

    page = client.get(address).content.decode()
    client.post(address, {"name": role.name, "permissions": [view.pk, publish.pk]})

    assert f'value="{view.pk}" id="id_permissions_' in page
    assert re.search(rf'value="{view.pk}" id="\w+" checked> View</label>', page)
    assert re.search(rf'value="{publish.pk}" id="\w+"> Publish', page)
    assert set(role.permissions.all()) == {view, publish}


def test_a_superuser_sees_everything(client: Client) -> None:
    client.force_login(make_superuser())
    person = make_curator()

    page = client.get(reverse("admin:auth_user_change", args=[person.pk])).content.decode()

    assert 'name="is_superuser"' in page
    assert client.get(reverse("admin:auth_user_changelist")).status_code == 200
