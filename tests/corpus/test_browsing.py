"""Pages of the corpus: what they find and count, what they make of any address, and that nothing unpublished shows."""

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import curation, search, sources
from corpus_app.curation.importing import known_ids
from corpus_app.models import ConceptRelation, ConceptRelationStudy, CorpusEvent, Study
from corpus_app.public import browsing, selection
from corpus_app.public.selection import Selection
from corpus_app.sources import Source
from tests.builders import declare_site, make_collection, make_concept, make_curator, make_finding, make_study
from tests.corpus.test_admin import errors, form_of

EXAMPLES = Path(__file__).parents[2] / "examples"
FACETS = ("collection", "design", "age", "sex", "training", "topic", "notice")

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]

PAGES = ("/corpus/", "/topics/", "/changes/", "/changes/atom.xml")
CANARY = "Zorblatt"


@pytest.fixture(autouse=True)
def people() -> None:
    declare_site()


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


def test_words_are_found_in_title_passage_authors_and_journal() -> None:
    make_study(study_id="TITLE", title="Sprints on a velodrome", notice="retracted")
    make_study(study_id="TEXT", texts=("They rode a velodrome every day.",))
    make_study(study_id="AUTHOR", authors=["Velodrome VX", "Müller-Lüdenscheidt K"])
    make_study(study_id="JOURNAL", journal="Velodrome Letters", authors=["Schmuller K"])
    make_study(study_id="NONE")

    assert set(found(q=["velodrome"])) == {"TITLE", "TEXT", "AUTHOR", "JOURNAL"}
    assert '<span class="badge retracted">Retracted</span>' in shown("/corpus/?q=velodrome")
    assert found(q=["mull"]) == found(q=["ludensch"]) == ["AUTHOR"]
    assert len(found(q=["the of"])) == 5
    assert "the search ignores them" in words(shown("/corpus/?q=the+of"))


def test_all_words_narrow_and_the_most_of_them_serve_where_none_has_all() -> None:
    make_study(study_id="BOTH", texts=("Creatine and kidneys.",))
    make_study(study_id="ONE", texts=("Creatine alone.",))

    assert found(q=["creatine kidney"]) == ["BOTH"]
    assert set(found(q=["creatine velodrome"])) == {"BOTH", "ONE"}
    assert "No study contains all of these words" in words(shown("/corpus/?q=creatine+velodrome"))


def test_the_best_match_comes_first_with_highlighted_words() -> None:
    make_study(
        study_id="LITTLE", texts=("A velodrome is round. " + "Riders rest and eat and sleep and wait. " * 9,), year=2024
    )
    make_study(study_id="MUCH", title="Velodrome", texts=("Velodrome, velodrome and <b>velodrome</b>.",), year=1999)

    assert found(q=["velodrome"]) == ["MUCH", "LITTLE"]
    assert found(q=["velodrome"], sort=["newest"]) == ["LITTLE", "MUCH"]
    html = shown("/corpus/?q=velodrome")
    assert '<mark class="term">velodrome</mark>' in html
    assert "<b>" not in html


