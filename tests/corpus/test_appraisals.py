"""Effects of findings, risk of bias, certainties, findings confirmed with their source, and questions they answer."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import curation, search, sources
from corpus_app.appraisal import BIAS_DOMAINS, BiasTool
from corpus_app.curation.merging import merge
from corpus_app.figures import missing_figures
from corpus_app.models import CorpusEvent, Finding, OutcomeCertainty, Study
from corpus_app.records import QUESTION_LETTERS, Direction
from corpus_app.sources import FindingDraft
from tests.api.conftest import V1, body, get
from tests.builders import declare_site, make_concept, make_finding, make_passage, make_study
from tests.corpus.test_admin import address, errors, form_of, messages
from tests.corpus.test_import_export import change, load
from tests.corpus.test_import_export import folder as folder

pytestmark = pytest.mark.django_db
TEXT = "Strength rose (SMD 0.35, 95% CI 0.10 to 0.60) in twelve weeks. Sleep did not change."
EFFECT = {"measure": "standardised_mean_difference", "value": 0.35, "lower": 0.1, "upper": 0.6}
DOMAINS = BIAS_DOMAINS[BiasTool.ROB_2]
BIAS = {"tool": "rob_2", "domains": [{"domain": domain.value, "judgement": "low"} for domain in DOMAINS]}
SOIL = """
[facets.soil]
label = "Soil"
values = { clay = { label = "heavy clay" }, sand = { label = "sand" } }
"""
CERTAINTY = {
    "intervention": "repetition-duration", "outcome": "hypertrophy", "sex": "female", "facets": {"soil": ["clay"]},
    "level": "low",
    "reasons": ["Few."],
}  # fmt: skip


@pytest.mark.parametrize(("claim", "source", "missing"), [
    ("Rose by 12 % in 1,200 men.", "1200 men gained twelve per cent.", ()), ("A VO2max and 1RM gain.", "A gain.", ()),
    ("SMD −0.35 (.10)", "SMD 0·35; 0.1", ()), ("It took 8-12 weeks, P = 0.04.", "8 weeks", ("12", "0.04")),
    ("20 g", "20g of whey", ()), ("3 sets", "three sets", ()), ("5.5 kg", "5 kg in 5 weeks", ("5.5",)),
])  # fmt: skip
def test_figures_of_a_statement_are_looked_for_in_its_source(claim: str, source: str, missing: tuple[str, ...]) -> None:
    assert missing_figures(claim, source) == missing


def add_to_folder(folder: Path) -> None:
    """Give the folder's first study an effect and a risk of bias, and its concepts a certainty."""
    path = folder / "studies/S001.json"
    values = json.loads(path.read_text("utf-8"))
    passages = [{"section": "results", "text": TEXT}, *values["passages"]]
    findings = [row | {"effect": EFFECT} for row in values["findings"]]
    change(path, passages=passages, findings=findings, risk_of_bias=BIAS)
    change(folder / "concepts.json", certainties=[CERTAINTY])
    with (folder / "site.toml").open("a", encoding="utf-8") as site:
        site.write(SOIL)


def test_appraisals_of_a_folder_come_in_and_go_out_as_they_were(folder: Path, tmp_path: Path) -> None:
    add_to_folder(folder)
    assert load(folder, publish=True).problems == ()

    curation.export_corpus(tmp_path / "out")

    written = (tmp_path / "out/studies/S001.json").read_text("utf-8")
    assert json.loads(written)["findings"] == json.loads((folder / "studies/S001.json").read_text("utf-8"))["findings"]
    assert json.loads(written)["risk_of_bias"] == BIAS
    assert json.loads((tmp_path / "out/concepts.json").read_text("utf-8"))["certainties"] == [CERTAINTY]
    shown = body(get(f"{V1}studies/S001"))
    assert {name: shown["findings"][0]["effect"][name] for name in EFFECT} == EFFECT
    assert (shown["risk_of_bias"]["judgement"], len(shown["risk_of_bias"]["domains"])) == ("low", 5)
    change(folder / "studies/S001.json", title="A file that says nothing of them", risk_of_bias=None)
    findings = [{k: v for k, v in row.items() if k != "effect"} for row in json.loads(written)["findings"]]
    change(folder / "studies/S001.json", findings=findings)
    load(folder)
    study = Study.objects.get(study_id="S001")
    assert (study.title, study.risk_of_bias) == ("A file that says nothing of them", BIAS)
    assert all(finding.effect for finding in study.findings.all())


