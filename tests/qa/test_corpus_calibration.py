"""The estimates are fitted to a corpus without labels, by questions made from its own texts."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from corpus_app import curation, search
from qa_app.answers import asking
from qa_app.answers.corpus import SearchedCorpus
from qa_app.evaluation import corpus_calibration, made_questions
from qa_app.evaluation.corpus_calibration import auroc, fit
from qa_app.models import CorpusCalibration
from qa_app.tasks import calibrate_corpus
from tests.builders import make_finding, make_study
from tests.fakes import WordHashEncoder

SUBJECTS = (
    "beans peas leeks kale onions garlic chard carrots beets radish turnips spinach lettuce cress rocket fennel".split()
)
TASKS = "sowing watering pruning".split()


@pytest.mark.parametrize("shift", [-1.0, 0.0, 2.0])
def test_the_decision_moves_with_the_corpus(shift: float) -> None:
    draw = np.random.default_rng(1)
    yes, no = draw.normal(1.5 + shift, 1, 200), draw.normal(-1.5 + shift, 1, 200)

    slope, offset = fit([*yes, *no], [True] * 200 + [False] * 200)

    assert -offset / slope == pytest.approx(shift, abs=0.5)
    assert auroc(yes, no) > 0.95


@pytest.fixture
def garden(db: None, encoder: WordHashEncoder) -> None:
    for number, subject in enumerate(SUBJECTS):
        texts = tuple(
            f"{task.capitalize()} of {subject} takes {number} days in plot {subject[::-1]} of a garden."
            for task in TASKS
        )
        study = make_study(
            study_id=f"G{number:02}",
            title=f"Growing {subject} in raised beds",
            texts=texts,
            status="draft",
            takeaway="",
        )
        if not number:
            make_finding(study, intervention="mulch", outcome="weeds", plain="")
    curation.publish([f"G{number:02}" for number in range(len(SUBJECTS))], by=None, by_name="tests")


def test_questions_are_made_of_every_kind_of_text_and_know_their_source(garden: None) -> None:
    made = corpus_calibration.make_questions()

    texts = {question.text: question.study_id for question in made}
    assert texts["What about Growing kale in raised beds?"] == "G03"
    assert texts["What does mulch do for weeds?"] == "G00"
    assert len(made) > 2 * len(SUBJECTS)
    assert list(made_questions.from_titles([("A", "Kale"), ("B", "Kale and leeks in wet years")])) == [
        made_questions.MadeQuestion("What about Kale and leeks in wet years?", "B")
    ]


def test_a_calibrated_corpus_says_so_and_is_calibrated_anew_once_it_has_changed(garden: None) -> None:
    assert Client().get("/readyz").json()["corpus_calibration"] is None
    assert SearchedCorpus().facts().scaling is None

    calibrate_corpus()
    calibrate_corpus()

    row = CorpusCalibration.objects.get()
    assert row.auroc > 0.8
    assert Client().get("/readyz").json()["corpus_calibration"] == {
        "corpus_version": search.corpus_version(),
        "questions": row.questions,
        "auroc": round(row.auroc, 3),
        "tells": True,
    }
    scaling = SearchedCorpus().facts().scaling
    assert scaling is not None
    assert scaling.answerable(0.5) != 0.5
    assert sum(row["n"] for row in row.bins) == 2 * row.questions
    page = Client().get("/how-it-works/").content.decode()
    assert "fitted to this corpus" in page
    assert f"Answered and wrong, of {2 * row.questions} questions" in page
    curation.withdraw(["G00", "G01"], by=None, by_name="tests", reason="They are old.")
    calibrate_corpus()
    assert CorpusCalibration.objects.count() == 2


@pytest.mark.parametrize(("lead_offset", "outcome"), [(9.0, "partial"), (-9.0, "out_of_scope")])
def test_a_part_is_answered_only_where_the_lead_is_likely(garden: None, lead_offset: float, outcome: str) -> None:
    figures = {"slope": 1.0, "offset": 9.0, "lead_slope": 1.0, "lead_offset": lead_offset}
    CorpusCalibration.objects.create(
        corpus_version=1, passages=45, models_version="test", questions=99, auroc=0.9, figures=figures
    )

    assert asking.ask(question="Is watering of kale in plot elak good against wireworms?")["outcome"] == outcome


def test_a_corpus_of_few_texts_is_left_as_it_is(db: None, encoder: WordHashEncoder) -> None:
    make_study(texts=("Kale is sown in spring and eaten in winter by most gardeners.",))

    with pytest.raises(CommandError, match="Too few questions"):
        call_command("calibrate", "corpus")
    assert CorpusCalibration.newest() is None
