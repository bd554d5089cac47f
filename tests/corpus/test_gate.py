"""The text-quality gate before publishing: found, mended, waived, and the waiver that falls with the words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from corpus_app import curation, quality, sources
from corpus_app.curation import gate
from corpus_app.models import CorpusEvent, Passage, QualityWaiver, Study
from tests.builders import make_curator, make_study

STARTER = Path(__file__).resolve().parents[2] / "corpus"
BROKEN = "Strength rose more with ten sets (P B 0.05) than with five. The men trained for ten weeks."
MENDED = "Strength rose more with ten sets (P ≤ 0.05) than with five. The men trained for ten weeks."


@pytest.fixture
def by(db: None) -> User:
    return make_curator()


def broken_draft(**changes: Any) -> Study:
    return make_study(**({"texts": ("A sound text about squats.", BROKEN), "status": "draft"} | changes))


def found_in(study: Study) -> dict[int, tuple[gate.CheckedFinding, ...]]:
    return dict(gate.findings_of(Passage.objects.filter(study=study)))


def test_nothing_in_the_starter_corpus_stands_in_the_way() -> None:
    studies = [json.loads(path.read_text()) for path in sorted((STARTER / "studies").glob("*.json"))]
    texts = [passage["text"] for study in studies for passage in study["passages"]]

    assert len(texts) == 822
    assert [f for text in texts for f in quality.check(text) if f.severity == "blocks"] == []


@pytest.mark.django_db
class TestGate:
    def test_a_broken_text_is_not_published_and_the_passage_is_named(self, by: User) -> None:
        study = broken_draft()

        with pytest.raises(curation.NotPublishable, match="the text of passage 2 looks broken"):
            curation.publish([study.study_id], by=by)

        assert Study.objects.get().status == "draft"

    def test_it_can_be_handed_over_nevertheless(self, by: User) -> None:
        study = broken_draft()

        assert curation.submit([study.study_id], by=by) == (study.study_id,)

    def test_the_mend_is_an_edit_like_any_other_and_lets_it_through(self, by: User) -> None:
        study = broken_draft()
        ((pk, (held,)),) = found_in(study).items()

        curation.apply_corrections(pk, [held.key], by=by)

        assert Passage.objects.get(pk=pk).text == MENDED
        event = CorpusEvent.objects.get()
        assert (event.action, event.detail["changes"]["text"]["before"]) == ("revise_passage", BROKEN)
        assert curation.publish([study.study_id], by=by) == (study.study_id,)

    def test_all_mends_of_a_study_at_once(self, by: User) -> None:
        study = broken_draft(texts=(BROKEN, "Fine words.", BROKEN.replace("Strength", "Thickness")))

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
        with pytest.raises(curation.FindingGone):
            curation.apply_corrections(pk, [held.key], by=by)
        with pytest.raises(curation.FindingGone):
            curation.waive(pk, held.key, reason="Late.", by=by)

    def test_what_is_only_told_does_not_stand_in_the_way(self, by: User) -> None:
        study = broken_draft(texts=("Strength rose.The men were trained for ten weeks.",))
        assert [held.is_open for (held,) in found_in(study).values()] == [False]

        assert curation.publish([study.study_id], by=by) == (study.study_id,)

    def test_a_text_is_looked_at_once(self, by: User, django_assert_num_queries: Any, monkeypatch: Any) -> None:
        broken_draft()
        assert gate.refresh() == 2

        def never(*args: Any) -> Any:
            raise AssertionError

        monkeypatch.setattr(quality, "check", never)
        assert gate.refresh() == 0
        assert gate.known_blocked().count() == 1

    def test_another_edition_of_the_gate_looks_again(self, by: User, monkeypatch: Any) -> None:
        broken_draft()
        gate.refresh()

        monkeypatch.setattr(gate, "code_digest", lambda: "another")

        assert gate.stale_passages().count() == 2

    def test_publishing_many_asks_for_each_text_once(self, by: User, django_assert_max_num_queries: Any) -> None:
        ids = [make_study(texts=("One text.", "Two texts."), status="draft").study_id for _ in range(12)]
        gate.refresh()

        with django_assert_max_num_queries(12 * 32):
            assert len(curation.publish(ids, by=by)) == 12

    def test_an_import_that_would_publish_leaves_it_a_draft_and_says_so(self, by: User, tmp_path: Path) -> None:
        values = json.loads((STARTER / "studies" / "S045.json").read_text())
        values["passages"][0]["text"] = BROKEN
        (tmp_path / "studies").mkdir()
        (tmp_path / "studies" / "S045.json").write_text(json.dumps(values))

        report = curation.import_corpus(sources.read(tmp_path), by=by, publish=True)

        assert report.published == 0
        assert any("S045 stays a draft: the text of passage 1" in str(problem) for problem in report.problems)
        assert Study.objects.get().status == "draft"


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
        with pytest.raises(
            curation.BrokenText, match=r"passage 1, operator “.*P B 0.05.*Correct it, or say why"
        ) as refused:
            curation.revise_passage(self.passage(study).pk, by=by, text=BROKEN)

        assert [(fault.number, fault.finding.mend) for fault in refused.value.faults] == [(1, "≤")]
        assert self.passage(study).text == "A sound text about squats."
        assert not CorpusEvent.objects.exists()

    def test_a_broken_passage_is_not_added_to_them(self, by: User, study: Study) -> None:
        with pytest.raises(curation.BrokenText, match="passage 2"):
            curation.add_passage(study.study_id, by=by, text=BROKEN, section="results")

        assert study.passages.count() == 1

    def test_a_reason_lets_them_stand_and_is_kept_as_a_waiver(self, by: User, study: Study) -> None:
        with curation.act(by=by) as current:
            current.accept_broken_text("So it stands in the paper.")
            curation.revise_passage(self.passage(study).pk, by=by, text=BROKEN)

        assert self.passage(study).text == BROKEN
        assert [(w.reason, w.words) for w in QualityWaiver.objects.all()] == [("So it stands in the paper.", "B")]
        assert {e.action for e in CorpusEvent.objects.all()} == {"revise_passage", "waive_finding"}
        assert not gate.filter_blocked(study.passages.all()).exists()

    def test_what_was_broken_before_does_not_stand_in_the_way_of_another_edit(self, by: User, study: Study) -> None:
        Passage.objects.filter(study=study).update(text=BROKEN)  # as an earlier edition of the gate let it through

        curation.revise_passage(self.passage(study).pk, by=by, text=f"{BROKEN} They were twenty.")
        with pytest.raises(curation.BrokenText):
            curation.revise_passage(self.passage(study).pk, by=by, text=f"{BROKEN} Thickness rose too (P B 0.01).")

    def test_what_is_only_told_does_not_stand_in_the_way(self, by: User, study: Study) -> None:
        curation.revise_passage(self.passage(study).pk, by=by, text="Strength rose.The men were trained for ten weeks.")

    def test_an_unpublished_study_takes_any_text(self, by: User) -> None:
        study = make_study(texts=("A sound text about squats.",), status="draft")

        curation.revise_passage(self.passage(study).pk, by=by, text=BROKEN)

    def test_putting_an_old_text_back_asks_the_gate_too(self, by: User, study: Study) -> None:
        Passage.objects.filter(study=study).update(text=BROKEN)
        curation.revise_passage(self.passage(study).pk, by=by, text=MENDED)

        with pytest.raises(curation.BrokenText):
            curation.restore(CorpusEvent.objects.get(action="revise_passage").pk, by=by)

    def test_an_import_into_them_is_refused_and_named(self, by: User, tmp_path: Path) -> None:
        (tmp_path / "studies").mkdir()
        file = tmp_path / "studies" / "S045.json"
        values = json.loads((STARTER / "studies" / "S045.json").read_text())
        file.write_text(json.dumps(values))
        curation.import_corpus(sources.read(tmp_path), by=by, publish=True)
        was = self.passage(Study.objects.get()).text
        values["passages"][0]["text"] = BROKEN
        file.write_text(json.dumps(values))

        report = curation.import_corpus(sources.read(tmp_path), by=by, publish=True)

        assert (report.updated, report.broken) == (0, 1)
        assert any("S045 is published, and its new text looks broken" in str(problem) for problem in report.problems)
        assert self.passage(Study.objects.get()).text == was