@pytest.mark.parametrize(("key", "value", "reason"), [
    ("effect", EFFECT | {"measure": "odds_ratio", "lower": -0.1}, "greater than 0"),
    ("effect", EFFECT | {"value": 0.7}, "outside its interval"), ("effect", EFFECT | {"upper": None}, "both bounds"),
    ("effect", EFFECT | {"measure": "mean_difference"}, "needs a unit"), ("effect", {"value": 1}, "is missing"),
    ("risk_of_bias", {"tool": "rob_2"}, "incomplete"), ("risk_of_bias", {"tool": "other", "overall": "low"}, "names"),
    ("risk_of_bias", BIAS | {"overall": "critical"}, "judgement that rob_2 does not have"),
    ("risk_of_bias", {"tool": "rob_2", "overall": "high", "domains": [{"domain": DOMAINS[0], "judgement": "high"}]},
     "gives no reason"),
])  # fmt: skip
def test_an_impossible_appraisal_is_refused(folder: Path, key: str, value: dict[str, Any], reason: str) -> None:
    values = json.loads((folder / "studies/S001.json").read_text("utf-8"))
    row = {"findings": [values["findings"][0] | {key: value}]} if key == "effect" else {key: value}

    _, notes = sources.study_from(values | row)

    assert any(key in place and reason in text for place, text in notes), notes


def test_an_effect_that_stands_in_no_passage_makes_its_finding_unconfirmed(client: Client, curator: User) -> None:
    study = make_study(texts=("Strength rose.",), title="T", takeaway="Strength rose.")
    finding = make_finding(study, statement="Strength rose.", plain="It rose.", asked_as="Does it?")
    url = address("study_change", study.pk)
    effect = {f"findings-0-effect_{name}": value for name, value in EFFECT.items()}

    half = client.post(url, form_of(client, url) | effect | {"findings-0-effect_upper": ""})
    assert "give both bounds" in errors(half)
    saved = client.post(url, form_of(client, url) | effect, follow=True)

    assert any("no passage has its effect" in text for text in messages(saved))
    assert "Unconfirmed: choose its source" in client.get(url).content.decode()
    finding.refresh_from_db()
    assert (finding.effect_value, finding.is_unconfirmed) == (0.35, True)
    assert search.findings([study.study_id]) == ()
    passage = make_passage(study, text=TEXT)
    listed = client.get(f"{address('finding_changelist')}?is_unconfirmed__exact=1").content.decode()
    assert address("finding_change", finding.pk) in listed
    page = client.get(address("finding_change", finding.pk)).context
    key = page["shown"][0].sentences[0].key
    version = {"version": page["version"], "section": "results", "kind": "summary"}
    short = client.post(address("finding_change", finding.pk), version | {"sentences": f"{passage.pk}:0:13"})
    assert "Select a valid choice" in short.content.decode()
    other = client.post(address("finding_change", finding.pk), version | {"text": "Strength rose by 0.35."})
    assert "do not hold 0.1, 0.6" in other.content.decode()
    assert study.passages.count() == 2

    client.post(address("finding_change", finding.pk), version | {"sentences": key})

    (found,) = search.findings([study.study_id])
    assert found.effect
    event = CorpusEvent.objects.filter(action="confirm_finding").get()
    assert (event.actor, event.passage_key) == (curator, passage.pk)
    assert event.detail["changes"]["source"]["after"].startswith("Strength rose (SMD 0.35")
    curation.restore(event.pk, by=curator)
    assert search.findings([study.study_id]) == ()


def test_the_mark_unconfirmed_is_taken_away_with_a_source_alone(curator: User) -> None:
    finding = make_finding(make_study(), is_unconfirmed=True)

    finding.is_unconfirmed = False

    with pytest.raises(curation.NotConfirmed):
        curation.save_entry(finding, by=curator)


def test_the_risk_of_bias_is_judged_on_the_page_of_the_study(client: Client, curator: User) -> None:
    declare_site()
    study = make_study()
    url = address("study_change", study.pk)
    cells = {f"risk_of_bias_{3 + 2 * n}": "low" for n, domain in enumerate(BIAS_ORDER) if domain in DOMAINS}

    unfinished = client.post(url, form_of(client, url) | {"risk_of_bias_0": "rob_2"})
    assert "judge every domain" in errors(unfinished)
    unexplained = client.post(url, form_of(client, url) | cells | {"risk_of_bias_0": "rob_2", "risk_of_bias_3": "high"})
    assert "gives no reason" in errors(unexplained)
    client.post(url, form_of(client, url) | cells | {"risk_of_bias_0": "rob_2"})

    study.refresh_from_db()
    assert study.risk_of_bias == BIAS
    history = client.get(address("study_history", study.pk)).content.decode()
    assert "domain: randomisation; judgement: low" in "".join(history.split("<ins>"))
    assert client.post(url, {**form_of(client, url), "risk_of_bias_0": "rob_2", **cells}).status_code == 302
    assert CorpusEvent.objects.count() == 1


