"""The answer page over real rows: studies side by side, by year, hard terms, feedback, asking again."""

import re
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from corpus_app import curation
from corpus_app.models import Study
from corpus_app.records import Design, Notice, Reference
from qa_app.answers import asking, overview, presentation
from qa_app.feedback import ratings
from qa_app.models import Answer, Feedback
from tests.builders import make_concept, make_finding, make_policy, make_study
from tests.qa.conftest import ASKED
from tests.qa.payloads import make_evidence, make_payload, make_sentence

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
COPIED = ("id", "request_id", "question", "mode", "collection", "outcome", "corpus_version")
NOBODY: dict[str, Any] = {"favours": [], "no_difference": [], "against": [], "unclear": []}


def keep(**changes: Any) -> Answer:
    """An answer stored as its payload stands."""
    payload = make_payload(**changes)
    own = {name: payload[name] for name in COPIED}
    return Answer.objects.create(policy=make_policy(), payload=payload, created_at=timezone.now(), **own)


def shown_only(study: Study) -> dict[str, Any]:
    """What changes a payload so that this study is evidence of it, and no source."""
    passage = study.passages.get()
    return {"evidence": [make_evidence(1), make_evidence(2, study_id=study.study_id, passage_id=passage.pk)]}


def shown(client: Client, answer: Answer, **query: str) -> str:
    response = client.get(f"/answers/{answer.id}/", query)
    assert response.status_code == 200
    return response.content.decode()


def found(study_id: str, finding_id: int, statement: str) -> dict[str, Any]:
    return {"study_id": study_id, "finding_id": finding_id, "statement": statement}


def on_growth(**sides: Any) -> dict[str, Any]:
    named = {"outcome_concept": "hypertrophy", "outcome_name": "muscle growth", "by_population": []}
    return NOBODY | named | sides


def reference(study_id: str, year: int | None = 2020) -> Reference:
    return Reference(
        study_id=study_id, title=study_id, authors=("Example AB",), year=year, journal=None, doi=None, pmid=None, url=None,
        design=Design.OTHER, notice=Notice.NONE,
    )  # fmt: skip


