"""What the gate stops at the desk: the form of a published study or passage shows why, and two ways on."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app.models import Passage, QualityWaiver, Study
from tests.builders import make_study
from tests.corpus.test_admin import address, errors, form_of

pytestmark = pytest.mark.django_db

SOUND = "A sound text about squats."
BROKEN = "Strength rose more with ten sets (P B 0.05) than with five. The men trained for ten weeks."
MENDED = BROKEN.replace("P B", "P ≤")


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


def test_a_new_passage_is_looked_at_too(client: Client, study: Study) -> None:
    url = address("study_change", study.pk)
    new = {"passages-TOTAL_FORMS": 3, "passages-2-section": "results", "passages-2-kind": "summary"}

    shown = errors(client.post(url, form_of(client, url) | new | {"passages-2-text": BROKEN}))
    assert "passage 3" in shown
    client.post(url, form_of(client, url) | new | {"passages-2-text": BROKEN, "_mended": "1"})

    assert study.passages.get(position=2).text == MENDED
