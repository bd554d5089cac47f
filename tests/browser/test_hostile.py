"""Markup in every text that people or files bring in, on every page that shows it: nothing of it runs or is fetched, and
letters that run from right to left do so whatever stands around them.

Many payloads stand on one page. Beside what a browser complains of (`conftest.Watch`), each page is searched for elements that
only a payload can have made.
"""

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import models
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from corpus_app import curation
from corpus_app.curation import jobs
from corpus_app.models import CorpusEvent, ImportJob, Passage, Study
from qa_app.models import Answer, Feedback, Gap, GoldenQuestion
from tests.browser.conftest import Watch
from tests.browser.pages import assert_no_wider, open_folds, sign_in
from tests.browser.site import Site, script
from tests.builders import make_concept, make_finding, make_study
from tests.qa.payloads import make_citation, make_evidence, make_sentence

OWN = Path(__file__).resolve().parents[1] / "data" / "hostile.txt"
RIGHT_TO_LEFT = "האם אימוני כוח (strength) בונים שריר? هل تدريب القوة يبني العضلات؟"
LONGEST = 900  # characters of the payloads in one text
TOGETHER = 6  # texts in one study

CAUGHT, UNDIRECTED = script("caught"), script("undirected")
HOOK = """window.ran = []; for (const name of ["alert", "confirm", "prompt", "print"])
  window[name] = (...said) => { window.ran.push(`${name}(${said})`); };"""


def read_payloads() -> list[str]:
    return [RIGHT_TO_LEFT, *OWN.read_text(encoding="utf-8").splitlines()]


def in_texts(payloads: Sequence[str]) -> list[str]:
    """The payloads joined to texts of bounded length."""
    texts = [""]
    for payload in payloads:
        if len(texts[-1]) + len(payload) >= LONGEST:
            texts.append("")
        texts[-1] = f"{texts[-1]} {payload}".strip()
    return texts


