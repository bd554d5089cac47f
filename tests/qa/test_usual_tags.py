"""`translate` and `url` as every page uses them: what they give is what Django's own give."""

from __future__ import annotations

from typing import Any

import pytest
from django.template import Context, TemplateSyntaxError, engines
from django.template.base import Template
from django.test import Client
from django.urls import NoReverseMatch, reverse, set_script_prefix
from django.utils import translation

TEXTS = (
    '{% translate "Ask a question" %}',
    "{% translate 'It is 100% so: \"a\" & <b>' %}",
    '{% translate "Ask a question"|upper %}',
    '{% translate "Ask a question" as said %}{{ said }}',
    "{% translate typed %}",
)


def template(text: str, *, usual: bool = True) -> Template:
    engine = engines["django"].engine
    return engine.from_string(text if usual else "{% load i18n %}" + text)


def test_a_text_is_said_as_django_says_it_in_each_language() -> None:
    for text in TEXTS:
        usual, own = template(text), template(text, usual=False)
        for code in ("en-gb", "de", "en-gb"):
            with translation.override(code):
                assert usual.render(Context({"typed": "<b>"})) == own.render(Context({"typed": "<b>"})), text


def test_words_of_the_corpus_and_of_the_page_are_marked_where_their_languages_differ() -> None:
    marked = template("<q{% in_english %}></q><b{% in_page_language %}></b>")

    with translation.override("en-gb"):
        assert marked.render(Context()) == "<q></q><b></b>"
    with translation.override("de"):
        assert marked.render(Context()) == '<q lang="en"></q><b lang="de"></b>'
    with pytest.raises(TemplateSyntaxError, match="takes nothing"):
        template("{% in_english now %}")


def test_an_address_is_made_as_django_makes_it_wherever_the_site_is_mounted() -> None:
    usual = template("{% url 'study' study_id %} {% url 'ask' as form %}{{ form }} {% url 'admin:index' %}")

    def expected(study_id: str) -> str:
        return " ".join((reverse("study", args=[study_id]), reverse("ask"), reverse("admin:index")))

    assert [usual.render(Context({"study_id": s})) for s in ("S1", "S2", "S1")] == [*map(expected, ("S1", "S2", "S1"))]
    set_script_prefix("/inform/")
    try:
        assert usual.render(Context({"study_id": "S1"})) == expected("S1")
        assert expected("S1").startswith("/inform/")
    finally:
        set_script_prefix("/")
    for _ in range(2):
        with pytest.raises(NoReverseMatch):
            template("{% url 'no-such-page' 1 %}").render(Context())


@pytest.mark.django_db
def test_a_response_says_how_long_it_took_only_where_the_settings_want_it(client: Client, settings: Any) -> None:
    assert "Server-Timing" not in client.get("/healthz")

    settings.SERVER_TIMING = True

    assert float(client.get("/healthz")["Server-Timing"].removeprefix("app;dur=")) > 0