BIAS_ORDER = tuple(type(DOMAINS[0]))


def test_curators_judge_the_certainty_of_an_outcome(client: Client, curator: User, settings: LazySettings) -> None:
    tempo, growth = make_concept("tempo"), make_concept("growth")
    make_study(concepts=(tempo, growth))
    declare_site(SOIL)
    form = {
        "intervention": "tempo", "outcome": "growth", "level": "low", "reasons": "Few trials.\r\n\r\nWide intervals.",
    }  # fmt: skip

    both = form | {"facets": ["soil:clay", "soil:sand"]}
    assert "soil has more than one value" in errors(client.post(address("outcomecertainty_add"), both))
    for soil in ("soil:sand", "soil:clay"):
        assert client.post(address("outcomecertainty_add"), form | {"facets": [soil]}).status_code == 302

    row = OutcomeCertainty.objects.latest("pk")
    assert [one["facets"] for one in body(get(f"{V1}certainties"))["items"]] == [{"soil": ["sand"]}, {"soil": ["clay"]}]
    assert row.reason_lines == ["Few trials.", "Wide intervals."]
    assert body(get(f"{V1}certainties"))["items"][0]["reasons"] == row.reason_lines
    assert "Certainty added" in client.get(address("outcomecertainty_history", row.pk)).content.decode()
    stale = form | {"level": "high", "seen": "an earlier page"}
    assert "Someone else" in errors(client.post(address("outcomecertainty_change", row.pk), stale))
    settings.REVIEW_REQUIRED = True
    page = address("outcomecertainty_change", row.pk)
    assert "only reviewers" in errors(client.post(page, form_of(client, page) | {"level": "high"}))
    assert {row.level for row in OutcomeCertainty.objects.all()} == {"low"}


def test_the_desk_keeps_a_question_a_line_and_says_which_is_too_long(client: Client, curator: User) -> None:
    study = make_study()
    url = address("study_change", study.pk)

    client.post(url, form_of(client, url) | {"asked_as": "  Why?\r\n\r\nHow many?  "})
    study.refresh_from_db()
    assert study.asked_as == "Why?\nHow many?"

    long = f"Why?\n{'x' * (QUESTION_LETTERS + 1)}"
    page = errors(client.post(url, form_of(client, url) | {"asked_as": long}))
    assert f"a question has at most {QUESTION_LETTERS}" in page


def draft(statement: str = "It rose.", *, asked_as: str | None = None) -> FindingDraft:
    return FindingDraft("creatine", "placebo", "strength", Direction.INCREASE, statement, asked_as)


def test_two_records_of_one_study_join_their_questions() -> None:
    for name, asked_as in (("A", "Does it work?"), ("B", "Does it work?\nIs it any good?")):
        make_study(study_id=name, status="draft")
        curation.set_findings(name, [draft(asked_as=asked_as)], by=None, by_name="test")

    merge("A", "B", by=None, by_name="test", reason="The same trial.", take=["findings"], passages=[])

    (finding,) = Finding.objects.filter(study__study_id="A")
    assert finding.questions == ["Does it work?", "Is it any good?"]


def test_unchanged_findings_keep_their_rows() -> None:
    make_study(study_id="A")

    def ids_after(*findings: FindingDraft) -> dict[str, list[int]]:
        curation.set_findings("A", findings, by=None, by_name="test")
        rows = Finding.objects.filter(study__study_id="A").order_by("position")
        ids: dict[str, list[int]] = {}
        for row in rows:
            ids.setdefault(row.statement, []).append(row.pk)
        assert [row.position for row in rows] == list(range(len(findings)))
        return ids

    first = ids_after(draft("It rose."), draft("It fell."), draft("It rose."))
    asked = ids_after(draft("It fell.", asked_as="Does it fall?"), draft("It rose."), draft("It rose."))
    assert asked == first
    edited = ids_after(draft("It fell by 3 kg."), draft("It rose."))
    assert edited["It rose."] == first["It rose."][:1]
    assert edited["It fell by 3 kg."] != first["It fell."]
    assert Finding.objects.filter(study__study_id="A").count() == 2
