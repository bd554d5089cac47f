"""Every text of the public pages has a translation, and a page is in one language but for words of the corpus."""

import gettext
import re
from html import unescape

import polib
import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from corpus_app import search
from corpus_app.records import Design, StudyTotal, TraitCounts
from corpus_app.site import Site, SiteTexts
from corpus_app.templatetags import corpus_words, language
from qa_app.answers import comparing
from qa_app.pipeline import confidence, endings
from qa_app.pipeline.lexicon import read_tables
from qa_app.pipeline.policy import DEFAULT
from qa_app.pipeline.question import about_sentences
from qa_app.pipeline.question.about_filters import Filters
from qa_app.pipeline.question.safety import SafetyLexicon, with_instead
from qa_app.templatetags import answer_words, counted_words, stored_words, working_words
from tests import messages
from tests.pipeline.corpora import SITE
from tests.pipeline.values import make_study
from tests.qa.payloads import make_payload, make_refusal

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
PLACE = re.compile(r"%\(\w+\)s|%%|\{\w+\}")
TAG = re.compile(r"<[^>]*>")
LEXICONS = read_tables(messages.ROOT / "corpus" / "lexicon")
ROUTES = tuple(route for corpus in ({}, LEXICONS) for route in SafetyLexicon.build(corpus).routes.values())
WORDS = {text for route in ROUTES for text in (route.message, route.instead)}
INSTEAD = next(route.instead for route in ROUTES if route.name == "drugs")
WITH_FACETS = Site(
    facets=SITE.facets,
    phrase_lists=SITE.phrase_lists,
    translations={"de": SiteTexts(facet_words=SITE.translations["de"].facet_words)},
)
GERMAN = {"Accept-Language": "de-DE,de;q=0.9,en;q=0.5"}


@pytest.fixture(autouse=True)
def starter_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "lexicons", lambda: LEXICONS)
    monkeypatch.setattr(search, "site", lambda: WITH_FACETS)


def left_open(names: str) -> str:
    return f"The quoted passages do not mention {names}. The answer covers the rest of the question."


def texts(code: str) -> polib.POFile:
    return polib.pofile(str(messages.catalogue(code)))


def compiled(code: str) -> gettext.GNUTranslations:
    with messages.catalogue(code).with_suffix(".mo").open("rb") as file:
        return gettext.GNUTranslations(file)


def forms(entry: polib.POEntry) -> list[tuple[str, str]]:
    """Each form of a text beside its translation."""
    if not entry.msgid_plural:
        return [(entry.msgid, entry.msgstr)]
    return [(entry.msgid, entry.msgstr_plural[0]), (entry.msgid_plural, entry.msgstr_plural[1])]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_catalogue_holds_every_text_and_no_other(code: str) -> None:
    found = messages.gathered()
    wanted = {(message.msgid, message.plural) for message in found}

    assert len({message.msgid for message in found}) == len(found), "a plural in one place and none in another"
    assert {(entry.msgid, entry.msgid_plural) for entry in texts(code)} == wanted, "run `make messages`"


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_text_is_translated_whole_and_compiled(code: str) -> None:
    told = compiled(code)
    for entry in texts(code):
        assert "fuzzy" not in entry.flags, entry.msgid
        for number, (english, translated) in enumerate(forms(entry), 1):
            assert translated.strip(), english
            assert sorted(PLACE.findall(translated)) == sorted(PLACE.findall(english)), english
            assert sorted(TAG.findall(translated)) == sorted(TAG.findall(english)), english
            plural = entry.msgid_plural
            said = told.ngettext(entry.msgid, plural, number) if plural else told.gettext(entry.msgid)
            assert said == translated, "run `make messages`"


def test_scripts_are_given_every_word_that_they_say_and_no_other() -> None:
    assert set(language.SCRIPT_WORDS) == messages.in_scripts()


def test_templates_leave_no_words_untranslated() -> None:
    """What is left of a public template without its tags, its markup and what is translated: no words."""
    untranslated = re.compile(
        r"{% blocktranslate.*?{% endblocktranslate %}|{#.*?#}|{%.*?%}|{{.*?}}|<code>.*?</code>|<script.*?</script>",
        re.S,
    )
    names = {"InForm", "doi", "ms"}  # and the unit of the time taken
    for path in sorted((messages.ROOT / "templates").rglob("*.html")):
        if {"admin", "drf_spectacular"} & set(path.parts):
            continue
        marked = untranslated.sub("", path.read_text(encoding="utf-8"))
        seen = re.sub(r"<!doctype html>|<[^<>]*>", " ", marked)
        told = re.findall(r'\b(?:aria-label|title|alt)="([^"]*)"', marked)
        left = " ".join([seen, *told]).replace("&nbsp", "").replace("&#8288", "")
        assert set(re.findall(r"[A-Za-z]{2,}", left)) <= names, path.name


