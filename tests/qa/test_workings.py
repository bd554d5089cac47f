"""The page of how it works: its numbers are the running ones, and it says what is missing."""

import re
from dataclasses import fields, replace
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from corpus_app import search
from qa_app.answers import answering, engines
from qa_app.models import EvaluationRun
from qa_app.pipeline.learned import DEFAULT_ENCODER
from qa_app.pipeline.policy import Policy, read

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that comes with the code, and with models."""
    monkeypatch.setattr(search, "encoder_name", lambda: DEFAULT_ENCODER)


def page() -> str:
    response = Client().get("/how-it-works/")
    assert response.status_code == 200
    return response.content.decode()


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", html)))


def numbers(html: str) -> dict[str, set[str]]:
    """Every figure that the page tells, by its name."""
    told: dict[str, set[str]] = {}
    for value, name in re.findall(r'<data value="([^"]*)" data-figure="(\w+)">', html):
        told.setdefault(name, set()).add(unescape(value))
    return told


def running(policy: Policy) -> dict[str, set[str]]:
    return {f.name: {str(getattr(policy, f.name))} for f in fields(Policy) if f.name != "name"}


def test_every_number_of_the_page_is_the_one_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    html = page()
    assert numbers(html) == running(answering.POLICY)
    assert answering.POLICY.label in html

    changed = read("seed-002, evidence_passages=7, cited_from=0.123")
    monkeypatch.setattr(answering, "POLICY", changed)
    assert numbers(page()) == running(changed)
    assert numbers(page())["evidence_passages"] == {"7"}


def test_held_out_figures_are_those_of_the_model_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files = engines.model_files(search.encoder_name())
    held_out = files["lead"].figures["meaning"]
    text = words(page())

    assert all(file.version in text for file in files.values())
    assert f"Tried on {held_out['questions']:.0f} questions as readers type them" in text
    for name in ("served", "refused", "wrongly_refused", "lead", "auroc_answerable", "mean_confidence", "share_right"):
        assert f"{100 * held_out[name]:.0f} %" in text, name
    assert page().count('class="point"') == len(held_out["bins"])
    (table,) = re.findall(r"<caption>Answered and wrong, of 311 questions</caption>(.*?)</table>", page(), re.DOTALL)
    told = re.findall(r"<td>(\d+) \((\d+)\xa0%\)</td><td>(\d+)\xa0%</td>", table)
    given = sum(row["n"] for row in held_out["bins"])
    wrong = sum(row["n"] * (1 - row["was"]) for row in held_out["bins"])
    assert len(told) == len(held_out["bins"]) == page().count('<circle class="step')
    assert told[-1] == tuple(map(str, (given, round(100 * given / 311), round(100 * wrong / given))))
    bare = {mode: {k: v for k, v in own.items() if k != "bins"} for mode, own in files["lead"].figures.items()}
    monkeypatch.setattr(engines, "model_files", lambda _: files | {"lead": replace(files["lead"], figures=bare)})
    assert '<svg class="diagram"' not in page()


def test_safety_figures_are_those_of_the_classifier_in_use_for_the_routes_in_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models, classifier = engines.load(search.encoder_name())
    assert classifier is not None
    counts = {
        route: classifier.held_out[route] for route in ("crisis", "emergency")
    }  # without a corpus: the urgent ones
    asked, missed = (sum(row[name] for row in counts.values()) for name in ("rows", "classifier missed"))

    text = words(page())

    assert f"On {asked} such questions that the classifier had not seen, it missed {missed};" in text
    assert f"Of {classifier.held_out['none']['rows']} other questions" in text
    monkeypatch.setattr(engines, "load", lambda _: (models, None))
    assert "so there are no figures" in words(page())


def test_the_last_test_is_told_without_its_questions() -> None:
    assert "The last test" not in page()
    cited = {"answerable": {"n": 121, "answered": 0.9421}, "answered": {"cites a main study": 0.9386}}
    EvaluationRun.objects.create(
        status="done", asked_at=timezone.now(), finished_at=timezone.now(), total=162, corpus_version=3, policy="other",
        figures=cited | {"unsupported sentences": 0}, results=[{"question": "Zorblatt?"}],
    )  # fmt: skip
    text = words(page())

    assert "their 162 test questions at corpus version 3, under other settings than today’s" in text
    assert "94 % of 121 that the corpus answers" in text
    assert "Zorblatt" not in text
