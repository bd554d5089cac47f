"""Vectors of findings: in step with the words, there for searchable studies only, gone with what they were made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from django.db import transaction
from django.utils import timezone

from corpus_app import embedding, findings, indexing, search
from corpus_app.embedding import Matrix
from corpus_app.models import CorpusVersion, Finding, FindingVector, Study
from corpus_app.records import NearFinding
from tests.builders import make_finding, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

QUESTION = "quadriceps thickness"


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


@pytest.fixture
def study() -> Study:
    """A published study of two passages and two findings, not indexed yet."""
    study = make_study()
    make_finding(study, statement="Sleep was the same.", outcome="sleep")
    make_finding(study)
    return study


def near(study: Study) -> tuple[NearFinding, ...]:
    return search.near_findings(search.encode_question(QUESTION), list(study.passages.values_list("pk", flat=True)))


def reword(study: Study, statement: str) -> None:
    with transaction.atomic():
        Finding.objects.filter(study=study).update(statement=statement)
        indexing.sync_study(study)


def test_indexing_gives_every_finding_its_vector(study: Study, encoder: WordHashEncoder) -> None:
    assert indexing.has_work()

    indexing.index_stale()

    vector = FindingVector.objects.get(finding__position=1)
    text = (
        "ten weekly sets versus five weekly sets: quadriceps thickness. "
        "Ten weekly sets increased quadriceps thickness more than five."
    )
    assert np.allclose(vector.vector, encoder.encode([text])[0])
    assert not indexing.has_work()
    assert indexing.audit() == []


def test_a_finding_without_a_comparator_names_none() -> None:
    finding = Finding(intervention="creatine", comparator="", outcome="strength", statement="It rose.")

    assert findings.embedded_texts(finding) == ["creatine: strength. It rose."]


def test_the_questions_by_which_readers_ask_have_vectors_of_their_own(study: Study, encoder: WordHashEncoder) -> None:
    Finding.objects.filter(study=study, position=0).update(asked_as="Do I sleep better?\n\n  Is lifting late bad? \n")
    indexing.sync_study(study)
    indexing.index_stale()

    rows = FindingVector.objects.filter(finding__study=study, finding__position=0).order_by("position")

    assert [row.position for row in rows] == [0, 1, 2]
    texts = ["Do I sleep better?", "Is lifting late bad?"]
    assert np.allclose([row.vector for row in rows][1:], encoder.encode(texts))
    assert indexing.audit() == []


def test_a_study_comes_as_close_as_the_question_by_which_readers_ask_for_it(study: Study) -> None:
    indexing.index_stale()
    (before,) = near(study)

    Finding.objects.filter(study=study, position=0).update(asked_as=QUESTION)
    indexing.index_stale()

    (after,) = near(study)
    assert (before.number, before.said) == (2, None)
    assert (after.number, after.said) == (1, pytest.approx(before.cosine, abs=1e-6))
    assert after.cosine == pytest.approx(1.0, abs=1e-3)


def test_a_question_taken_back_is_compared_no_more(study: Study) -> None:
    Finding.objects.filter(study=study, position=0).update(asked_as=QUESTION)
    indexing.index_stale()

    with transaction.atomic():
        Finding.objects.filter(study=study).update(asked_as="")
        indexing.sync_study(study)
    indexing.index_stale()

    (found,) = near(study)
    assert (found.number, found.said) == (2, None)
    assert FindingVector.objects.count() == 2
    assert indexing.audit() == []


def test_the_closest_finding_is_told_with_the_passages_of_its_study(study: Study) -> None:
    indexing.index_stale()
    other = make_study(study_id="S900")

    vector = search.encode_question(QUESTION)
    ids = list(study.passages.values_list("pk", flat=True))
    (found,) = search.near_findings(vector, [*ids, *other.passages.values_list("pk", flat=True)])

    closest = np.asarray(FindingVector.objects.get(finding__position=1).vector) @ np.asarray(vector)
    assert (found.study_id, found.number, found.passage_ids) == (study.study_id, 2, tuple(sorted(ids)))
    assert found.cosine == pytest.approx(float(closest), abs=1e-6)


def test_a_comparison_that_fails_leaves_the_passages_to_answer(study: Study) -> None:
    indexing.index_stale()
    FindingVector.objects.update(vector=[1.0, 0.0])

    assert near(study) == ()
    assert search.find(QUESTION, search.encode_question(QUESTION)).hits


def test_findings_that_wait_are_left_out(study: Study) -> None:
    assert near(study) == ()


@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"status": "draft"}, {"notice": "retracted"}])
def test_findings_of_a_study_that_leaves_search_are_gone_at_once(study: Study, state: dict[str, str]) -> None:
    indexing.index_stale()

    Study.objects.filter(pk=study.pk).update(**state)

    assert near(study) == ()


def test_a_reworded_finding_is_no_longer_found_by_its_old_words(study: Study) -> None:
    indexing.index_stale()

    reword(study, "Nothing changed.")

    assert near(study) == ()
    assert not FindingVector.objects.exists()
    assert indexing.has_work()


def test_a_finding_reworded_behind_the_door_is_not_compared_and_is_reported(study: Study) -> None:
    indexing.index_stale()

    Finding.objects.update(statement="Nothing changed.")

    assert near(study) == ()
    assert {problem.split(": ")[1] for problem in indexing.audit()} == {
        "it has a vector of former words",
        "it is searchable, but without a vector of its present words",
        "its short texts are not those of its findings, plain sentences and questions",
    }


def test_a_deleted_finding_takes_its_vector_along(study: Study) -> None:
    indexing.index_stale()

    Finding.objects.get(study=study, position=1).delete()

    assert FindingVector.objects.count() == 1


class Meddler(WordHashEncoder):
    """Encodes only after somebody else has done something."""

    def __init__(self, meddle: Callable[[], None], *, times: int = 1) -> None:
        super().__init__()
        self._meddle, self._times = meddle, times

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        rows = super().encode(texts, threads=threads)
        if self._times:
            self._times -= 1
            self._meddle()
        return rows


def test_an_edit_during_embedding_leaves_no_stale_vector(study: Study) -> None:
    with embedding.use(Meddler(lambda: reword(study, "Nothing changed."))):
        indexing.index_stale()

        assert not indexing.has_work()
        assert indexing.audit() == []


def test_another_encoder_compares_only_with_its_own_vectors_and_the_old_ones_go_in_the_end(study: Study) -> None:
    indexing.index_stale()

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        assert near(study) == ()
        assert indexing.has_work()
        indexing.index_stale()
        assert len(near(study)) == 1
        indexing.drop_superseded()

    assert set(FindingVector.objects.values_list("encoder", flat=True)) == {"other@test"}


def test_indexing_all_makes_them_anew(study: Study, encoder: WordHashEncoder) -> None:
    indexing.index_stale()
    good = list(FindingVector.objects.order_by("finding").values_list("vector", flat=True))
    FindingVector.objects.update(vector=np.eye(encoder.dimensions)[0])

    indexing.index_all()

    made = list(FindingVector.objects.order_by("finding").values_list("vector", flat=True))
    assert np.allclose(made, good)


def test_findings_are_compared_all_the_while_they_are_made_anew(study: Study) -> None:
    indexing.index_stale()
    asked, ids = search.encode_question(QUESTION), list(study.passages.values_list("pk", flat=True))
    before, meanwhile = search.near_findings(asked, ids), []

    with embedding.use(Meddler(lambda: meanwhile.append(search.near_findings(asked, ids)), times=9)):
        indexing.index_all()

    assert before
    assert meanwhile == [before] * len(meanwhile)
    assert len(meanwhile) >= 2  # while the findings are encoded, and while the passages are


class Choosy(WordHashEncoder):
    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        if any("poison" in text for text in texts):
            raise RuntimeError("no such token")
        return super().encode(texts, threads=threads)


def test_a_finding_that_breaks_the_encoder_is_given_up_and_tried_again_when_it_changes(study: Study) -> None:
    poison = make_finding(study, statement="Some poison here.")

    with embedding.use(Choosy()):
        for _ in range(findings.MAX_ATTEMPTS + 1):
            indexing.index_stale()

        poison.refresh_from_db()
        assert (poison.index_attempts, poison.index_error) == (findings.MAX_ATTEMPTS, "RuntimeError: no such token")
        assert FindingVector.objects.count() == 2
        assert not indexing.has_work()
        assert any("it could not be indexed" in problem for problem in indexing.audit())

        reword(study, "A good text.")
        indexing.index_stale()

        assert FindingVector.objects.count() == 3
        assert indexing.audit() == []


def test_a_run_out_of_time_goes_on_with_the_findings_first(study: Study) -> None:
    Finding.objects.bulk_create(
        Finding(study=study, position=n, intervention="a", outcome=f"outcome {n}", direction="unclear", statement="b")
        for n in range(2, 2 + findings.BATCH)
    )

    assert indexing.index_stale(seconds=0).is_cut_short
    assert FindingVector.objects.count() == findings.BATCH
    assert indexing.index_stale().count == study.passages.count()
    assert FindingVector.objects.count() == findings.BATCH + 2


# --- Compared in a snapshot --------------------------------------------------------------------------------------------


def new_version() -> None:
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 1, at=timezone.now(), summary="a change")


def near_in_search(*studies: Study) -> tuple[NearFinding, ...]:
    vector = search.encode_question(QUESTION)
    with search.snapshot():
        search.find(QUESTION, vector)
        return search.near_findings(vector, [pk for s in studies for pk in s.passages.values_list("pk", flat=True)])


@pytest.fixture
def real(transactional_db: None) -> None:
    """Transactions of the test's own, as readers' questions have."""


@pytest.mark.usefixtures("real")
def test_of_each_study_the_first_of_the_closest_findings_is_given(study: Study) -> None:
    others = [make_study(study_id=f"S90{n}") for n in range(3)]
    for other in others[1:]:
        make_finding(other)
        make_finding(other)  # says the same
    Finding.objects.filter(study=others[2], position=1).update(asked_as="Do calves grow?\nWhat makes thighs thicker?")
    make_finding(make_study(study_id="S990", status="draft"))
    indexing.index_stale()
    new_version()

    found = near_in_search(*others, study)

    assert [(n.study_id, n.number) for n in found if n.study_id != study.study_id] == [("S901", 1), ("S902", 1)]
    assert [n.said is None for n in found if n.study_id in {"S901", "S902"}] == [True, False]
    assert search.near_findings(search.encode_question(QUESTION), [pk for n in found for pk in n.passage_ids]) == found


@pytest.mark.usefixtures("real")
def test_a_vector_that_comes_without_a_new_version_is_compared(study: Study) -> None:
    new_version()
    assert near_in_search(study) == ()

    indexing.index_stale()

    assert [n.study_id for n in near_in_search(study)] == [study.study_id]


@pytest.mark.usefixtures("real")
def test_what_cannot_be_embedded_keeps_nobody_else_from_being_compared(study: Study) -> None:
    make_finding(study, statement="Some poison here.")
    with embedding.use(Choosy()):
        for _ in range(findings.MAX_ATTEMPTS + 1):
            indexing.index_stale()
    new_version()

    assert [(n.study_id, n.number) for n in near_in_search(study)] == [(study.study_id, 2)]


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("state", [{"status": "withdrawn"}, {"status": "draft"}, {"notice": "retracted"}])
def test_the_next_version_has_the_findings_of_its_own_studies(study: Study, state: dict[str, str]) -> None:
    make_finding(make_study(study_id="S900"))
    indexing.index_stale()
    new_version()
    assert [n.study_id for n in near_in_search(study)] == [study.study_id]

    Study.objects.filter(pk=study.pk).update(**state)
    new_version()

    assert near_in_search(study) == ()


@pytest.mark.usefixtures("real")
def test_a_finding_reworded_is_compared_by_its_new_words(study: Study) -> None:
    indexing.index_stale()
    new_version()
    (before,) = near_in_search(study)

    reword(study, QUESTION)
    new_version()
    assert near_in_search(study) == ()
    indexing.index_stale()

    (after,) = near_in_search(study)
    assert after.cosine > before.cosine


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("broken", [{}, {"finding__position": 1}])
def test_findings_that_cannot_be_compared_leave_the_search_both_its_legs(study: Study, broken: dict[str, int]) -> None:
    indexing.index_stale()
    new_version()
    FindingVector.objects.filter(**broken).update(vector=[1.0, 0.0])
    vector = search.encode_question(QUESTION)

    with search.snapshot():
        assert search.near_findings(vector, list(study.passages.values_list("pk", flat=True))) == ()
        found = search.find(QUESTION, vector)

    assert (found.lexical.error, found.dense.error) == (None, None)
    assert found.hits


@pytest.mark.usefixtures("real")
def test_each_encoder_compares_its_own_vectors(study: Study) -> None:
    indexing.index_stale()
    new_version()
    (before,) = near_in_search(study)

    with embedding.use(WordHashEncoder("other@test", dimensions=32)):
        assert near_in_search(study) == ()
        indexing.index_stale()
        (other,) = near_in_search(study)

    assert other.cosine != before.cosine
    assert near_in_search(study) == (before,)


@pytest.mark.usefixtures("real")
@pytest.mark.parametrize("vector", [[1.0, 0.0], [float("nan")] * 64])
def test_a_question_that_cannot_be_compared_has_no_near_finding(study: Study, vector: list[float]) -> None:
    indexing.index_stale()
    new_version()

    with search.snapshot():
        assert search.near_findings(vector, list(study.passages.values_list("pk", flat=True))) == ()


@pytest.mark.usefixtures("real")
def test_where_nothing_was_found_nothing_is_compared() -> None:
    study = make_study()
    new_version()

    assert near_in_search(study) == ()