def test_reasons_for_a_confidence_are_translated() -> None:
    signals = [{"leader_question_cosine": cosine, "likely": likely} for cosine in (0.0, 1.0) for likely in (0, 1, 3)]
    reasons = {
        reason
        for row in signals
        for missing in ((), ("sauna",))
        for reason in confidence.assess(0.5, row, missing, "lead-1", DEFAULT).reasons
    }

    with translation.override("de"):
        assert not {answer_words.confidence_reason_words(reason) for reason in reasons} & reasons
        assert answer_words.confidence_reason_words("3 studies are cited") == "3 Studien werden zitiert"
        assert answer_words.confidence_reason_words("in words of another day") == "in words of another day"


def test_built_in_replies_are_translated() -> None:
    replies = [with_instead(route.message, route.instead) for route in ROUTES]

    with translation.override("de"):
        for message in (
            *replies, f"{endings.NOT_ANSWERED} {endings.BY_WORDS_ALONE}", endings.NOT_OUR_SUBJECT,
            endings.NOTHING_NAMED, endings.NO_SUCH_SOURCE.format("Smith 2019"),
            endings.UNREAD.format("“How many trials are here?”"), f"{endings.NOT_IN_ENGLISH} {endings.NEAREST_SHOWN}",
            f"{endings.NOTHING_LEFT} {endings.NEAREST_SHOWN}",
        ):  # fmt: skip
            told = stored_words.translated_parts(message)
            assert all(part.is_ours for part in told), message
            is_two = "\n\n" in message or message.endswith(f" {endings.BY_WORDS_ALONE}")
            is_two = is_two or message.startswith((endings.NOT_IN_ENGLISH, endings.NOTHING_LEFT))
            assert len(told) == 1 + is_two
            assert not {part.text.strip() for part in told} & {*stored_words.FIXED, *WORDS}
            assert "".join(part.text for part in told).count("\n\n") == message.count("\n\n")


@pytest.mark.parametrize(
    ("reply", "route", "numbers"),
    [("Call 112, 999 or 911 (112 in Europe).", "emergency", ["112", "999", "911", "112"]),
     ("Call 112 now, or talk: 116 123 or 988.", "crisis", ["112", "116123", "988"]), ("Call 112.", "own_health", []),
     ("Adults over 18, 140 beats, 100 kg, 1.112, 112.5, 112% or 2019-2020.", "emergency", []),
     ("Call +44 20 7946 0958 or 116 123.", "eating", ["+442079460958", "116123"]),
     ('<b>Call</b> 112" onclick="x', "emergency", ["112"])],
)  # fmt: skip
def test_telephone_numbers_of_a_fixed_reply_are_links(reply: str, route: str, numbers: list[str]) -> None:
    told = stored_words.with_phone_links(reply, route)

    assert re.findall(r'href="tel:([+\d]+)"', told) == numbers
    assert unescape(re.sub(r"<[^>]+>", "", told)) == reply
    assert "<b>" not in told


@pytest.mark.parametrize(
    ("message", "german"),
    [(f"{endings.NOT_OUR_SUBJECT} They are about: training; diet.", "Sie handeln von: training; diet."),
     (left_open("sleep or women"), "Die zitierten Passagen erwähnen nicht: sleep oder Frauen. "),
     (left_open("adults, equal volume or men"), "nicht: Erwachsene, volume bei gleichem Maß oder Männer. "),
     ("No study was found that joins “BFR” with the rest of the question.", "„BFR“ mit dem Rest"),
     ("None of the nearest passages mentions “shoes”, “sauna”.", "erwähnt „shoes“, „sauna“."),
     *((text.format("shoes"), "shoes“." if "“" in text else "shoes.") for text in endings.NOT_SAID.values())],
)  # fmt: skip
def test_words_of_a_question_stay_in_a_translated_message(message: str, german: str) -> None:
    with translation.override("de"):
        told = stored_words.translated_parts(message)

    assert german in "".join(part.text for part in told)
    assert all(part.is_ours for part in told)
    assert stored_words.translated_parts(message) == (stored_words.MessagePart(message, is_ours=True),)