def test_the_count_of_a_value_is_what_choosing_it_finds() -> None:
    outcome, other = make_concept("strength"), make_concept("mass")
    for index, design in enumerate(["meta_analysis", "guideline", "meta_analysis", "other"]):
        make_study(
            design=design, sex=["female", "male"][index % 2], age_group=["adults", "older_adults"][index // 2],
            training_status=["trained", "untrained"][index % 2],
            notice=["none", "corrected", "retracted", "none"][index],
            collection=make_collection(["training", "nutrition"][index // 2]),
            concepts=(outcome,) if index else (outcome, other),
        )  # fmt: skip

    for facet in FACETS:
        counts = browsing.browse(Selection()).counts[facet]
        assert counts
        assert {value: browsing.browse(Selection().toggled(facet, value)).total for value in counts} == counts
    narrowed = browsing.browse(Selection().toggled("design", "meta_analysis"))
    either = Selection().toggled("design", "meta_analysis").toggled("design", "guideline")
    assert (browsing.browse(either).total, browsing.browse(either.toggled("sex", "female")).total) == (3, 2)
    assert narrowed.counts["sex"] == {"female": 2}
    assert narrowed.counts["design"] == {"meta_analysis": 2, "guideline": 1, "other": 1}


SOIL = """
[facets.soil]
label = "Soil"
values = { clay = { label = "heavy clay", phrases = ["clay"] }, sand = { label = "sand" } }
"""


def test_pages_filter_by_what_the_site_declares_and_by_nothing_else() -> None:
    declare_site(SOIL)
    make_study(study_id="CLAY", facets={"soil": ["clay", "sand"]})
    make_study(study_id="SAND", facets={"soil": ["sand"]})

    page, study = words(shown("/corpus/?soil=clay")), words(shown("/studies/CLAY/"))
    assert (found(soil=["clay"]), set(found(soil=["sand"]))) == (["CLAY"], {"CLAY", "SAND"})
    assert "Soil" in page
    assert "Soil Heavy clay, sand" in study
    assert Client().get("/api/v1/studies?soil=clay").json()["items"][0]["facets"] == {"soil": ["clay", "sand"]}
    assert Client().get("/api/v1/studies?sex=female").status_code == 400
    assert not {"Age", "Sex"} & {*page.split(), *study.split()}


def test_the_desk_ticks_declared_values_and_hides_what_tells_of_people(client: Client) -> None:
    declare_site(SOIL)
    study = make_study(facets={"soil": ["clay"]})
    url = f"/admin/corpus_app/study/{study.pk}/change/"
    client.force_login(make_curator())

    assert client.post(url, form_of(client, url)).status_code == 302
    assert not CorpusEvent.objects.exists()
    assert client.post(url, form_of(client, url) | {"facets": ["soil:sand", "soil:clay"]}).status_code == 302
    assert "not one of the available choices" in errors(
        client.post(url, form_of(client, url) | {"facets": ["soil:mud"]})
    )
    study.refresh_from_db()
    assert study.facets == {"soil": ["sand", "clay"]}
    assert not {"population", "sex", "age_group", "training_status", "n_participants"} & form_of(client, url).keys()
    declare_site()
    assert {"population", "sex", "n_participants"} <= form_of(client, url).keys()


def test_a_file_names_declared_values_alone_and_an_export_gives_them_back(tmp_path: Path) -> None:
    garden = Path(shutil.copytree(EXAMPLES / "garden", tmp_path / "garden"))
    call_command("import_corpus", garden, publish=True, verbosity=0)

    assert Study.objects.get(study_id="G03").facets == {"place": ["greenhouse"]}
    call_command("export_corpus", tmp_path / "out", verbosity=0)
    exported_master = sources.read(tmp_path / "out/studies_master.csv", known=known_ids())
    assert {draft.study_id: draft.facets for draft in exported_master.studies}["G03"] == (("place", ("greenhouse",)),)
    table = Source("papers.csv", b"title,Place,year\nOf frames,Greenhouse; orchard,2020\nOf moons,moon,2021\n")
    read = sources.read_file(table, sources.Intake(facets=search.site().facets))
    assert [draft.facets for draft in read.studies] == [(("place", ("greenhouse", "orchard")),), ()]
    assert "is moon; declared: " in read.problems[0].reason
    exported = json.loads((tmp_path / "out/studies/G03.json").read_text("utf-8"))
    assert exported["facets"] == {"place": ["greenhouse"]}
    assert "population" not in exported
    assert "sex" not in (tmp_path / "out/studies_master.csv").read_text("utf-8").splitlines()[0]
    path = garden / "studies" / "G03.json"
    path.write_text(path.read_text("utf-8").replace('"place": "greenhouse"', '"place": "moon"'), "utf-8")
    (problem,) = sources.read(garden).problems
    assert (problem.field, "place has no value 'moon'" in problem.reason) == ("facets", True)


def test_years_are_a_span_and_a_study_without_a_year_is_in_none() -> None:
    for year in (1999, 2005, 2010, None):
        make_study(study_id=f"Y{year}", year=year)

    assert set(found(**{"from": ["2000"], "to": ["2010"]})) == {"Y2005", "Y2010"}
    assert found(**{"to": ["1999"]}) == ["Y1999"]
    assert found(**{"from": ["2010"], "to": ["2000"]}) == ["Y2010", "Y2005"]  # turned round
    assert len(found()) == 4


def test_each_active_filter_can_be_removed_alone() -> None:
    make_study(design="meta_analysis", sex="female", texts=("Velodrome.",))
    html = shown("/corpus/?q=velodrome&design=meta_analysis&sex=female&from=2000")
    removals = re.findall(r'<li><a href="([^"]+)" rel="nofollow"><span class="unseen">Remove', html)

    assert [unescape(address) for address in removals] == [
        "?design=meta_analysis&sex=female&from=2000", "?q=velodrome&sex=female&from=2000",
        "?q=velodrome&design=meta_analysis&from=2000", "?q=velodrome&design=meta_analysis&sex=female",
    ]  # fmt: skip


def test_pages_list_every_study_once() -> None:
    for number in range(browsing.PAGE_SIZE * 2 + 3):
        make_study(study_id=f"P{number:03}", texts=())
    listed = [study_id for page in "123" for study_id in found(page=[page], sort=["title"])]

    assert len(listed) == len(set(listed)) == browsing.PAGE_SIZE * 2 + 3
    assert 'aria-current="page"><span class="unseen">Page </span>3' in shown("/corpus/?page=9999")


def test_empty_results_suggest_where_to_look() -> None:
    assert "No study has been published here yet" in words(shown("/corpus/"))
    make_study(sex="female", concepts=(make_concept("strength"),))

    html = shown("/corpus/?q=velodrome&sex=male")

    assert "No study found" in words(html)
    assert 'href="/corpus/">start again with the one study' in html
    assert 'href="/?q=velodrome"' in html
    assert 'href="/topics/strength/"' in html


NASTY = (
    "%00", "%ed%a0%80", "9" * 5_000, "-1", "1e9", "²", "٣", "nan", "' OR 1=1 --", "%F0%9F%A6%84" * 300, "<script>",
    "a\\", "!&|()*:",
)  # fmt: skip


def test_no_address_breaks_the_page() -> None:
    make_study()
    fields = [*FACETS, "from", "to", "sort", "page"]
    for nasty in NASTY:
        value = nasty if "%" in nasty else quote(nasty)
        html = shown("/corpus/?" + "&".join(f"{name}={value}" for name in ("q", *fields)))

        assert "<script>" not in html.replace("<script src=", ""), value
        (ignored,) = re.findall(r"could not be read in this link: ([^.]*)\.", words(html))
        assert ignored.count(",") + 1 >= len(fields), value  # words are read as far as they can be
    assert "could not be read" not in shown("/corpus/?q=&from=&to=&page=&sort=&design=")


KNOWN = {facet: {"a", "b-c", "é"} for facet in FACETS}


@given(
    st.builds(Selection, words=st.text("ab é&=%+#", max_size=20).map(lambda text: " ".join(text.split())),
     chosen=st.frozensets(st.tuples(st.sampled_from(FACETS), st.sampled_from(["a", "b-c", "é"]))),
     first_year=st.none() | st.integers(1000, 2000), last_year=st.none() | st.integers(2000, 2999),
     order=st.sampled_from(["", *selection.SORTS]), page=st.integers(1, 9999)),
)  # fmt: skip
def test_a_selection_is_read_back_from_its_own_address(chosen: Selection) -> None:
    query = QueryDict(chosen.query.removeprefix("?"))

    assert selection.read(dict(query.lists()), known=KNOWN) == (chosen, ())


@given(st.dictionaries(st.sampled_from(["q", "from", "to", "sort", "page", *FACETS]), st.lists(st.text())))
def test_nothing_in_an_address_raises(parameters: dict[str, list[str]]) -> None:
    chosen, _ = selection.read(parameters, known=KNOWN)

    assert "\0" not in chosen.words
    chosen.query.encode()


def test_pages_are_read_only() -> None:
    make_study(study_id="S", concepts=(make_concept("strength"),))

    for address in (*PAGES, "/studies/S/", "/topics/strength/", "/how-it-works/"):
        assert Client().post(address).status_code == 405
        assert Client().head(address).status_code == 200


def test_a_study_page_shows_findings_citation_and_provenance() -> None:
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
    assert told == ["Notice removed", "Marked as retracted", "Published here"]
    assert CANARY not in html
    assert "Quibblethorpe" not in html


def relate(source: Any, relation: str, target: Any, *studies: Study) -> None:
    row = ConceptRelation.objects.create(source=source, relation=relation, target=target)
    for study in studies:
        ConceptRelationStudy.objects.create(relation=row, study=study)


def test_a_topic_page_shows_neighbours_and_findings() -> None:
    strength = make_concept("strength", aliases=("force",), definition="How much can be lifted.", wanted="more")
    rest, load = make_concept("rest", kind="training_variable"), make_concept("load", kind="training_variable")
    first = make_study(study_id="A", concepts=(strength, rest))
    second = make_study(study_id="B", concepts=(strength, load), year=2022)
    relate(rest, "affects", strength, first)
    relate(strength, "measured_by", load, first, second)
    make_finding(first, outcome="leg strength", statement="Strength rose.", direction="increase")
    make_finding(second, outcome="force", statement="Nothing changed.", direction="no_difference")
    make_finding(second, outcome="mood", statement="Strengthening words.", intervention="talk", direction="mixed")
    make_finding(make_study(notice="retracted"), outcome="strength", statement="Gone.")
    html = shown("/topics/strength/")
    text = words(html)

    assert "How much can be lifted." in text
    assert "More of it counts as a benefit." in text
    assert "counts as a benefit" not in words(shown("/topics/rest/"))
    assert "Outcomes strength 2 studies" in words(shown("/topics/"))
    assert "Gone." not in text
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


def test_queries_do_not_grow_with_the_corpus(curator: User) -> None:
    strength = make_concept("strength")
    most = {"/corpus/": 16, "/corpus/?q=leg+press&sex=female": 24, "/topics/": 12, "/topics/strength/": 14,
            "/changes/": 12, "/studies/Q000/": 21}  # fmt: skip
    counted: dict[str, list[int]] = {address: [] for address in most}
    for start in (0, 6):
        names = [f"Q{number:03}" for number in range(start, start + 6)]
        for name in names:
            study = make_study(study_id=name, concepts=(strength,), status="draft", sex="female")
            make_finding(study, outcome="strength")
        curation.publish(names, by=curator)
        for address, counts in counted.items():
            Client().get(address)
            with CaptureQueriesContext(connection) as queries:
                Client().get(address)
            counts.append(len(queries))

    assert {address: counts for address, counts in counted.items() if counts[0] != counts[1]} == {}
    assert {address: counts for address, counts in counted.items() if counts[1] > most[address]} == {}


def test_the_address_above_the_studies_leads_to_their_list() -> None:
    response = Client().get("/studies/?q=sleep&design=meta_analysis")

    assert (response.status_code, response["Location"]) == (301, "/corpus/?q=sleep&design=meta_analysis")
