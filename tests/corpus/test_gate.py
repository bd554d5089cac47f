"""The text-quality gate before publishing: found, mended, waived, and the waiver that falls with the words."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from corpus_app import curation, hooks, sources
from corpus_app.curation import gate
from corpus_app.models import CorpusEvent, CorpusVersion, Passage, QualityWaiver, Study
from tests.builders import make_curator, make_study

STARTER = Path(__file__).resolve().parents[2] / "corpus"
BROKEN = "Strength rose more with ten sets (P B 0.05) than with five. The men trained for ten weeks."
MENDED = "Strength rose more with ten sets (P ≤ 0.05) than with five. The men trained for ten weeks."


@pytest.fixture
def by(db: None) -> User:
    return make_curator()


def broken_draft(**changes: Any) -> Study:
    return make_study(**({"texts": ("A sound text about squats.", BROKEN), "status": "draft"} | changes))


def found_in(study: Study) -> dict[int, tuple[gate.CheckedFault, ...]]:
    return dict(gate.faults_of(Passage.objects.filter(study=study)))


@pytest.mark.django_db
class TestGate:
    def test_broken_text_can_be_reviewed_but_not_published(self, by: User) -> None:
        study = broken_draft(texts=("Fine words.", BROKEN, BROKEN.replace("Strength", "Thickness")))

        assert curation.submit([study.study_id], by=by) == (study.study_id,)
        with pytest.raises(curation.NotPublishable, match="the text of passages 2, 3 looks broken"):
            curation.publish([study.study_id], by=by)
        assert Study.objects.get().status == "in_review"

        assert curation.correct_study(study.study_id, by=by) == 2
        assert found_in(study) == {}

    def test_a_waiver_with_a_reason_lets_it_through(self, by: User) -> None:
        study = broken_draft()
        ((pk, (held,)),) = found_in(study).items()

        with pytest.raises(curation.ReasonMissing):
            curation.waive(pk, held.key, reason=" ", by=by)
        curation.waive(pk, held.key, reason="So it stands in the paper.", by=by)
        curation.waive(pk, held.key, reason="Twice.", by=by)

        assert [waiver.reason for waiver in QualityWaiver.objects.all()] == ["So it stands in the paper."]
        assert found_in(study)[pk][0].waived == "So it stands in the paper."
        assert curation.publish([study.study_id], by=by) == (study.study_id,)
        assert [e.action for e in CorpusEvent.objects.order_by("id")] == ["waive_finding", "publish"]

    def test_a_waiver_falls_when_the_words_change(self, by: User) -> None:
        study = broken_draft()
        ((pk, (held,)),) = found_in(study).items()
        curation.waive(pk, held.key, reason="So it stands in the paper.", by=by)

        curation.revise_passage(pk, by=by, text=f"{BROKEN} They were twenty.")

        with pytest.raises(curation.NotPublishable, match="looks broken"):
            curation.publish([study.study_id], by=by)
        with pytest.raises(curation.FaultGone):
            curation.apply_corrections(pk, [held.key], by=by)
        with pytest.raises(curation.FaultGone):
            curation.waive(pk, held.key, reason="Late.", by=by)

    def test_minor_defects_do_not_block_publication(self, by: User) -> None:
        told = "Strength rose.The men were trained for ten weeks."
        study = broken_draft(texts=(told,))
        assert [held.is_open for (held,) in found_in(study).values()] == [False]

        assert curation.publish([study.study_id], by=by) == (study.study_id,)
        curation.revise_passage(study.passages.get().pk, by=by, text=f"{told} Ten men left.")


@pytest.mark.django_db
class TestPublishedWords:
    """What readers would see at once."""

    @pytest.fixture
    def study(self) -> Study:
        return make_study(texts=("A sound text about squats.",))

    @staticmethod
    def passage(study: Study) -> Passage:
        return study.passages.get(position=0)

    def test_an_edit_that_breaks_them_is_refused_and_nothing_changes(self, by: User, study: Study) -> None:
        with pytest.raises(curation.BrokenText, match=r"passage 1, operator “.*P B 0.05.*Correct it, or") as refused:
            curation.revise_passage(self.passage(study).pk, by=by, text=BROKEN)

        assert [(new.number, new.fault.mend) for new in refused.value.faults] == [(1, "≤")]
        with pytest.raises(curation.BrokenText, match="passage 2"):
            curation.add_passage(study.study_id, by=by, text=BROKEN, section="results")
        assert list(study.passages.values_list("text", flat=True)) == ["A sound text about squats."]
        assert not CorpusEvent.objects.exists()

    def test_earlier_defects_do_not_block_another_edit(self, by: User, study: Study) -> None:
        Passage.objects.filter(study=study).update(text=BROKEN)  # as an earlier edition of the gate let it through

        curation.revise_passage(self.passage(study).pk, by=by, text=f"{BROKEN} They were twenty.")
        with pytest.raises(curation.BrokenText):
            curation.revise_passage(self.passage(study).pk, by=by, text=f"{BROKEN} Thickness rose too (P B 0.01).")

    def test_putting_an_old_text_back_asks_the_gate_too(self, by: User, study: Study) -> None:
        Passage.objects.filter(study=study).update(text=BROKEN)
        curation.revise_passage(self.passage(study).pk, by=by, text=MENDED)

        with pytest.raises(curation.BrokenText):
            curation.restore(CorpusEvent.objects.get(action="revise_passage").pk, by=by)

    def test_an_import_into_them_is_refused_and_named(self, by: User, tmp_path: Path) -> None:
        (tmp_path / "studies").mkdir()
        file = tmp_path / "studies" / "S045.json"
        values = json.loads((STARTER / "studies" / "S045.json").read_text())
        was, values["passages"][0]["text"] = values["passages"][0]["text"], BROKEN
        file.write_text(json.dumps(values))
        report = curation.import_corpus(sources.read(tmp_path), by=by, publish=True)
        assert (report.published, Study.objects.get().status) == (0, "draft")
        assert any("S045 stays a draft: the text of passage 1" in str(problem) for problem in report.problems)
        file.write_text(json.dumps(values | {"passages": [values["passages"][0] | {"text": was}]}))
        curation.import_corpus(sources.read(tmp_path), by=by, publish=True)
        file.write_text(json.dumps(values))

        report = curation.import_corpus(sources.read(tmp_path), by=by, publish=True)

        assert (report.updated, report.broken) == (0, 1)
        assert any("S045 is published, and its new text looks broken" in str(problem) for problem in report.problems)
        assert self.passage(Study.objects.get()).text == was


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


@pytest.mark.django_db(transaction=True)
def test_what_has_moved_on_in_the_meantime_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "publish_checks", [object_while_others_publish])
    study, _ = make_study(status="draft"), make_study(study_id="T-OTHER", status="draft")

    with pytest.raises(curation.NotPublishable, match="the other one says the same"):
        curation.publish([study.study_id], by=None, by_name="tests")

    assert Study.objects.get(pk=study.pk).status == "draft"