def test_people_not_studied_are_named_in_german() -> None:
    values = [value for facet in SITE.facets.values() for value in facet.values.values()]

    with translation.override("de"):
        for name in {value.words for value in values if value.phrases}:
            (told,) = stored_words.translated_parts(left_open(f"sauna or {name} / athletes"))
            assert name not in told.text
            assert "sauna oder" in told.text
            assert "/ Leistungssportler" in told.text


def test_what_a_curator_wrote_stays_as_it_is() -> None:
    theirs = stored_words.MessagePart("Ask somebody.", is_ours=False)
    with translation.override("de"):
        assert stored_words.translated_parts("Ask somebody.") == (theirs,)
        *known, unknown = stored_words.translated_parts(f"{INSTEAD} Ask somebody.")
        assert [part.is_ours for part in known] == [True]
        assert unknown == stored_words.MessagePart(" Ask somebody.", is_ours=False)
        assert stored_words.translated_parts(None) == ()


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("There are 1,103 published studies here.", "Hier gibt es 1.103 veröffentlichte Studien."),
        ("There is 1 published study here.", "Hier gibt es 1 veröffentlichte Studie."),

        ("1 published study here is meta-analyses or theses, about sleep, only in women or girls, by Smith 2019, published in Sports Med, in the collection Training, marked as corrected, from 1998 to 2025.",
         "1 veröffentlichte Studie hier: Metaanalysen oder Abschlussarbeiten, zum Thema sleep, Teilnehmende: nur Frauen oder Mädchen, von Smith 2019, erschienen in Sports Med, in der Sammlung Training, vermerkt als korrigiert, von 1998 bis 2025."),
        ("No published studies here are about sauna, from 2024 on.", "Keine veröffentlichte Studie hier: zum Thema sauna, ab 2024."),

        ("Of 103 published studies here that are of 2020, 69 (67 %) are marked as peer-reviewed.", "Von 103 veröffentlichten Studien hier (aus dem Jahr 2020) entfallen 69 (67 %) auf: vermerkt als begutachtet."),

        ("The studies here last changed on 5 March 2026. The newest study is of 2025. The Changes page lists every change and has a feed to subscribe to.",
         "Die Studien hier wurden zuletzt am 5. März 2026 geändert. Die neueste Studie ist von 2025. Die Seite „Änderungen“ nennt jede Änderung und hat einen Feed zum Abonnieren."),
        ("“A title” by Smith, a meta-analysis (Sports Med, 2017).", ""),
    ],
)  # fmt: skip
def test_counts_of_the_corpus_are_translated(english: str, german: str) -> None:
    with translation.override("de"):
        assert counted_words.counted_words(english) == german
    assert counted_words.counted_words(english) == ""


YEARS = {2001: 1, 2020: 1}
NAMED = TraitCounts(1, (("training", 2),))


def test_every_counting_sentence_is_translated() -> None:
    one, two = StudyTotal(1, ("S1",)), StudyTotal(2, ("S1", "S2"))
    study = make_study("S1", design=Design.THESIS, year=2001, journal="Sports Med")
    designs = TraitCounts(2, (("thesis", 1), ("meta_analysis", 1)))
    sentences = [
        *(about_sentences.write_count(some, words) for some in (StudyTotal(0, ()), one, two) for words in ("", "of 2020", "theses")),
        *about_sentences.write_span(two, YEARS), *about_sentences.write_kinds(two, designs, lambda _: None),
        *(about_sentences.write_share(one, "theses", two, whole) for whole in ("", "of 2020")),
        *(sentence for wish in ("newest", "oldest") for sentence in about_sentences.write_extreme(wish, [study])),
        *about_sentences.write_growth(two, YEARS),
        *about_sentences.write_overview(two, NAMED, NAMED, {"training": "Training"}),
        *(sentence for kind in ("journal", "author") for sentence in about_sentences.write_names(kind, two, NAMED)),
        *about_sentences.write_peer_review(two, one, designs),
        *(
            about_sentences.write_notice(two, name, some, words)
            for name in about_sentences.NOTICES for some in (one, two) for words in ("", "of 2020")
        ),
        *(row for name in about_sentences.FACTS for row in about_sentences.write_fact(name, two, YEARS, None)),
    ]  # fmt: skip

    with translation.override("de"):
        assert not [sentence.text for sentence in sentences if not counted_words.counted_words(sentence.text)]


