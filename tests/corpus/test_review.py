"""Hand over, send back, publish by a second person, comments, and who may do what at the desk."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import bulk, jobs
from corpus_app.models import CorpusEvent, Study, StudyComment
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


@pytest.mark.usefixtures("two_people_needed")
class TestReviewRequired:
    def test_who_changes_it_in_review_becomes_an_author(self, draft: Study, author: User, reviewer: User) -> None:
        curation.submit(["T-DRAFT"], by=author)
        curation.comment("T-DRAFT", "I mend the year.", by=reviewer)
        assert curation.find_review_obstacle(Study.objects.get(), reviewer) is None

        curation.revise_study("T-DRAFT", by=reviewer, year=1999)

        with pytest.raises(curation.NotPublishable, match="wrote in it"):
            curation.publish(["T-DRAFT"], by=reviewer)

    def test_to_sort_and_to_give_away_makes_nobody_an_author(self, draft: Study, author: User, reviewer: User) -> None:
        curation.submit(["T-DRAFT"], by=author)
        curation.revise_study("T-DRAFT", by=reviewer, labels=["To read", " to  read ", "Doses"])
        curation.assign_study("T-DRAFT", author, by=reviewer)
        event = CorpusEvent.objects.get(action="assign_study")
        curation.restore(event.pk, by=author)

        draft.refresh_from_db()
        assert (draft.labels, draft.assignee) == (["To read", "Doses"], None)
        assert curation.publish(["T-DRAFT"], by=reviewer) == ("T-DRAFT",)

    def test_nobody_publishes_their_own_words(self, draft: Study, author: User, reviewer: User) -> None:
        curation.revise_study("T-DRAFT", by=reviewer, year=1999)
        curation.submit(["T-DRAFT"], by=author)

        with pytest.raises(curation.NotPublishable, match="wrote in it"):
            curation.publish(["T-DRAFT"], by=reviewer)

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


def test_the_desk_walks_through_every_step(client: Client, draft: Study, author: User, reviewer: User) -> None:
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


def test_empty_comments_are_refused(client: Client, draft: Study, author: User) -> None:
    client.force_login(author)

    for text in ("   ", "a\x00b", "\u200b"):
        page = client.post(reverse("admin:corpus_app_study_comments", args=[draft.pk]), {"text": text})
        assert page.status_code == 200
        with pytest.raises(ValidationError):
            curation.comment("T-DRAFT", text, by=author)
    assert not StudyComment.objects.exists()
    assert client.get(reverse("admin:corpus_app_study_comments", args=["99"])).status_code == 404


NOBODY, STAFF = "nobody", "staff without a role"
SINCE = {role: frozenset(ROLES[place:]) for place, role in enumerate(ROLES)}  # each role may what those before it may


VERBS = ("submit", "send_back", "publish", "withdraw", "notice")
ADDED = """
    corpus_app_study corpus_app_collection corpus_app_importjob qa_app_safetyreply qa_app_goldenquestion
""".split()
LISTED = """
    corpus_app_study corpus_app_passage corpus_app_conceptrelation corpus_app_collection corpus_app_corpusevent
    corpus_app_importjob corpus_app_bulkedit qa_app_safetyreply qa_app_answer qa_app_feedback qa_app_gap
    qa_app_goldenquestion qa_app_evaluationrun qa_app_proposal
