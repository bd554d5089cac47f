"""Those who may object to a publication are asked without holding anybody up, and again where the corpus has moved on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from corpus_app import curation, hooks
from corpus_app.models import CorpusVersion, Study
from tests.builders import make_study

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(work: Callable[[], object]) -> None:
    """Do it on a connection of its own, as another curator would."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as another:
        another.submit(run).result()


def object_while_others_publish(study_ids: Sequence[str]) -> Iterator[str]:
    """Another study comes out while this one is looked at; once it has, this one is not welcome any more."""
    if Study.objects.filter(study_id="T-OTHER", status="published").exists():
        yield "the other one says the same."
    elsewhere(lambda: Study.objects.filter(study_id="T-OTHER").update(status="published"))
    elsewhere(lambda: CorpusVersion.objects.create(number=1, at=timezone.now(), summary="T-OTHER"))


def test_what_has_moved_on_in_the_meantime_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "publish_checks", [object_while_others_publish])
    study, _ = make_study(status="draft"), make_study(study_id="T-OTHER", status="draft")

    with pytest.raises(curation.NotPublishable, match="the other one says the same"):
        curation.publish([study.study_id], by=None, by_name="tests")

    assert Study.objects.get(pk=study.pk).status == "draft"