def test_every_name_in_a_description_of_studies_has_its_words() -> None:
    facets = {
        "design": tuple(design.value for design in Design),
        "notice": tuple(about_sentences.NOTICES),
        "age_group": ("youth", "adults", "older_adults"),
        "sex": ("female", "male"),
        "training_status": ("untrained", "recreationally_trained", "trained", "athletes"),
    }
    kinds = {about_sentences.design_name(design.value, n) for design in Design for n in (1, 2)}

    assert kinds == set(counted_words.KINDS)
    with translation.override("de"):
        for name, value in ((name, value) for name, values in facets.items() for value in values):
            words = about_sentences.describe(Filters({name: (value,)}), {}, SITE.facets)
            told = counted_words.counted_words(f"2 published studies here are {words}.")
            assert told
            assert words not in told


def test_figures_dates_and_designs_follow_the_language() -> None:
    step, at = {"step": "meaning", "effect": "+", "value": 0.25}, answer_words.moment("2026-03-05T17:06:00Z")
    with translation.override("de"):
        assert working_words.figure_words(0.35) == "0,35"
        assert answer_words.steps_listed([step]) == "<div><dt>Nähe in der Bedeutung</dt><dd>+0,25</dd></div>"
        assert language.day(at) == "5. März 2026"
        assert language.day_and_time(at) == "5. März 2026, 17:06"
        assert corpus_words.design_words("randomized_controlled_trial") == "randomisierte kontrollierte Studie"
        told = comparing.compare(make_payload(), make_refusal())
        ends = "Sie enden verschieden: A ist beantwortet, B findet keine Antwort in den Studien."
        assert told.differences[0] == ends
    assert working_words.figure_words(0.35) == "0.35"
    assert answer_words.steps_listed([step]) == "<div><dt>Closeness in meaning</dt><dd>+0.25</dd></div>"
    assert (language.day(at), language.day(None)) == ("5 March 2026", "")


def test_a_crisis_told_in_german_is_answered_in_german_on_an_english_page(library: tuple[str, ...]) -> None:
    for question, words in (
        ("Ich will nicht mehr leben", "Telefonseelsorge"), ("I want to kill myself", "116 123"),
        ("Ich habe Brustschmerzen und bekomme kaum Luft", "Hören Sie sofort auf zu trainieren"),
    ):  # fmt: skip
        html = Client().get(Client().post("/", {"question": question})["Location"]).content.decode()

        assert '<html lang="en">' in html
        assert words in html
        assert ('<span lang="de">' in html) == question.startswith("Ich")
        assert html.count('href="tel:142"') == ("nicht mehr leben" in question)


def test_a_language_is_chosen_without_script_kept_and_leads_nowhere_else(db: None) -> None:
    client = Client(headers={"Accept-Language": "en"}, enforce_csrf_checks=True)

    response = client.post("/language/", {"language": "de"}, headers={"Referer": "http://testserver/topics/?x=1"})
    elsewhere = client.post("/language/", {"language": "de", "next": "https://elsewhere.example/"})

    assert (response.status_code, response["Location"]) == (302, "http://testserver/topics/?x=1")
    assert elsewhere["Location"] == "/"
    kept = client.cookies["language"]
    assert (kept.value, bool(kept["httponly"]), kept["samesite"]) == ("de", True, "Lax")
    assert '<html lang="de">' in client.get("/topics/").content.decode()
    client.post("/language/", {"language": "en-gb"})
    assert '<html lang="en">' in client.get("/topics/").content.decode()
    assert client.get("/language/").status_code == 405
    assert "language" not in Client().post("/language/", {"language": "xx"}).cookies


def test_programs_and_files_are_told_in_english_and_stored_alike(library: tuple[str, ...]) -> None:
    client = Client(headers=GERMAN)
    asked = [Client(headers=headers).post("/", {"question": "How many weekly sets?"}) for headers in (GERMAN, {})]
    stored = [client.get(f"/api/v1{response['Location'].rstrip('/')}").json() for response in asked]

    refused = client.post("/api/v1/answers", {"question": ""}, content_type="application/json")
    absent = client.get("/api/v1/nothing")
    file = client.get(f"/answers/{stored[0]['id']}/export/md")

    assert "Please type a question." in refused.content.decode()
    assert "Content-Language" not in refused
    assert "nothing at this address" in absent.content.decode()
    assert "Answered by InForm" in file.content.decode()
    for key in ("outcome", "summary", "answer", "message", "confidence", "left_out", "scope"):
        assert stored[0][key] == stored[1][key]
