"""Pages of the corpus: what they find and count, what they make of any address, and that nothing unpublished shows."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import curation
from corpus_app.models import ConceptRelation, ConceptRelationStudy, Study
from corpus_app.public import browsing, changes, selection
from corpus_app.public.selection import Selection
from corpus_app.search import versions
from tests.builders import make_collection, make_concept, make_curator, make_finding, make_study
from tests.fakes import WordHashEncoder

pytestmark = pytest.mark.django_db

PAGES = ("/corpus/", "/topics/", "/changes/", "/changes/atom.xml")
CANARY = "Zorblatt"


@pytest.fixture(autouse=True)
def _encoder(encoder: WordHashEncoder) -> None:
    pass


@pytest.fixture
def curator() -> User:
    return make_curator("Quibblethorpe")


def shown(address: str) -> str:
    response = Client().get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", html)))


def found(**parameters: list[str]) -> list[str]:
    """Ids of the studies that an address finds, in their order."""
    chosen, ignored = selection.read(parameters, known=browsing.known_values())
    assert ignored == ()
    return [row.study.study_id for row in browsing.browse(chosen).listed]


# --- Words ---------------------------------------------------------------------------------------------------------------


def test_words_are_found_in_title_passage_authors_and_journal() -> None:
    make_study(study_id="TITLE", title="Sprints on a velodrome")
    make_study(study_id="TEXT", texts=("They rode a velodrome every day.",))
    make_study(study_id="AUTHOR", authors=["Velodrome VX"])
    make_study(study_id="JOURNAL", journal="Velodrome Letters")
    make_study(study_id="NONE")

    assert set(found(q=["velodrome"])) == {"TITLE", "TEXT", "AUTHOR", "JOURNAL"}


def test_an_author_is_found_by_the_beginning_of_the_name_with_or_without_accents() -> None:
    make_study(study_id="A", authors=["Müller-Lüdenscheidt K"])
    make_study(study_id="B", authors=["Schmuller K"])

    assert found(q=["mull"]) == ["A"]
    assert found(q=["ludensch"]) == ["A"]


def test_all_words_narrow_and_the_most_of_them_serve_where_none_has_all() -> None:
    make_study(study_id="BOTH", texts=("Creatine and kidneys.",))
    make_study(study_id="ONE", texts=("Creatine alone.",))

    assert found(q=["creatine kidney"]) == ["BOTH"]
    assert set(found(q=["creatine velodrome"])) == {"BOTH", "ONE"}
    assert "No study has all of these words" in words(shown("/corpus/?q=creatine+velodrome"))


def test_words_that_say_nothing_are_not_searched_for() -> None:
    make_study(study_id="A")

    assert found(q=["the of"]) == ["A"]
    assert "were not searched for" in words(shown("/corpus/?q=the+of"))


def test_a_retracted_study_is_found_and_marked() -> None:
    make_study(study_id="GONE", title="Sprints on a velodrome", notice="retracted")

    assert found(q=["velodrome"]) == ["GONE"]
    assert '<span class="badge retracted">Retracted</span>' in shown("/corpus/?q=velodrome")


def test_the_best_match_leads_and_shows_where_the_words_stand() -> None:
    make_study(
        study_id="LITTLE", texts=("A velodrome is round. " + "Riders rest and eat and sleep and wait. " * 9,), year=2024
    )
    make_study(study_id="MUCH", title="Velodrome", texts=("Velodrome, velodrome and <b>velodrome</b>.",), year=1999)

    assert found(q=["velodrome"]) == ["MUCH", "LITTLE"]
    assert found(q=["velodrome"], sort=["newest"]) == ["LITTLE", "MUCH"]
    html = shown("/corpus/?q=velodrome")
    assert '<mark class="term">velodrome</mark>' in html
    assert "<b>" not in html


# --- Facets --------------------------------------------------------------------------------------------------------------


def test_values_of_one_facet_are_alternatives_and_facets_narrow_each_other() -> None:
    make_study(study_id="A", design="meta_analysis", sex="female")
    make_study(study_id="B", design="guideline", sex="female")
    make_study(study_id="C", design="thesis", sex="female")
    make_study(study_id="D", design="meta_analysis", sex="male")

    assert set(found(design=["meta_analysis", "guideline"], sex=["female"])) == {"A", "B"}


@pytest.mark.parametrize("facet", selection.FACETS)
def test_the_count_of_a_value_is_what_choosing_it_alone_finds(facet: str) -> None:
    outcome, other = make_concept("strength"), make_concept("mass")
    for index, design in enumerate(["meta_analysis", "guideline", "meta_analysis", "other"]):
        make_study(
            design=design,
            sex=["female", "male"][index % 2],
            age_group=["adults", "older_adults"][index // 2],
            training_status=["trained", "untrained"][index % 2],
            notice=["none", "corrected", "retracted", "none"][index],
            collection=make_collection(["training", "nutrition"][index // 2]),
            concepts=(outcome,) if index else (outcome, other),
        )
    counts = browsing.browse(Selection()).counts[facet]

    assert counts
    assert {value: browsing.browse(Selection().toggled(facet, value)).total for value in counts} == counts


def test_counts_hold_under_the_other_filters() -> None:
    make_study(design="meta_analysis", sex="female")
    make_study(design="guideline", sex="male")
    page = browsing.browse(Selection().toggled("design", "meta_analysis"))

    assert page.counts["sex"] == {"female": 1}
    assert page.counts["design"] == {"meta_analysis": 1, "guideline": 1}


def test_years_are_a_span_and_a_study_without_a_year_is_in_none() -> None:
    for year in (1999, 2005, 2010, None):
        make_study(study_id=f"Y{year}", year=year)

    assert set(found(**{"from": ["2000"], "to": ["2010"]})) == {"Y2005", "Y2010"}
    assert found(**{"to": ["1999"]}) == ["Y1999"]
    assert found(**{"from": ["2010"], "to": ["2000"]}) == ["Y2010", "Y2005"]  # turned round
    assert len(found()) == 4


def test_every_filter_in_force_can_be_taken_away_by_itself() -> None:
    make_study(design="meta_analysis", sex="female", texts=("Velodrome.",))
    html = shown("/corpus/?q=velodrome&design=meta_analysis&sex=female&from=2000")
    removals = re.findall(r'<li><a href="([^"]+)" rel="nofollow"><span class="unseen">Remove', html)

    assert [unescape(address) for address in removals] == [
        "?design=meta_analysis&sex=female&from=2000",
        "?q=velodrome&sex=female&from=2000",
        "?q=velodrome&design=meta_analysis&from=2000",
        "?q=velodrome&design=meta_analysis&sex=female",
    ]


def test_pages_hold_every_study_once() -> None:
    for number in range(browsing.PAGE_SIZE * 2 + 3):
        make_study(study_id=f"P{number:03}", texts=())
    listed = [study_id for page in "123" for study_id in found(page=[page], sort=["title"])]

    assert len(listed) == len(set(listed)) == browsing.PAGE_SIZE * 2 + 3
    assert 'aria-current="page"><span class="unseen">Page </span>3' in shown("/corpus/?page=9999")


def test_an_empty_corpus_and_an_empty_result_offer_a_way_on() -> None:
    assert "No study has been published here yet" in words(shown("/corpus/"))
    make_study(sex="female", concepts=(make_concept("strength"),))

    html = shown("/corpus/?q=velodrome&sex=male")

    assert "No study found" in words(html)
    assert 'href="/corpus/">start again with the one study' in html
    assert 'href="/?q=velodrome"' in html
    assert 'href="/topics/strength/"' in html


# --- Any address ---------------------------------------------------------------------------------------------------------

NASTY = (
    "%00",
    "%ed%a0%80",
    "%ff",
    "9" * 5_000,
    "-1",
    "0",
    "1e9",
    "²",
    "٣",
    "nan",
    "' OR 1=1 --",
    "%F0%9F%A6%84" * 300,
    "%25s",
    "<script>",
    "a\\",
    "&#39;",
    "!&|()*:",
    "%E2%80%AE",
    "x" * 2_500,
)


@pytest.mark.parametrize("name", ["q", *selection.FACETS, "from", "to", "sort", "page"])
def test_no_address_breaks_the_page(name: str) -> None:
    make_study()
    for value in NASTY:
        html = shown(f"/corpus/?{name}={value if '%' in value else quote(value)}")

        assert "<script>" not in html.replace("<script src=", ""), value
        if name != "q":
            assert "could not be read in this link" in html, value


def test_what_cannot_be_used_is_named_once_and_the_rest_is_used() -> None:
    make_study(study_id="A", sex="female")
    make_study(study_id="B", sex="male")
    html = shown("/corpus/?design=x&design=y&from=soon&sex=female")

    assert "could not be read in this link: the kind of study, the first year." in words(html)
    assert "/studies/A/" in html
    assert "/studies/B/" not in html


def test_empty_fields_of_a_form_are_no_fault() -> None:
    make_study()

    assert "could not be read" not in shown("/corpus/?q=&from=&to=&page=&sort=&design=")


KNOWN = {facet: {"a", "b-c", "é"} for facet in selection.FACETS}


@given(
    st.builds(
        Selection,
        words=st.text("ab é&=%+#", max_size=20).map(lambda text: " ".join(text.split())),
        chosen=st.frozensets(st.tuples(st.sampled_from(selection.FACETS), st.sampled_from(["a", "b-c", "é"]))),
        first_year=st.none() | st.integers(1000, 2000),
        last_year=st.none() | st.integers(2000, 2999),
        order=st.sampled_from(["", *selection.SORTS]),
        page=st.integers(1, 9999),
    )
)
def test_a_selection_is_read_back_from_its_own_address(chosen: Selection) -> None:
    query = QueryDict(chosen.query.removeprefix("?"))

    assert selection.read(dict(query.lists()), known=KNOWN) == (chosen, ())


@given(st.dictionaries(st.sampled_from(["q", "from", "to", "sort", "page", *selection.FACETS]), st.lists(st.text())))
def test_nothing_in_an_address_raises(parameters: dict[str, list[str]]) -> None:
    chosen, _ = selection.read(parameters, known=KNOWN)

    assert "\0" not in chosen.words
    chosen.query.encode()


@pytest.mark.parametrize("address", [*PAGES, "/studies/S/", "/topics/strength/", "/how-it-works/"])
def test_pages_are_read_only(address: str) -> None:
    make_study(study_id="S", concepts=(make_concept("strength"),))

    assert Client().post(address).status_code == 405
    assert Client().head(address).status_code == 200


# --- One study -----------------------------------------------------------------------------------------------------------


def test_a_study_says_what_it_found_how_to_cite_it_and_whose_words_it_shows() -> None:
    study = make_study(study_id="S", title="Sets and growth", n_participants=34, n_studies=15, duration_weeks_min=6)
    make_finding(study, direction="no_difference")
    study.passages.update(kind="excerpt")
    text = words(shown("/studies/S/"))

    assert "Source’s words" in text
    assert "No difference" in text
    assert f"Example AB, Sample CD. Sets and growth. Journal of Examples. 2020. doi:{study.doi}" in text
    assert "http://testserver/studies/S/" in text
    assert "Participants 34" in text
    assert "Studies included 15" in text
    assert "6 weeks or more" in text
    assert "No answer has quoted it so far." in text


def test_a_study_tells_the_history_of_its_notices_without_the_reasons(curator: User) -> None:
    make_study(study_id="S", status="draft")
    curation.set_notice(["S"], "corrected", reason=CANARY, by=curator)  # before readers could see it
    curation.publish(["S"], by=curator)
    curation.set_notice(["S"], "retracted", reason=CANARY, by=curator)
    curation.set_notice(["S"], "none", reason=CANARY, by=curator)
    html = shown("/studies/S/")

    told = re.findall(r"</time> <span>([^<]+)</span>", html)
    assert told == ["Notice taken away", "Marked as retracted", "Published here"]
    assert CANARY not in html
    assert "Quibblethorpe" not in html


# --- Topics --------------------------------------------------------------------------------------------------------------


def relate(source: Any, relation: str, target: Any, *studies: Study) -> None:
    row = ConceptRelation.objects.create(source=source, relation=relation, target=target)
    for study in studies:
        ConceptRelationStudy.objects.create(relation=row, study=study)


def test_a_topic_shows_its_neighbours_in_picture_and_list_and_its_findings_by_direction() -> None:
    strength = make_concept("strength", aliases=("force",), definition="How much can be lifted.", wanted="more")
    rest, load = make_concept("rest", kind="training_variable"), make_concept("load", kind="training_variable")
    first = make_study(study_id="A", concepts=(strength, rest))
    second = make_study(study_id="B", concepts=(strength, load), year=2022)
    relate(rest, "affects", strength, first)
    relate(strength, "measured_by", load, first, second)
    make_finding(first, outcome="leg strength", statement="Strength rose.", direction="increase")
    make_finding(second, outcome="force", statement="Nothing changed.", direction="no_difference")
    make_finding(second, outcome="mood", statement="Strengthening words.", intervention="talk", direction="mixed")
    html = shown("/topics/strength/")
    text = words(html)

    assert "How much can be lifted." in text
    assert "More of it counts as a benefit." in text
    assert "counts as a benefit" not in words(shown("/topics/rest/"))
    assert "Also called: force." in text
    assert re.findall(r'tabindex="-1"><rect.*?<text[^>]*>([^<]+)</text>', html) == [
        "load",
        "rest",
    ]  # the stronger first
    assert "is measured by load 2 studies" in text
    assert "is affected by rest 1 study" in text
    assert "Strength rose. Example AB and Sample CD, 2020" in text
    assert "2 findings that name this topic" in text
    assert "Strengthening words" not in text
    assert html.index("/studies/B/") > 0
    assert html.count('href="/topics/rest/"') == 2


def test_findings_of_a_retracted_study_are_not_counted() -> None:
    strength = make_concept("strength")
    make_finding(make_study(concepts=(strength,), notice="retracted"), statement="Strength rose.")

    assert "Strength rose." not in shown("/topics/strength/")


def test_topics_are_grouped_by_kind_with_the_number_of_their_studies() -> None:
    make_study(concepts=(make_concept("strength"), make_concept("rest", kind="training_variable")))
    text = words(shown("/topics/"))

    assert "Outcomes strength 1 study" in text
    assert "Parts of a training plan rest 1 study" in text


# --- Changes -------------------------------------------------------------------------------------------------------------


def kinds() -> list[tuple[str, list[str]]]:
    return [(change.kind, [study.study_id for study in change.studies]) for change in changes.latest()]


def test_changes_tell_what_readers_could_notice(curator: User) -> None:
    make_study(study_id="A", status="draft")
    make_study(study_id="B", status="draft")
    curation.revise_study("A", by=curator, title="A draft with another title")
    curation.publish(["A", "B"], by=curator)
    curation.revise_study("A", by=curator, curator_notes="Not for readers.")
    curation.revise_study("A", by=curator, title="A better title")
    curation.set_notice(["B"], "retracted", reason="Data made up.", by=curator)

    assert kinds() == [("retracted", ["B"]), ("revised", ["A"]), ("published", ["A", "B"])]


def test_a_withdrawn_study_is_only_counted(curator: User) -> None:
    make_study(study_id="A", status="draft", title=f"A {CANARY} study")
    curation.publish(["A"], by=curator)
    curation.withdraw(["A"], by=curator, reason=CANARY)

    assert kinds() == [("withdrawn", [])]
    for address in PAGES:
        assert CANARY not in shown(address)
    assert "A study was withdrawn" in shown("/changes/")


def test_another_study_under_a_deleted_ones_id_does_not_inherit_its_history(curator: User) -> None:
    make_study(study_id="A", status="draft")
    curation.publish(["A"], by=curator)
    curation.set_notice(["A"], "corrected", reason="A slip.", by=curator)
    curation.withdraw(["A"], by=curator, reason="Wrong file.")
    curation.delete_study("A", by=curator)
    make_study(study_id="A", status="draft", title="Quite another")
    curation.publish(["A"], by=curator)

    assert kinds() == [("published", ["A"]), ("withdrawn", [])]


def test_the_feed_is_valid_atom_with_stable_ids(curator: User) -> None:
    make_study(study_id="A", status="draft", title="Fish & <chips>")
    curation.publish(["A"], by=curator)
    atom = {"a": "http://www.w3.org/2005/Atom"}
    response = Client().get("/changes/atom.xml")
    feed = ElementTree.fromstring(response.content)
    first = [entry.findtext("a:id", namespaces=atom) for entry in feed.findall("a:entry", atom)]
    make_study(study_id="B", status="draft")
    curation.publish(["B"], by=curator)
    again = ElementTree.fromstring(Client().get("/changes/atom.xml").content)

    assert response["Content-Type"].startswith("application/atom+xml")
    assert feed.findtext("a:entry/a:summary", namespaces=atom) == "Fish & <chips>"
    assert feed.findtext("a:entry/a:updated", namespaces=atom)
    assert feed.findtext("a:author/a:name", namespaces=atom) == "InForm"
    assert len(first) == 1
    assert [entry.findtext("a:id", namespaces=atom) for entry in again.findall("a:entry", atom)][1:] == first
    assert 'type="application/atom+xml"' in shown("/changes/")


# --- Drafts --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["draft", "in_review", "withdrawn"])
def test_what_is_not_published_shows_nowhere(status: str, curator: User) -> None:
    strength = make_concept("strength")
    hidden_topic = make_concept("zorblatt", aliases=("Zorblatting",), definition=CANARY)
    make_study(study_id="PUBLIC", concepts=(strength,), status="draft")
    curation.publish(["PUBLIC"], by=curator)
    pages = ("/corpus/?q=public", "/topics/strength/", "/studies/PUBLIC/", "/suggest/?q=strength", "/suggest/?q=zorb")
    before = {address: shown(address) for address in (*PAGES, *pages)}

    hidden = make_study(
        study_id="HIDDEN",
        title=f"{CANARY} strength",
        authors=[f"{CANARY} Z"],
        journal=CANARY,
        year=1931,
        design="thesis",
        sex="male",
        texts=(f"{CANARY} strength.",),
        population=CANARY,
        notice="retracted",
        collection=make_collection("training"),
        concepts=(strength, hidden_topic),
        status=status,
    )
    make_finding(hidden, statement=f"{CANARY} strength.", outcome="strength")
    relate(hidden_topic, "affects", strength, hidden)
    curation.comment("HIDDEN", CANARY, by=curator)
    if status != "withdrawn":
        curation.set_notice(["HIDDEN"], "corrected", reason=CANARY, by=curator)
        curation.revise_study("HIDDEN", by=curator, population=f"{CANARY}s")

    versions.cache.clear()  # what was read of this version is read again: nothing may hide behind it

    assert {address: shown(address) for address in before} == before
    assert "PUBLIC" in before["/corpus/"]
    for address in ("/corpus/?q=zorblatt", "/corpus/?q=1931&from=1931&to=1931", "/corpus/?topic=zorblatt"):
        html = shown(address)
        assert "HIDDEN" not in html
        assert CANARY not in html.replace(f'value="{CANARY.lower()}"', "")


@pytest.mark.parametrize(
    ("hidden", "missing"), [("/studies/HIDDEN/", "/studies/MISSIN/"), ("/topics/zorblatt/", "/topics/missing-/")]
)
def test_what_is_hidden_answers_byte_for_byte_like_what_is_missing(hidden: str, missing: str) -> None:
    make_study(study_id="HIDDEN", status="draft", concepts=(make_concept("zorblatt"),))
    answers = [Client().get(address) for address in (hidden, missing)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    headers = [{name: value for name, value in a.headers.items() if name != "X-Request-ID"} for a in answers]
    assert headers[0] == headers[1]


def test_an_address_with_a_hidden_topic_reads_like_one_with_a_topic_that_there_is_not() -> None:
    make_study()
    make_study(status="draft", concepts=(make_concept("zorblatt"),))

    assert shown("/corpus/?topic=zorblatt") == shown("/corpus/?topic=zorblatx")


# --- Work ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "most"),
    [("/corpus/", 12), ("/corpus/?q=leg+press&sex=female", 20), ("/topics/", 12), ("/topics/strength/", 14),
     ("/changes/", 12), ("/studies/Q001/", 20)],
)  # fmt: skip
def test_queries_do_not_grow_with_the_corpus(address: str, most: int, curator: User) -> None:
    strength = make_concept("strength")
    counted = []
    for start in (0, 10):
        for number in range(start, start + 10):
            study = make_study(study_id=f"Q{number:03}", concepts=(strength,), status="draft", sex="female")
            make_finding(study, outcome="strength")
        curation.publish([f"Q{number:03}" for number in range(start, start + 10)], by=curator)
        Client().get(address)
        with CaptureQueriesContext(connection) as queries:
            Client().get(address)
        counted.append(len(queries))

    assert counted[0] == counted[1] <= most