def table_of(html: str) -> list[list[str]]:
    """The rows of the evidence table, as words."""
    body = html.partition("evidence-table")[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [
        [" ".join(unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in re.split(r"<t[dh]\b[^>]*>", row)[1:]]
        for row in re.split(r"<tr\b[^>]*>", body)[1:]
    ]


def test_the_table_has_a_row_for_each_finding_on_the_outcome_asked_for(client: Client) -> None:
    make_study(study_id="T001", n_participants=40, population="Trained men", authors=["First A", "Second B"], year=2019)
    third = make_study(study_id="T003", design="meta_analysis", n_studies=15, authors=["Third C"], year=2021)
    favours, unclear = found("T001", 7, "More sets, more growth."), found("T003", 8, "It varied.")
    agreement = on_growth(favours=[favours], unclear=[unclear])

    html = shown(client, keep(agreement=agreement, **shown_only(third)))

    first, second = table_of(html)
    assert first[:3] == ["First A and Second B, 2019 [1]", "Randomised controlled trial", "Trained men"]
    assert first[3:] == ["40", "More sets, more growth.", "Benefit"]
    assert second[:3] == ["Third C, 2021", "Meta-analysis", "Not reported"]
    assert second[3:] == ["In 15 studies", "It varied.", "Mixed or unclear"]
    assert "On muscle growth, as recorded by curators." in html

    assert 'href="/answers/answer-one/export/csv"' in html


def test_the_table_tells_directions_of_findings(client: Client) -> None:
    study = make_study(study_id="T001")
    rose = make_finding(study, statement="More sets, more growth.", direction="increase", outcome="thickness")
    same = make_finding(study, statement="More days made no difference.", direction="no_difference")
    make_finding(make_study(study_id="T003"), statement="Not a source.")
    other = make_finding(make_study(study_id="T002"), statement="It varied.", direction="mixed")
    on = ((rose, "T001"), (same, "T001"), (other, "T002"))
    stances = ("favours", "no_difference", "unclear")
    rows = [
        found(study_id, row.pk, row.statement) | {"stance": own}
        for (row, study_id), own in zip(on, stances, strict=True)
    ]
    agreement = on_growth(unclear=rows, intervention="more sets", comparator="few sets")
    cases = {"one": agreement, "two": None}

    on_one, on_all = (
        table_of(shown(client, keep(id=key, request_id=str(uuid4()), agreement=told))) for key, told in cases.items()
    )

    assert [row[-1] for row in on_one] == ["Benefit", "No clear difference", "Mixed or unclear"]
    assert on_all[0][-2:] == ["Thickness: More sets, more growth.", "Increase"]
    assert len(on_all) == 3


def test_whose_benefit_is_meant_is_said_where_there_is_one(client: Client) -> None:
    make_concept(concept_id="heavy", name="high-load training")
    for study_id in ("T001", "T002"):
        make_study(study_id=study_id)
    rows = [found("T001", 3, "Heavy beat light."), found("T002", 4, "Heavy beat light.")]
    for subject, words in (("heavy", "studies here that tested high-load training for this: 2 found a benefit."),
                           (None, "studies here that compared the same: 2 found a benefit.")):  # fmt: skip
        stand = on_growth(subject_concept=subject, favours=rows)
        html = shown(client, keep(id=str(subject), request_id=str(uuid4()), agreement=stand))
        assert words in re.sub(r"<[^>]+>", "", html)
    told = on_growth(subject_concept=None, favours=rows, intervention="heavy", comparator="light")
    html = re.sub(r"<[^>]+>", "", shown(client, keep(id="told", request_id=str(uuid4()), agreement=told)))
    assert (
        "studies here that compared heavy with light for this: 2 found a benefit. Benefit and disadvantage are" in html
    )


def test_studies_are_counted_by_side_and_each_mark_opens_its_words(client: Client) -> None:
    make_study(study_id="T001", design="meta_analysis")
    make_study(study_id="T002")
    third = make_study(study_id="T003", authors=["Third C"], year=2021)
    rows = [
        found("T001", 1, "More sets, more growth."),
        found("T001", 2, "More days, more <b>growth</b>."),
        found("T003", 3, "Ten sets beat five."),
    ]
    agreement = on_growth(favours=rows, no_difference=[found("T002", 4, "No difference.")])

    html = shown(client, keep(agreement=agreement, **shown_only(third)))

    assert "Where the studies stand on muscle growth" in html
    assert "Found a benefit: 2 studies" in html
    assert "Found no clear difference: 1 study" in html
    assert "Found a disadvantage" not in html
    assert "More days, more &lt;b&gt;growth&lt;/b&gt;." in html
    marks = re.findall(r'<a class="mark size-1" href="([^"]+)"[^>]* aria-label="([^"]+)"', html)
    assert [address for address, _ in marks] == [
        "/answers/answer-one/citations/summary/1/1/", "#counted-T003", "/answers/answer-one/citations/answer/2/2/",
    ]  # fmt: skip
    assert marks[1][1] == "Third C 2021, randomised controlled trial: go to what it found"
    assert all(f'id="{place}"' in html for place in ("counted", "counted-T003", "finding-3"))
    for address, _ in marks:
        assert address.startswith("#") or client.get(address).status_code == 200


def test_a_retracted_study_is_marked_and_a_withdrawn_one_left_out(client: Client) -> None:
    for study_id in ("T001", "T002"):
        make_study(study_id=study_id)
    third = make_study(study_id="T003", notice="retracted")
    make_study(study_id="T004", status="withdrawn", title="A secret title", authors=["Secret S"], year=1999)
    rows = [found("T001", 1, "More."), found("T002", 2, "Most."), found("T003", 3, "Much more.")]
    rows += [found("T004", 4, "A secret finding.")]
    left_out = [{"what": "passage", "reason": "budget", "detail": "", "passage_id": 9, "study_id": "T004"}]

    html = shown(client, keep(agreement=on_growth(favours=rows), left_out=left_out, **shown_only(third)))

    assert "Found a benefit: 2 studies" in html
    assert "1 study that was retracted since is not counted." in html
    assert [("Retracted" in row[0], row[-2]) for row in table_of(html)] == [
        (False, "More."), (False, "Most."), (True, "Much more."),
    ]  # fmt: skip
    assert "secret" not in html.lower()
    assert "1999" not in html


def test_the_answer_comes_first_and_what_it_rests_on_after_it(client: Client) -> None:
    for study_id in ("T001", "T002"):
        make_study(study_id=study_id)
    make_study(study_id="T009", title="Left for want of room")
    left_out = [{"what": "passage", "reason": "budget", "detail": "", "passage_id": 9, "study_id": "T009"}]
    part = make_payload()["summary"]
    part["sentences"][0]["attribution"] = "O'Example <b>and</b> Sample (meta-analysis, 2017)"
    agreement = on_growth(favours=[found(study_id, 1, "Ten sets beat five.") for study_id in ("T001", "T002")])
    html = shown(client, keep(agreement=agreement, summary=part, left_out=left_out))

    order = ["question-title", "summary-title", "answer-title", "stand-title", "follow-up-title", "evidence-title"]
    order += ["sources-title", "confidence-title", "feedback-title", "next-title"]
    places = [html.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    told = '<small class="who" dir="auto">O&#x27;Example &lt;b&gt;and&lt;/b&gt; Sample (meta-analysis, 2017):</small> '
    assert html.count('class="who"') == html.count(told) == 1
    assert '<a class="badge sure' not in html
    weak = make_payload()["confidence"] | {"label": "low", "score": 30}
    doubted = shown(client, keep(id="doubted", request_id=str(uuid4()), confidence=weak))
    sure = re.findall(r'<a class="badge sure low" href="#confidence-title">([^<]*)</a>', doubted)
    assert sure == ["May not fit your question"]
    assert '<a href="/studies/T009/" dir="auto">Left for want of room</a>' in html


def test_the_timeline_has_a_dot_and_a_line_for_each_dated_study() -> None:
    cited = [
        (reference("A", 2022), 1), (reference("B", 2010), None), (reference("C", 2022), 2), (reference("D", None), 3),
    ]  # fmt: skip
    line = overview.draw_timeline(cited)

    listed = [(year, [dot.study.study_id for dot in dots]) for year, dots in line.years]
    assert listed == [(2022, ["A", "C"]), (2010, ["B"])]
    places = {dot.study.study_id: (dot.x, dot.y) for dot in line.dots}
    assert places["A"][0] == places["C"][0] > places["B"][0]
    assert [year for year, _ in line.ticks] == [2010, 2015, 2022]
    assert overview.draw_timeline([(reference("A"), 1), (reference("B"), 2)]) is None  # one year
    assert overview.draw_timeline([]) is None


def test_a_hard_term_is_explained_where_it_stands_first_as_a_whole() -> None:
    growth = {"id": "growth", "name": "muscle growth", "definition": "A muscle gets bigger."}
    long = {"id": "a", "name": "volume load", "definition": "Sets times weight."}
    short = {"id": "b", "name": "load", "definition": "Weight."}
    row = make_evidence(1, text="Hypertrophies differ. Muscle growth differs. The volume load is no overload.")
    quotes = ("Hypertrophies differ.", "Muscle growth differs.", "The volume load is no overload.")
    told = {"text": "", "sentences": [make_sentence(row, quote) for quote in quotes]}
    payload = make_payload(summary=told, definitions=[growth, short, long], evidence=[row])

    page = presentation.read(payload, {"growth": ("muscle growth", "hypertrophie", "hyper")})

    first, second, third = page.summary[0]
    assert [(words.text, words.term) for words in first.words] == [("Hypertrophies", growth), (" differ.", None)]
    assert [(words.text, words.term) for words in second.words] == [("Muscle growth differs.", None)]
    assert [words.text for words in third.words if words.term] == ["volume load"]
    assert "".join(words.text for words in third.words) == third.text


def test_terms_and_topics_are_text_and_lead_to_existing_pages(client: Client) -> None:
    make_study(study_id="T001", concepts=(make_concept("volume"),))
    make_study(study_id="T002", concepts=(make_concept("secret"),), status="draft")
    make_concept("few-sets", aliases=("few sets",), definition="Not many.")
    term = {"id": "few-sets", "name": "low volume", "definition": HOSTILE}
    topics = [
        {"id": "volume", "name": "volume"}, {"id": "secret", "name": "a secret"}, {"id": HOSTILE, "name": HOSTILE},
    ]  # fmt: skip

    html = shown(client, keep(definitions=[term], related_topics=topics))
    assert "From the glossary" not in html
    assert "From the glossary" in shown(
        client, keep(id="answer-two", request_id=str(uuid4()), definitions=[term | {"is_asked": True}])
    )

    assert '<button class="term" type="button" popovertarget="meaning-few-sets">Few sets</button>' in html
    assert html.count('id="meaning-few-sets"') == 1
    assert HOSTILE not in html
    assert HOSTILE in unescape(html)
    assert '<a href="/topics/volume/" dir="auto">volume</a>' in html
    assert '<a href="/?q=a%20secret" dir="auto">a secret</a>' in html
    assert client.get("/topics/volume/").status_code == 200


def test_feedback_is_kept_once_for_a_browser_and_can_be_changed(client: Client) -> None:
    keep()

    response = client.post("/answers/answer-one/feedback/", {"helpful": "yes"})
    assert (response.status_code, response["Location"]) == (303, "/answers/answer-one/#feedback")
    changed = {"helpful": "no", "reasons": ["wrong", "hard"], "words": " Not so.\r\n"}
    client.post("/answers/answer-one/feedback/", changed)
    Client().post("/answers/answer-one/feedback/", {"helpful": "yes"})

    rows = [(row.is_helpful, row.reasons, row.words) for row in Feedback.objects.order_by("pk")]
    assert rows == [(False, ["wrong", "hard"], "Not so."), (True, [], "")]
    html = client.get("/answers/answer-one/").content.decode()
    assert "Thank you" in html
    assert re.search(r'value="wrong"\s+checked', html)
    assert "Not so." in html
    assert "Not so." not in Client().get("/answers/answer-one/").content.decode()


def test_feedback_that_cannot_be_kept_is_said_and_stays_typed(client: Client) -> None:
    keep()
    bad: list[dict[str, Any]] = [
        {"helpful": "yes", "words": "x" * 1_001}, {"helpful": "yes", "reasons": "nonsense"}, {"helpful": "maybe"},
        {"helpful": "yes", "words": "nul\0byte"},
    ]  # fmt: skip

    for headers in ({}, {"HX-Request": "true"}):
        typed = {"words": HOSTILE, "reasons": ["hard"]}
        response = client.post("/answers/answer-one/feedback/", typed, headers=headers)
        html = response.content.decode()
        assert response.status_code == 400
        assert "Say whether the answer helped" in html
        assert HOSTILE not in html
        assert HOSTILE in unescape(html)
        assert ("<html" in html) != bool(headers)
    for typed in bad:
        assert client.post("/answers/answer-one/feedback/", typed).status_code == 400
    assert not Feedback.objects.exists()


def test_a_flood_of_feedback_ends(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    keep()
    monkeypatch.setattr(ratings, "MAX_FEEDBACK_PER_DAY", 1)
    client.post("/answers/answer-one/feedback/", {"helpful": "yes"})

    assert Client().post("/answers/answer-one/feedback/", {"helpful": "no"}).status_code == 400
    assert client.post("/answers/answer-one/feedback/", {"helpful": "no"}).status_code == 303
    assert [row.is_helpful for row in Feedback.objects.all()] == [False]


def test_posts_to_an_answer_need_a_csrf_token_and_an_answer(client: Client) -> None:
    keep()
    stranger = Client(enforce_csrf_checks=True)

    for act in ("feedback", "again"):
        assert client.get(f"/answers/answer-one/{act}/").status_code == 405
        assert client.post(f"/answers/missing/{act}/", {"helpful": "yes"}).status_code == 404
        assert stranger.post(f"/answers/answer-one/{act}/", {"helpful": "yes"}).status_code == 403
    assert not Feedback.objects.exists()


def test_asked_again_an_answer_says_what_has_changed(client: Client, library: tuple[str, ...]) -> None:
    first = asking.ask(question=ASKED)
    same = client.post(f"{first['url']}again/", headers={"HX-Request": "true"})
    curation.withdraw([first["citations"][0]["study_id"]], reason="for a test", by=None, by_name="tests")

    response = client.post(f"{first['url']}again/")

    assert "Asked again: nothing has changed" in same.content.decode()
    assert same["HX-Push-Url"].endswith(f"?since={first['id']}")
    html = client.get(response["Location"]).content.decode()
    assert response.status_code == 303
    assert "Asked again: what has changed" in html
    assert f'href="{first["url"]}"' in html
    assert "1 source was withdrawn." in html
    assert Answer.objects.count() == 3


def test_an_answer_is_compared_with_answers_to_the_same_question_only(client: Client) -> None:
    keep()
    keep(id="other", request_id="00000000-0000-4000-8000-000000000002", question="Something else?")

    for since in ("missing", "answer-one", "other", "\0", HOSTILE):
        assert "changes-title" not in client.get("/answers/answer-one/", {"since": since}).content.decode()


def test_a_page_takes_few_queries(client: Client, library: tuple[str, ...], django_assert_max_num_queries: Any) -> None:
    asked = asking.ask(question=ASKED)
    client.post(f"{asked['url']}feedback/", {"helpful": "yes"})
    client.get(asked["url"])  # what is read once for each corpus version

    with django_assert_max_num_queries(15):  # of rows by their keys, however large the corpus
        response = client.get(asked["url"])

    assert "Thank you" in response.content.decode()
    assert len(response.content) < 60_000
