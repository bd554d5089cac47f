"""Template tags and static files: unbroken figures, marked words, languages, and files as they are listed."""

import gzip
import hashlib
import json
import re
import warnings
from pathlib import Path

import django_htmx
import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.template import Context, TemplateSyntaxError, engines
from django.template.base import Template
from django.test import AsyncClient, override_settings
from django.utils import translation

from corpus_app.templatetags import corpus_words
from qa_app.answers.presentation import Words
from qa_app.templatetags import answer_words

TERM = {"id": "few", "name": "few sets", "definition": "Up to four."}


@pytest.mark.parametrize(
    ("text", "kept"),
    [("a trend only (P = 0.074).", "P = 0.074"), ("ES = −0.20, small", "ES = −0.20"),
     ("at P < 0.05 & more", "P &lt; 0.05"), ("0.8 g/kg/day of protein", "0.8 g/kg/day"),
     ("(95% CI 0.1 to 0.3)", "95% CI"), ("2.49 kg more", "2.49 kg"), ("that 2–3 RM is best", "2–3 RM")],
)  # fmt: skip
def test_a_figure_stays_with_its_sign_or_unit(text: str, kept: str) -> None:
    assert f'<span class="as-one">{kept}</span>' in corpus_words.unbroken(text)


def test_a_term_has_the_signs_beside_it_and_no_letter_is_lost() -> None:
    words = (Words("Gains (“"), Words("few sets", TERM), Words("”), and "), Words("few sets", TERM), Words(")("))

    told = answer_words.stretches(words)

    lines = [opening + text + closing for opening, text, closing, _ in told]
    assert lines == ["Gains ", "(“few sets”),", " and ", "few sets)", "("]
    assert [term for *_, term in told] == [None, TERM, None, TERM, None]
    assert answer_words.stretches((Words("(alone)"),)) == [("", "(alone)", "", None)]


def template(text: str, *, usual: bool = True) -> Template:
    engine = engines["django"].engine
    return engine.from_string(text if usual else "{% load i18n %}" + text)


def test_languages_are_marked_where_corpus_and_page_differ() -> None:
    marked = template("<q{% in_english %}></q><b{% in_page_language %}></b>")
    asked = template("{% for code in codes %}<i{% in_language code %}></i>{{ text|marked_as:code }}{% endfor %}")
    context = Context({"codes": ["en", "de", None], "text": "<"})

    with translation.override("en-gb"):
        assert marked.render(Context()) == '<q dir="auto"></q><b></b>'
    with translation.override("de"):
        assert marked.render(Context()) == '<q lang="en" dir="auto"></q><b lang="de"></b>'
        parts = [f'<i{lang} dir="auto"></i><span{lang} dir="auto">&lt;</span>' for lang in (' lang="en"', "", "")]
        assert asked.render(context) == "".join(parts)
    with pytest.raises(TemplateSyntaxError, match="takes nothing"):
        template("{% in_english now %}")


STATIC = Path(__file__).resolve().parents[2] / "static"
VENDOR = STATIC / "vendor"
OURS = ("site.css", "words.js", "site.js", "suggesting.js", "asking.js", "answer.js", "for_me.js")
MOST_COMPRESSED = 60_000  # bytes of style and script, all that a reader's pages load
LISTED = json.loads((VENDOR / "VENDORED.json").read_text(encoding="utf-8"))


def test_vendored_files_are_as_listed_and_all_are() -> None:
    listed = {row["file"] for row in LISTED} | {row["licence_file"] for row in LISTED} | {"VENDORED.json"}

    for row in LISTED:
        assert hashlib.sha256((VENDOR / row["file"]).read_bytes()).hexdigest() == row["sha256"], row["file"]
        assert (VENDOR / row["licence_file"]).read_text(encoding="utf-8").strip()
    assert {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()} == listed


def test_style_and_script_are_small_and_name_no_other_host() -> None:
    htmx = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"
    files = [*(STATIC / name for name in OURS), VENDOR / "pico.min.css", htmx]
    named = re.findall(r'url\("([^"]+)"\)', (STATIC / "site.css").read_text(encoding="utf-8"))

    assert sum(len(gzip.compress(path.read_bytes())) for path in files) < MOST_COMPRESSED
    for name in OURS:
        text = (STATIC / name).read_text(encoding="utf-8")
        assert re.findall(r"https?://|//[a-z]+\.", text) == [], name
    assert named
    assert [name for name in named if not (STATIC / name).is_file()] == []


def get(path: str, **headers: str) -> HttpResponse:
    """As the asynchronous server answers, by the files as they stand."""
    with override_settings(WHITENOISE_AUTOREFRESH=True, WHITENOISE_USE_FINDERS=True):
        return async_to_sync(AsyncClient().get)(path, headers=headers)


@pytest.mark.parametrize("name", ["site.css", "asking.js", "favicon.svg"])
def test_files_are_sent_whole_by_an_asynchronous_server(name: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="StreamingHttpResponse")
        reply = get(f"/static/{name}")

    assert reply.status_code == 200
    assert not reply.streaming
    assert reply.content == (STATIC / name).read_bytes()
    assert reply["Content-Length"] == str(len(reply.content))
