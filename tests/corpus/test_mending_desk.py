"""The desk's pages for mending broken text and merging twins, and what the gate stops in its forms."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from corpus_app import curation
from corpus_app.curation import gate, merging
from corpus_app.models import CorpusEvent, Passage, QualityWaiver, Study
from tests.builders import make_concept, make_finding, make_study, work
from tests.corpus.test_admin import address, errors, form_of
from tests.corpus.test_gate import BROKEN, MENDED
from tests.corpus.test_import_desk import at, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(curator: User) -> Study:
    return make_study(texts=("A sound text about squats.", BROKEN), status="draft")


def finding(study: Study) -> tuple[int, str]:
    ((pk, (held,)),) = gate.faults_of(Passage.objects.filter(study=study)).items()
    return pk, held.key


def test_findings_are_shown_with_their_mend_and_a_button_mends_them(client: Client, broken: Study) -> None:
    pk, key = finding(broken)

    for page in (client.get(at("study_change", broken.pk)), client.get(at("passage_change", pk))):
        shown = text_of(page)
        assert "<mark>P B 0.05</mark>" in shown or "<mark>B</mark>" in shown
        assert key in shown
        assert "Accept this correction" in shown
    assert "looks broken" in text_of(client.get(at("study_state", "publish"), {"ids": broken.pk}))
    gate.refresh()
    assert "1 passage" in text_of(client.get(at("passage_changelist"), {"text": "open"}))
    assert "Passages with broken text" in text_of(client.get(reverse("admin:index")))

    mend = {"verb": "mend", "passage": pk, "finding": key, "back": "passage"}
    response = client.post(at("study_quality", broken.pk), mend)
    assert response.headers["Location"] == at("passage_change", pk)
    assert "(P ≤ 0.05)" in Passage.objects.get(pk=pk).text
    assert "Text that looks broken" not in text_of(client.get(at("study_change", broken.pk)))


def test_a_finding_is_waived_with_a_reason(client: Client, broken: Study) -> None:
    pk, key = finding(broken)
    post = {"verb": "waive", "passage": pk, "finding": key}

    assert "Give the reason" in text_of(client.post(at("study_quality", broken.pk), post, follow=True))
    assert not QualityWaiver.objects.exists()
    page = text_of(client.post(at("study_quality", broken.pk), post | {"reason": "So it stands."}, follow=True))

    assert "So it stands." in page
    assert QualityWaiver.objects.get().by_name == "curator"


def test_nonsense_posted_to_the_gate_is_not_found(client: Client, broken: Study) -> None:
    address = at("study_quality", broken.pk)

    assert client.get(address).status_code == 404
    for posted in (
        {"verb": "mend"}, {"verb": "x"}, {"verb": "mend", "passage": "99"}, {"verb": "waive", "passage": "9" * 30},
    ):  # fmt: skip
        assert client.post(address, posted).status_code == 404, posted
    assert not CorpusEvent.objects.exists()


@pytest.fixture
def twins(curator: User) -> tuple[Study, Study]:
    title = "Weekly sets and growth in trained men and women"
    keep = make_study(study_id="A1", title=title, doi=None, url=None, journal=None, texts=("Shared words.",))
    other = make_study(
        study_id="A2", title=f"{title}.", doi="10.1000/a2", journal="Journal",
        texts=("Shared words.", "Words of its own."), concepts=(make_concept(),), status="draft",
    )  # fmt: skip
    make_finding(other)
    return keep, other


def test_twins_are_found_or_chosen_and_shown_side_by_side(client: Client, twins: tuple[Study, Study]) -> None:
    assert "keep=A1&amp;other=A2" in text_of(client.get(at("study_duplicates")))  # the published one stays
    merge, listed = f"{at('study_merge')}?keep=A1&other=A2", at("study_changelist")
    for chosen, led_to in ((twins, merge), (twins[:1], listed)):
        act = {"action": "merge_studies", "_selected_action": [study.pk for study in chosen]}
        assert client.post(at("study_changelist"), act).headers["Location"] == led_to

    page = text_of(client.get(at("study_merge"), {"keep": "A1", "other": "A2"}))

    assert 'value="doi" aria-label="Take DOI of A2" checked' in page
    assert "Words of its own." in page
    assert "(there already)" in page


def test_merging_moves_what_was_chosen_and_withdraws_the_other(client: Client, twins: tuple[Study, Study]) -> None:
    keep, other = twins
    passages = list(other.passages.values_list("pk", flat=True))
    assert "Give the reason" in text_of(client.post(at("study_merge"), {"keep": "A1", "other": "A2"}))
    assert "Give the reason" in text_of(client.post(at("study_merge"), {"keep": "A1", "other": "A2"}))

    client.post(
        at("study_merge"),
        {"keep": "A1", "other": "A2", "take": ["doi", "journal", "concepts", "findings", "status", "nonsense"],
         "passages": passages, "reason": "The same trial."},
    )  # fmt: skip

    keep.refresh_from_db()
    other.refresh_from_db()
    assert (keep.doi, keep.journal, keep.status) == ("10.1000/a2", "Journal", "published")
    assert list(keep.passages.order_by("position").values_list("text", flat=True)) == [
        "Shared words.",
        "Words of its own.",
    ]
    assert (keep.concepts.count(), keep.findings.count()) == (1, 1)
    assert (other.doi, other.status, other.status_reason) == (None, "withdrawn", "Merged into A1. The same trial.")
    assert other.passages.count() == 2
    actions = list(CorpusEvent.objects.order_by("id").values_list("action", "study_key"))
    assert actions[-2:] == [("withdraw", "A2"), ("merge_study", "A1")]
    assert list(merging.pairs()) == []


def test_a_merge_that_takes_something_from_readers_is_refused(twins: tuple[Study, Study], curator: User) -> None:
    broken = make_study(study_id="A3", texts=(BROKEN,), status="draft")
    passages = [passage.pk for passage in broken.passages.all()]
    make_study(study_id="A4", notice="retracted")

    for keep, other, moved, reason in (
        ("A2", "A1", [], "merge A2 into A1, or publish A2 first"), ("A1", "A4", [], "set that of A1 first"),
        ("A1", "A3", passages, "looks broken"), ("A1", "A1", [], "not merged with itself"),
    ):  # fmt: skip
        with pytest.raises(curation.CannotMerge, match=reason):
            curation.merge(keep, other, take=[], passages=moved, reason="x", by=curator)

    assert Study.objects.get(study_id="A1").status == "published"
    assert not CorpusEvent.objects.exists()


def test_sure_pairs_are_accepted_at_once_and_others_told_apart(client: Client, twins: tuple[Study, Study]) -> None:
    title = "Creatine and sprinting of cyclists in the heat"
    for key, words in (("B1", "Words."), ("B2", "Words!"), ("B3", "Other words here.")):
        make_study(study_id=key, title=title, doi=None, texts=(words,), status="draft", labels=[key], year=2019)
    make_study(study_id="C1", title=f"{title}s", doi=None, status="draft", year=2019)
    address = at("study_duplicates")
    page = text_of(client.get(address))
    assert "first author: 4." in page
    assert 'aria-label="Merge C1 into B1"' in page

    accepted = client.post(address, {"verb": "accept"})
    edit = accepted.headers["Location"]
    told = text_of(client.get(edit))
    assert "2 would change" in told
    assert "1 left as they are: readers see one of the two: give a reason" in told
    before = list(Study.objects.order_by("pk").values("doi", "status", "labels"))
    for again in (True, False):
        client.post(edit, {"verb": "confirm"})
        work()
        assert Study.objects.get(study_id="B2").status_reason == "Merged into B1."
        if again:  # all of it is undone, and done once more
            undo = client.post(edit, {"verb": "undo"}).headers["Location"]
            client.post(undo, {"verb": "confirm"})
            work()
            assert list(Study.objects.order_by("pk").values("doi", "status", "labels")) == before
            assert Study.objects.get(study_id="B1").passages.count() == 1
            edit = client.post(address, {"verb": "accept"}).headers["Location"]
    kept = Study.objects.get(study_id="B1")
    assert kept.labels == ["B1", "B2", "B3"]
    assert list(kept.passages.order_by("position").values_list("text", flat=True)) == ["Words.", "Other words here."]

    client.post(address, {"verb": "apart:B1 C1"})
    page = text_of(client.get(address))
    assert "B1 and C1, said curator" in page
    assert "Merge C1 into B1" not in page
    client.post(address, {"verb": "together:B1 C1"})
    client.post(address, {"verb": "merge:B1 C1"})
    edit = client.post(address, {"verb": "accept", "reason": "The same trial."}).headers["Location"]
    client.post(edit, {"verb": "confirm"})
    work()
    assert "No two studies look alike." in text_of(client.get(address))
    assert Study.objects.get(study_id="A2").status_reason == "Merged into A1. The same trial."


SOUND = "A sound text about squats."


@pytest.fixture
def study(curator: User) -> Study:
    return make_study(texts=(SOUND, "Another sound text."))


def pages(study: Study) -> list[tuple[str, str]]:
    """Where the words of its first passage are edited, and under which name."""
    return [
        (address("study_change", study.pk), "passages-0-text"),
        (address("passage_change", study.passages.get(position=0).pk), "text"),
    ]


def words(study: Study) -> str:
    return study.passages.get(position=0).text


@pytest.mark.parametrize("page", [0, 1], ids=["study", "passage"])
def test_a_button_saves_with_the_mends_put_in(client: Client, study: Study, page: int) -> None:
    url, name = pages(study)[page]
    Passage.objects.filter(study=study, position=1).update(text=BROKEN)  # not touched here: stays as it is

    response = client.post(url, form_of(client, url) | {name: BROKEN, "_mended": "1"})

    assert response.status_code == 302
    assert words(study) == MENDED
    assert study.passages.get(position=1).text == BROKEN


@pytest.mark.parametrize("page", [0, 1], ids=["study", "passage"])
def test_broken_text_is_refused_unless_a_reason_is_given(client: Client, study: Study, page: int) -> None:
    url, name = pages(study)[page]
    posted = form_of(client, url) | {name: f"{BROKEN} <script>"}

    shown = errors(client.post(url, posted))
    assert "its new text looks broken: passage 1" in shown
    assert f"{BROKEN} &lt;script&gt;" in shown
    assert "Accept the corrections, and save" in shown
    assert "Keep as it is, and save" in shown
    assert "Give the reason" in errors(client.post(url, posted | {"_stands": "1", "stands_because": " "}))
    assert words(study) == SOUND

    reason = "So it stands in the paper."
    response = client.post(url, posted | {"_stands": "1", "stands_because": reason})
    assert response.status_code == 302
    assert words(study) == f"{BROKEN} <script>"
    assert reason in [waiver.reason for waiver in QualityWaiver.objects.all()]
