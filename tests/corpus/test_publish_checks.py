"""Those who may object to a publication are asked without holding anybody up, and again where the corpus has moved on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Thread

import pytest
from django.db import connection
from django.utils import timezone

from corpus_app import curation, hooks
from corpus_app.curation.acts import VERSION_LOCK
from corpus_app.models import CorpusVersion, Study
from tests.builders import make_study

pytestmark = pytest.mark.django_db(transaction=True)

asked: list[str] = []


def elsewhere(work: Callable[[], None]) -> None:
    """Does it on a connection of its own, as another curator would, and waits for it."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = Thread(target=run)
    thread.start()
    thread.join()


def object_to_nothing(study_ids: Sequence[str]) -> Iterator[str]:
    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [VERSION_LOCK])
            asked.append("free" if cursor.fetchone()[0] else "held")
            cursor.execute("SELECT pg_advisory_unlock_all()")

    elsewhere(look)
    yield from ()


def object_while_others_publish(study_ids: Sequence[str]) -> Iterator[str]:
    """Another study comes out while this one is looked at; once it has, this one is not welcome any more."""
    if Study.objects.filter(study_id="T-OTHER", status="published").exists():
        yield "the other one says the same."
    asked.append("asked")
    elsewhere(lambda: Study.objects.filter(study_id="T-OTHER").update(status="published"))
    elsewhere(lambda: CorpusVersion.objects.create(number=1, at=timezone.now(), summary="T-OTHER"))


@pytest.fixture(autouse=True)
def fresh() -> None:
    asked.clear()


def check(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(hooks, "publish_checks", [globals()[name]])


def test_the_versions_are_free_while_the_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, "object_to_nothing")
    study = make_study(status="draft")

    curation.publish([study.study_id], by=None, by_name="tests")

    assert asked == ["free"]
    assert CorpusVersion.objects.count() == 1


def test_what_has_moved_on_in_the_meantime_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    check(monkeypatch, "object_while_others_publish")
    study, _ = make_study(status="draft"), make_study(study_id="T-OTHER", status="draft")

    with pytest.raises(curation.NotPublishable, match="the other one says the same"):
        curation.publish([study.study_id], by=None, by_name="tests")

    assert asked == ["asked"]
    assert Study.objects.get(pk=study.pk).status == "draft"