class Planted:
    """Rows that hold the payloads, and where they are shown; `remove` leaves nothing."""

    def __init__(self, site: Site, payloads: Sequence[str]) -> None:
        self.site, self.payloads, self.texts = site, payloads, in_texts(payloads)
        self.rows: list[models.Model] = []
        self.public = ["/corpus/?q=spokeshave", "/changes/", "/topics/"]
        self.desk = [admin("index")]
        self._studies()
        self._answers()
        self._desk()
        self._import()

    def remove(self) -> None:
        Study.objects.filter(study_id__startswith="PLANTED").delete()
        Study.objects.filter(doi__startswith="10.1000/planted").delete()
        for row in reversed(self.rows):
            row.delete()
        CorpusEvent.objects.filter(study_key__startswith="PLANTED").delete()

    def _studies(self) -> None:
        """Each study holds several texts: each of them is a passage, a finding and a comment, some one is its title."""
        for n, start in enumerate(range(0, len(self.texts), TOGETHER)):
            study_id, some = f"PLANTED{n}", self.texts[start : start + TOGETHER]
            first = some[0]
            concept = make_concept(
                f"planted-{n}", name=first[:150], aliases=(f"{first[:140]} alias",), definition=" ".join(some)
            )
            self.rows.append(concept)
            study = make_study(
                study_id=study_id, title=first, authors=[p[:200] for p in self.payloads[n * 12 :][:12]],
                journal=some[-1][:400], population=first, curator_notes=" ".join(some), licence=some[-1][:100],
                concepts=(concept,), status="draft", texts=["The men used a spokeshave every day for a year."] * len(some),
            )  # fmt: skip
            for text in some:
                make_finding(study, statement=text, intervention=text[:400], comparator=text[:400], outcome=text[:400])
            curation.publish([study_id], by=None, by_name="a test")
            for position, text in enumerate(some):  # past the gate that keeps broken texts from readers
                Passage.objects.filter(study=study, position=position).update(text=f"{text} spokeshave.")
                curation.comment(study_id, text, by=None, by_name="a test")
            self.public += [f"/studies/{study_id}/", f"/topics/planted-{n}/"]
            self.desk += [admin(f"corpus_app_study_{page}", study.pk) for page in ("change", "comments")]
        assert Passage.objects.filter(text__endswith=" spokeshave.").count() >= len(self.texts)
        curation.revise_study("PLANTED0", by=None, by_name="a test", population=self.texts[-1])
        key = Study.objects.get(study_id="PLANTED0").pk
        self.desk += [
            *(admin(f"corpus_app_study_{page}", key) for page in ("history", "delete")),
            admin("corpus_app_corpusevent_changelist"), admin("corpus_app_concept_changelist"),
            admin("corpus_app_concept_terms"), admin("corpus_app_study_changelist", query="?q=PLANTED"),
            admin("corpus_app_study_state", "withdraw", query=f"?ids={key}"),
            admin("corpus_app_study_duplicates"), admin("corpus_app_passage_changelist", query="?q=spokeshave"),
            admin("corpus_app_concept_change", self.rows[0].pk),
        ]  # fmt: skip

    def _answers(self) -> None:
        for start in range(0, len(self.payloads), 20):
            some = self.payloads[start : start + 20]
            text = in_texts(some)[0]
            first = make_evidence(1, title=text, text=f"{text} ends here.", highlights=[[0, 3]])
            address = self.site.stored(
                question=text, message=text, related_topics=[{"id": "x", "name": text}],
                summary={"text": text, "sentences": [make_sentence(first, text)]},
                citations=[make_citation(n, title=p, authors=[p], journal=p, population=p, url=p) for n, p in enumerate(some, 1)],
                evidence=[first, *(make_evidence(n, title=p, text=p, highlights=[]) for n, p in enumerate(some, 2))],
            )  # fmt: skip
            self.public.append(address.removeprefix(self.site.url))
            self.rows.append(Answer.objects.get(id=address.rstrip("/").rpartition("/")[2]))

    def _desk(self) -> None:
        now, answer = timezone.now(), self.rows[-1]
        for n, text in enumerate(self.texts):
            self.rows += [
                Feedback.objects.create(answer=answer, is_helpful=False, reasons=["wrong"], words=text, given_at=now),
                Gap.objects.create(
                    key=uuid.uuid4().hex, question=text, note=text, asked=9_000, outcome="partial", missing=[text],
                    first_asked_at=now, last_asked_at=now,
                ),
                GoldenQuestion.objects.create(
                    key=f"planted-{n}", question=text, mode="beginner", kind="answerable_lay", note=text
                ),
            ]  # fmt: skip
        gap, golden = self.rows[-2:]
        self.desk += [admin("qa_app_gap_change", gap.pk), admin("qa_app_goldenquestion_change", golden.pk)]
        self.desk += [admin(f"qa_app_{name}_changelist") for name in ("answer", "feedback", "gap", "goldenquestion")]
        searched = ("corpus_app_study", "corpus_app_passage", "qa_app_answer", "qa_app_gap")
        self.desk += [admin(f"{page}_changelist", query=f"?q={quote(self.texts[0])}") for page in searched]

    def _import(self) -> None:
        records = "".join(
            f"TY  - JOUR\nTI  - {text}\nAU  - {self.payloads[0]}\nPY  - 2020\nJO  - {text[:300]}\n"
            f"DO  - 10.1000/planted.{n}\nUR  - {self.payloads[n % len(self.payloads)]}\nAB  - {text}\nER  -\n\n"
            for n, text in enumerate(self.texts)
        )
        name = self.payloads[0]
        job = jobs.create_job(records.encode(), file_name=f"{name}.ris", by=None, by_name=name[:150])
        jobs.run_job(job)
        assert job.status == ImportJob.Status.PREVIEWED
        self.rows.append(job)
        self.desk += [admin("corpus_app_importjob_changelist"), admin("corpus_app_importjob_change", job.pk)]


def admin(name: str, *args: object, query: str = "") -> str:
    return reverse(f"admin:{name}", args=args) + query


@pytest.fixture
def planted(site: Site) -> Iterator[Planted]:
    planted = Planted(site, read_payloads())
    yield planted
    planted.remove()


def test_nothing_that_was_brought_in_runs_on_any_page(site: Site, page: Page, watch: Watch, planted: Planted) -> None:
    page.add_init_script(HOOK)
    sign_in(page, site)

    for address in (*planted.public, *planted.desk):
        response = page.goto(site.url + address)
        assert response.status == 200, address
        open_folds(page)
        assert page.evaluate(CAUGHT) == [], address
        assert page.evaluate(UNDIRECTED) == [], address
        assert watch.complaints == [], address
        if address in planted.public:
            assert_no_wider(page, 320)


def test_the_search_for_planted_markup_finds_it(page: Page, watch: Watch, site: Site) -> None:
    """Otherwise the tests above could not fail."""
    watch.expected = ("",)
    page.goto(site.url)

    page.evaluate(
        'document.querySelector(\'main\').innerHTML += \'<img alt="" src="/x" onerror="alert(1)"><a href=" javascript:alert(1)">x</a>\''
    )

    assert len(page.evaluate(CAUGHT)) == 2
