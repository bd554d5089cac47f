"""The desk's list of what was done: in words, with what changed as a table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from django.test import Client
from django.urls import reverse

from corpus_app import actions, curation
from corpus_app.curation import entries
from corpus_app.models import CorpusEvent
from tests.builders import make_study, make_superuser

CURATION = Path(curation.__file__).parent
PLACES = {"record": 0, "_change_state": 2, "_change_status": 2}  # which argument of these is the action


def recorded() -> Iterator[str]:
    """Every action that the code of the desk's door names where it records one."""
    for path in CURATION.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            place = PLACES.get(name)
            if place is not None and len(node.args) > place:
                yield from (part.value for part in ast.walk(node.args[place]) if _is_text(part))
    for model in get_args(entries.Entry):
        for verb in ("add", "revise", "delete"):
            yield f"{verb}_{model._meta.verbose_name}".replace(" ", "_")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_every_action_that_is_recorded_has_words_and_no_other_has() -> None:
    assert set(recorded()) == set(actions.ACTIONS)


@pytest.mark.django_db
def test_the_list_tells_actions_in_words(client: Client) -> None:
    client.force_login(make_superuser())
    study = make_study()
    curation.revise_study(study.study_id, by=None, by_name="ada", population="Rowers")

    page = client.get(reverse("admin:corpus_app_corpusevent_changelist")).content.decode()

    assert "Study revised" in page
    assert ">revise_study<" not in page
    assert "By when" in page
    for head in ("When", "Who", "What", "Study", "Corpus version"):
        assert f">{head}</a>" in page


@pytest.mark.django_db
def test_an_event_tells_before_and_after_without_json(client: Client) -> None:
    client.force_login(make_superuser())
    study = make_study(population="Cyclists", texts=("Ten sets.",))
    curation.revise_study(study.study_id, by=None, by_name="ada", population="Rowers")
    event = CorpusEvent.objects.get(action="revise_study")

    page = client.get(reverse("admin:corpus_app_corpusevent_change", args=[event.pk])).content.decode()

    assert '<td class="what-changed" data-of="Before">Cyclists</td>' in page
    assert '<td class="what-changed" data-of="After">Rowers</td>' in page
    assert reverse("admin:corpus_app_study_change", args=[study.pk]) in page
    assert ">None<" not in page
    assert str(event).endswith(f"ada, Study revised, {study.study_id}")
    assert "&quot;" not in page.split("What changed")[1].split("submit-row")[0]


@pytest.mark.django_db
def test_a_deleted_passage_keeps_its_words_in_the_event(client: Client) -> None:
    client.force_login(make_superuser())
    study = make_study(texts=("Ten sets.", "Five sets."))
    passage = study.passages.order_by("position")[0]
    curation.remove_passage(passage.pk, by=None, by_name="ada")
    event = CorpusEvent.objects.get(action="remove_passage")

    page = client.get(reverse("admin:corpus_app_corpusevent_change", args=[event.pk])).content.decode()

    assert "Ten sets." in page
    assert f"{passage.pk}, deleted since" in page
