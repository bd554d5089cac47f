"""`translate` and `url` as every page uses them: what they give is what Django's own give."""

from __future__ import annotations

import gettext
from typing import Any

import pytest
from django.template import Context, TemplateSyntaxError, engines
from django.template.base import Template
from django.test import Client
from django.urls import NoReverseMatch, reverse, set_script_prefix
from django.utils import translation
from django.utils.translation import trans_real

from inform_site import language

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


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_said_as_django_says_it_in_each_language(text: str) -> None:
    usual, own = template(text), template(text, usual=False)

    for code in ("en-gb", "de", "en-gb"):
        with translation.override(code):
            assert usual.render(Context({"typed": "<b>"})) == own.render(Context({"typed": "<b>"}))


def test_a_text_is_translated_where_it_has_a_translation() -> None:
    usual = template(TEXTS[0])

    with translation.override("en-gb"):
        assert usual.render(Context()) == "Ask a question"
    with translation.override("de"):
        assert usual.render(Context()) == translation.gettext("Ask a question") != "Ask a question"


def test_words_of_the_corpus_and_of_the_page_are_marked_where_their_languages_differ() -> None:
    marked = template("<q{% in_english %}></q><b{% in_page_language %}></b>")

    with translation.override("en-gb"):
        assert marked.render(Context()) == "<q></q><b></b>"
    with translation.override("de"):
        assert marked.render(Context()) == '<q lang="en"></q><b lang="de"></b>'
    with pytest.raises(TemplateSyntaxError, match="takes nothing"):
        template("{% in_english now %}")


def test_an_address_is_made_as_django_makes_it() -> None:
    usual = template("{% url 'study' study_id %} {% url 'ask' as form %}{{ form }} {% url 'admin:index' %}")

    said = [usual.render(Context({"study_id": study_id})) for study_id in ("S1", "S2", "S1")]

    assert said == [
        " ".join((reverse("study", args=[s]), reverse("ask"), reverse("admin:index"))) for s in ("S1", "S2", "S1")
    ]


def test_an_address_follows_the_place_that_the_site_is_mounted_at() -> None:
    usual = template("{% url 'ask' %}")
    at_the_root = usual.render(Context())

    set_script_prefix("/inform/")
    try:
        assert usual.render(Context()) == "/inform" + at_the_root
    finally:
        set_script_prefix("/")


def test_an_address_that_there_is_not_is_an_error_each_time() -> None:
    for _ in range(2):
        with pytest.raises(NoReverseMatch):
            template("{% url 'no-such-page' 1 %}").render(Context())


def test_an_english_text_is_looked_for_in_no_other_catalogue() -> None:
    language.PageLanguage(lambda request: None)

    british = trans_real.translation("en-gb")

    assert vars(british)["_fallback"] is None
    assert british.gettext("No such text.") == "No such text."
    assert isinstance(vars(trans_real.translation("de"))["_fallback"], gettext.NullTranslations)


@pytest.mark.django_db
def test_a_response_says_how_long_it_took_only_where_the_settings_want_it(client: Client, settings: Any) -> None:
    assert "Server-Timing" not in client.get("/healthz")

    settings.SERVER_TIMING = True

    assert float(client.get("/healthz")["Server-Timing"].removeprefix("app;dur=")) > 0