""".split()


def pages(draft: Study) -> dict[str, tuple[str, dict[str, Any], frozenset[str]]]:
    """Each page of the desk: address, what is posted to it (empty: it is read), and who may."""
    everyone, curators, administrators = SINCE[READERS], SINCE[CURATORS], SINCE[ADMINISTRATORS]
    concept = make_concept("one").pk
    twin = make_study(study_id="T-TWIN", status="draft").study_id
    passage = draft.passages.get().pk
    job = jobs.create_job(b"10.1000/x", file_name="x", by=None, by_name="x", way="lookup").pk
    edit = bulk.choose([draft.study_id], by=None, by_name="x").pk
    state = {"ids": draft.pk, "reason": "why", "notice": "corrected"}
    waiver = {"verb": "waive", "passage": passage, "reason": "x"}
    rows: dict[str, tuple[list[Any], dict[str, Any], frozenset[str]]] = {
        "index": ([], {}, everyone | {STAFF}), "corpus_app_study_change": ([draft.pk], {}, everyone),
        "corpus_app_study_change saved": ([draft.pk], {"title": "x"}, curators),
        "corpus_app_study_delete": ([draft.pk], {"post": "yes"}, curators),
        "corpus_app_passage_change saved": ([passage], {"text": "x"}, curators),
        "corpus_app_concept_change": ([concept], {}, everyone),
        "corpus_app_concept_change saved": ([concept], {"name": "x"}, curators),
        "corpus_app_concept_terms": ([], {}, everyone),
        "corpus_app_concept_terms posted": ([], {"term": "x", "concept": concept}, curators),
        "corpus_app_study_comments": ([draft.pk], {}, everyone),
        "corpus_app_study_comments posted": ([draft.pk], {"text": "x"}, curators),
        "corpus_app_study_quality mended": ([draft.pk], {"verb": "mend_all"}, curators),
        "corpus_app_study_quality waived": ([draft.pk], waiver, curators),
        "corpus_app_study_export": ([], {}, everyone),
        "corpus_app_study_export posted": ([], {"form": "ris", "ids": str(draft.pk)}, everyone),
        "corpus_app_study_duplicates": ([], {}, curators),
        "corpus_app_study_merge": ([], {"keep": draft.study_id, "other": twin, "reason": "x"}, curators),
        "corpus_app_study_retractions": ([], {}, curators),
        "corpus_app_importjob_add posted": ([], {"lookup": "10.1000/x"}, curators),
        "corpus_app_importjob_change": ([job], {}, everyone),
        "corpus_app_importjob_change confirmed": ([job], {"verb": "confirm"}, curators),
        "corpus_app_importjob_report": ([job], {}, everyone), "corpus_app_importjob_file": ([job], {}, everyone),
        "corpus_app_bulkedit_change": ([edit], {}, everyone),
        "corpus_app_bulkedit_change posted": ([edit], {"verb": "cancel"}, curators),
        "corpus_app_encoder": ([], {}, administrators),
        "corpus_app_encoder posted": ([], {"do": "again"}, administrators),
        "qa_app_goldenquestion_import": ([], {}, curators),
        "qa_app_evaluationrun_start": ([], {"post": "yes"}, curators),
        "qa_app_proposal_look": ([], {"post": "yes"}, curators), "auth_user_changelist": ([], {}, administrators),
        "auth_user_add": ([], {}, administrators), "auth_group_add": ([], {}, frozenset()),
    }  # fmt: skip
    rows |= {f"{model}_changelist": ([], {}, everyone) for model in LISTED}
    rows |= {f"{model}_add": ([], {}, curators) for model in ADDED}
    rows |= {f"corpus_app_study_state {verb}": ([verb], state, curators) for verb in VERBS}
    return {
        page: (reverse(f"admin:{page.split()[0]}", args=args), posted, allowed)
        for page, (args, posted, allowed) in rows.items()
    }


def test_each_role_opens_its_pages_and_no_other() -> None:
    desk = pages(make_study(study_id="T-DRAFT", status="draft"))
    people = {role: make_curator(role, role=role) for role in ROLES}
    people[STAFF] = User.objects.create_user("staff", is_staff=True)
    clients = {who: Client() for who in (NOBODY, *people)}
    for who, person in people.items():
        clients[who].force_login(person)
    ranks, wrong = [NOBODY, STAFF, *ROLES], []

    for page, (address, posted, allowed) in desk.items():
        lowest = next((place for place, who in enumerate(ranks) if who in allowed), len(ranks))
        for who in {NOBODY, *ranks[lowest - 1 : lowest + 1]}:  # the highest who may not and the lowest who may
            with transaction.atomic():
                before = CorpusEvent.objects.count()
                response = clients[who].post(address, posted) if posted else clients[who].get(address)
                is_sent_away = "/login/" in response.headers.get("Location", "")
                if who in allowed:
                    is_right = response.status_code in {200, 302} and not is_sent_away
                else:
                    is_refused = response.status_code == 403 or is_sent_away
                    is_right = is_refused and CorpusEvent.objects.count() == before
                if not is_right:
                    wrong.append((page, who, response.status_code))
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
            {"username": who.username, "is_active": "on", "is_staff": "on", "groups": [curators.pk],
             "is_superuser": "on", "user_permissions": ["1"]},
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

    assert re.search(rf'value="{view.pk}" id="\w+" checked> View</label>', page)
    assert re.search(rf'value="{publish.pk}" id="\w+"> Publish', page)
    assert set(role.permissions.all()) == {view, publish}
