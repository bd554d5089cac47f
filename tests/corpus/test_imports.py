"""Files on their way in: read, shown, chosen from, carried out; what each item would do and did."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from hypothesis import given

from corpus_app import curation, sources, tasks
from corpus_app.curation import effects, history, jobs, listed_lookups, lookup
from corpus_app.curation.lookup import Answer
from corpus_app.indexing import consistency
from corpus_app.models import CorpusEvent, ImportItem, ImportJob, Passage, Study
from corpus_app.records import Notice
from corpus_app.roles import READERS
from corpus_app.sources import AddedPassages, NoticeDraft, StudyDraft, serialization
from corpus_app.sources.identifier_lists import Identifier, identifier_of
from tests.builders import make_collection, make_concept, make_curator, make_study
from tests.corpus.test_sources import drafts

RIS = """TY  - JOUR
TI  - Ten weekly sets of squats in trained men: a randomized trial
AU  - Alpha, Anna
AU  - Beta, Bert
PY  - 2021
JO  - Journal of Squats
DO  - 10.1000/squats.1
AB  - Ten weekly sets of squats increased quadriceps thickness more than five in forty trained men. Strength rose alike.
ER  -

TY  - JOUR
TI  - Creatine and sprinting
AU  - Gamma, Gina
PY  - 2019
DO  - 10.1000/creatine.1
AB  - Creatine improved repeated sprints (P B 0.05) in twenty cyclists over six weeks of training.
ER  -

TY  - JOUR
AU  - Delta, Dora
PY  - 2018
ER  -
"""


@pytest.fixture
def by(db: None) -> User:
    make_collection("training")
    return make_curator()


def read(content: str | bytes, *, by: User | None, name: str = "refs.ris", **options: Any) -> ImportJob:
    job = jobs.create_job(content.encode() if isinstance(content, str) else content, file_name=name, by=by, **options)
    assert jobs.run_job(job)
    job.refresh_from_db()
    return job


def carry_out(job: ImportJob, *, by: User | None, **options: Any) -> ImportJob:
    jobs.confirm(job, jobs.Options(**({"collection": "training"} | options)), by=by)
    assert jobs.run_job(job)
    job.refresh_from_db()
    return job


def items(job: ImportJob, *names: str) -> list[tuple[Any, ...]]:
    return list(job.items.values_list(*names))


def ris_items(record: str) -> list[Any]:
    return [*sources.stream(sources.Source("Crossref", record.encode()), sources.Intake())]


def beir(count: int) -> bytes:
    rows = [
        {"_id": f"d{n}", "title": f"Study {n}", "text": f"Study {n} looked at squats. They helped."}
        for n in range(count)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


@given(drafts)
def test_a_draft_comes_back_from_json_as_it_was(draft: StudyDraft) -> None:
    added = AddedPassages("S1", "", "", draft.passages)
    notice = NoticeDraft(draft.notice, "10.1/x", "", draft.title)

    for read, kept in (
        (serialization.study_draft, draft),
        (serialization.added_passages, added),
        (serialization.notice_draft, notice),
    ):
        assert read(json.loads(json.dumps(serialization.values_of(kept)))) == kept


def test_records_of_one_study_in_a_file_are_joined(by: User) -> None:
    first, *_ = RIS.split("\n\n")
    other = first.replace("thickness more than five", "thickness less than five")

    fuller = first.replace("DO  - 10.1000/squats.1\n", "").replace("Strength rose alike.", "X. " * 9 + "Rest did not.")
    stranger = first.replace("Ten weekly sets of squats in trained men: a randomized trial", "Milk and bones of mice")

    job = read("\n\n".join([first, first, other, fuller, stranger, ""]), by=by)

    assert [(p["line"], p["weight"]) for p in job.problems] == [(11, "told"), (40, "broken")]
    assert "The title there is another one" in job.problems[1]["reason"]
    (key, *_), *joining = items(job, "study_key", "line", "effect", "chosen")
    assert joining == [(key, 21, "joins", True), (key, 31, "joins", True)]
    assert [bool(taken) for (taken,) in items(job, "taken")] == [False, False, True]
    assert items(job, "n_passages") == [(1,), (0,), (1,)]
    carry_out(job, by=by)
    study = Study.objects.get()
    assert (study.study_id, study.doi) == (key, "10.1000/squats.1")
    assert [text[-12:] for text in study.passages.order_by("position").values_list("text", flat=True)] == [
        " rose alike.", "est did not.",
    ]  # fmt: skip
    assert read("\n\n".join([first, other, fuller]), by=by).status == "done"


def test_what_was_excluded_elsewhere_is_not_chosen_and_keeps_its_labels(by: User) -> None:
    job = read(RIS.replace("PY  - 2021", 'PY  - 2021\nN1  - RAYYAN-INCLUSION: {"A"=>"Excluded"}'), by=by)

    assert items(job, "effect", "chosen", "doubt") == [
        ("new", False, "It is marked there as Rayyan: excluded."), ("new", True, ""),
    ]  # fmt: skip
    jobs.choose_all_items(job, is_chosen=True)
    assert items(job, "chosen") == [(False,), (True,)]
    jobs.choose_items(job, among=[item.pk for item in job.items.all()], chosen=[job.items.earliest("pk").pk])
    carry_out(job, by=by)
    assert Study.objects.get().labels == ["Rayyan: excluded"]


def test_a_known_doi_and_an_alike_title_are_shown_and_not_chosen(by: User) -> None:
    same = make_study(doi="10.1000/creatine.1")
    alike = make_study(
        doi=None, title="Ten weekly sets of squats in trained men: A randomised trial", year=2021, authors=["Alpha A"]
    )

    job = read(RIS, by=by)

    assert items(job, "effect", "other_key", "chosen") == [
        ("alike", alike.study_id, False),
        ("joins", same.study_id, False),
    ]
    with pytest.raises(curation.CurationError, match="Nothing is chosen"):
        carry_out(job, by=by)
    jobs.cancel_job(job)
    assert (job.status, job.report["outcomes"]) == ("done", {"left": 2})
    assert jobs.find_work() is None
    with pytest.raises(jobs.NotReady):
        jobs.cancel_job(job)
    with pytest.raises(jobs.NotReady):
        jobs.choose_all_items(job, is_chosen=False)


def test_an_unforeseen_fault_ends_the_job_with_its_words(by: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(sources, "stream", fail)
    job = jobs.create_job(RIS.encode(), file_name="refs.ris", by=by)

    with pytest.raises(RuntimeError):
        jobs.run_job(job)

    job.refresh_from_db()
    assert (job.status, job.error) == ("failed", "RuntimeError: out of order")
    assert jobs.find_work() is None


ARTICLE = """<article><front><article-meta><title-group><article-title>Sets</article-title></title-group></article-meta></front>
<body><sec><title>Results</title><p>Strength rose [<xref ref-type="bibr" rid="b1">1</xref>]. It fell.</p><table-wrap>
<label>Table 4</label><caption><p>Loads.</p></caption><table><thead><tr><th/><th>kg</th></tr></thead>
<tr><td>Squat, vs. none</td><td>101. (12)</td></tr><tr><td>Bench</td><td>80</td></tr></table></table-wrap></sec></body>
<back><ref-list><ref id="b1"><label>1</label><pub-id pub-id-type="pmid">77</pub-id></ref></ref-list></back></article>"""


def test_an_article_keeps_its_headings_and_the_works_that_it_cites(by: User) -> None:
    carry_out(read(ARTICLE, by=by, name="a.xml"), by=by)

    prose, table = Passage.objects.order_by("position")
    work = {"at": 13, "reference": "b1", "label": "1", "doi": "", "pmid": "77"}
    assert (prose.text, prose.source_heading, prose.cited_works) == ("Strength rose. It fell.", "Results", [work])
    assert (table.kind, table.source_heading) == ("table", "Results > Table 4")
    rows = [table.text[row.start : row.end] for row in table.sentences.order_by("position")]
    assert rows == ["Table 4: Loads; Squat, vs. none; kg: 101. (12)", "Table 4: Loads; Bench; kg: 80"]
    curation.revise_passage(prose.pk, by=by, text="Indeed, strength rose. It fell.")
    assert Passage.objects.get(pk=prose.pk).cited_works == [work | {"at": 21}]
    curation.remove_passage(prose.pk, by=by)
    history.restore(CorpusEvent.objects.order_by("-pk")[0].pk, by=by)
    assert Passage.objects.get(text__startswith="Indeed").cited_works == [work | {"at": 21}]
    assert not [fault for fault in consistency.audit() if "sentences" in fault]


def test_the_same_file_again_changes_nothing(by: User) -> None:
    carry_out(read(RIS, by=by), by=by, design="cohort_study")  # for the one whose source tells none
    designs = set(Study.objects.values_list("design", flat=True))
    assert designs == {"randomized_controlled_trial", "cohort_study"}
    Study.objects.filter(doi="10.1000/squats.1").update(title="Mended at the desk", design="cohort_study")

    again = read(RIS, by=by)

    assert items(again, "effect") == [("same",), ("same",)]
    assert again.status == "done"  # nothing can be chosen


def test_a_newer_record_does_not_erase_curated_fields(by: User) -> None:
    make_concept("hypertrophy")
    carry_out(read(RIS, by=by), by=by)
    study = Study.objects.get(doi="10.1000/squats.1")
    curation.revise_study(study.study_id, by=by, design="cohort_study", population="Forty men.", peer_reviewed=False)
    curation.set_concepts(study.study_id, ["hypertrophy"], by=by)
    newer = "TY  - JOUR\nTI  - Ten weekly sets of squats in trained men\nAU  - Alpha, Anna\nPY  - 2021\nDO  - 10.1000/squats.1\nUR  - https://example.org/squats\nER  -\n"

    job = read(newer, by=by)
    assert items(job, "effect", "chosen") == [("changes", True)]
    carry_out(job, by=by)

    study.refresh_from_db()
    assert (study.title, study.url) == ("Ten weekly sets of squats in trained men", "https://example.org/squats")
    assert (study.design, study.population, study.peer_reviewed) == ("cohort_study", "Forty men.", False)
    assert study.passages.count() == 1
    assert study.concepts.count() == 1


def test_old_files_are_pruned_and_their_items_stay(by: User) -> None:
    ended, recent = carry_out(read(RIS, by=by), by=by), read(RIS, by=by)
    words = [item.draft["passages"] for item in ended.items.all()]
    ImportJob.objects.filter(pk=ended.pk).update(finished_at=timezone.now() - timedelta(days=91))

    tasks.prune_imports()
    waiting = jobs.create_job(RIS.encode(), file_name="a.ris", by=by)

    ended.refresh_from_db()
    recent.refresh_from_db()
    assert (bytes(ended.content), bytes(recent.content)) == (b"", RIS.encode())
    assert [item.draft["passages"] for item in ended.items.all()] == words
    assert ended.content_hash == recent.content_hash

    call_command("prune_imports", days=0)
    assert not ImportJob.objects.exclude(pk=waiting.pk).exclude(content=b"").exists()
    waiting.refresh_from_db()
    assert waiting.content  # not read yet
    with pytest.raises(CommandError, match="0 or more"):
        call_command("prune_imports", days=-1)


def test_what_cannot_be_submitted_or_published_comes_in_with_the_reason(by: User, settings: Any) -> None:
    job = carry_out(read(RIS.replace("AB  -", "N2  x -"), by=by), by=by, submit=True)
    assert set(Study.objects.values_list("status", flat=True)) == {"draft"}
    assert "no passage" in items(job, "outcome_reason")[0][0]

    settings.REVIEW_REQUIRED = True
    other = RIS.replace("10.1000/", "10.2000/").replace("squats", "rows").replace("Creatine", "Beetroot")
    job = carry_out(read(other, by=by), by=by, publish=True, submit=True)
    assert job.report["published"] == []
    assert "reviewer" in items(job, "outcome_reason")[0][0]


def test_our_own_files_in_a_zip_bring_everything_but_unknown_concepts(by: User) -> None:
    path = Path(__file__).resolve().parents[2] / "corpus/studies/S018.json"
    make_collection(json.loads(path.read_text())["collection"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(path, "studies/S018.json")

    job = carry_out(read(packed.getvalue(), by=by, name="corpus.zip"), by=by)

    assert items(job, "study_key", "outcome") == [("S018", "created")]
    assert Study.objects.get(study_id="S018").passages.count() > 1
    assert any("no such concept" in problem["reason"] for problem in job.problems)


def test_an_import_without_publishing_leaves_published_studies_alone(by: User) -> None:
    carry_out(read(RIS, by=by), by=by, publish=True)
    newer = RIS.replace("Strength rose alike", "Strength rose more")

    job = carry_out(read(newer, by=by), by=by)

    assert items(job, "outcome")[0] == ("refused",)
    assert "is published" in items(job, "outcome_reason")[0][0]
    assert not Passage.objects.filter(text__contains="rose more").exists()
    carry_out(read(newer, by=by), by=by, publish=True)
    assert Passage.objects.filter(text__contains="rose more").exists()
    broken = read(RIS.replace("Strength rose alike.", "Strength rose alike (P B 0.05)."), by=by)
    outcome, reason = items(carry_out(broken, by=by, publish=True), "outcome", "outcome_reason")[0]
    assert (outcome, "is published, and its new text looks broken" in reason) == ("refused", True)
    assert not Passage.objects.filter(study__doi="10.1000/squats.1", text__contains="(P B 0.05)").exists()


def test_a_study_created_meanwhile_is_refused_alone(by: User) -> None:
    job = read(RIS, by=by)
    make_study(doi="10.1000/squats.1")

    carry_out(job, by=by)

    assert items(job, "outcome") == [("refused",), ("created",)]
    assert "10.1000/squats.1 is the DOI of" in items(job, "outcome_reason")[0][0]


def test_passages_find_their_study_and_come_in_once(by: User) -> None:
    study = make_study(status="draft", texts=("It was there.",))
    table = f"study_id,section,text\n{study.study_id},results,It was there.\n{study.study_id},results,It is new.\nT-NONE,results,Lost.\n"

    job = read(table, by=by, name="passages.csv")
    assert items(job, "kind", "effect") == [("passages", "changes"), ("passages", "unmatched")]
    carry_out(job, by=by)

    assert list(study.passages.order_by("position").values_list("text", flat=True)) == ["It was there.", "It is new."]
    assert items(read(table, by=by, name="passages.csv"), "effect")[0] == ("same",)


def test_a_notice_marks_its_study_where_that_is_permitted(by: User) -> None:
    study = make_study(doi="10.1000/gone")
    draft = NoticeDraft(Notice.RETRACTED, "10.1000/gone", "", "Retraction of it")

    def job_of(who: User) -> ImportJob:
        job = jobs.create_job(b"x", file_name="x", by=who)
        item = next(effects.DraftComparer().items([draft]))
        item.job, item.position = job, 0
        item.save()
        ImportJob.objects.filter(pk=job.pk).update(status="previewed")
        return carry_out(job, by=who)

    assert items(job_of(make_curator("reader", role=READERS)), "outcome_reason") == [("You may not set notices.",)]
    assert items(job_of(by), "outcome_reason") == [("Marked as retracted.",)]
    study.refresh_from_db()
    assert (study.notice, study.notice_reason) == ("retracted", "Retraction of it")


def test_a_look_up_is_read_like_a_file_and_says_what_came_of_each(by: User, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(doi="10.1000/creatine.1", title="Creatine and sprinting", study_id="HERE")
    answers = {
        "10.1000/creatine.1": Answer(identifier_of("10.1000/creatine.1"), tuple(ris_items(RIS.split("\n\n")[1]))),
        "10.1000/squats.1": Answer(identifier_of("10.1000/squats.1"), tuple(ris_items(RIS.split("\n\n")[0]))),
        "10.1000/busy": Answer(identifier_of("10.1000/busy"), (), "It is busy.", can_retry=True),
        "10.1000/none": Answer(identifier_of("10.1000/none"), (), "No such record."),
    }
    asked: list[str] = []

    def answer(asker: lookup.Asker, identifiers: Sequence[Identifier]) -> list[Answer]:
        asked.extend(one.value for one in identifiers)
        return [answers[one.value] for one in identifiers]

    monkeypatch.setattr(lookup.Asker, "answers", answer)
    listed = "DOI\nhttps://doi.org/10.1000/SQUATS.1\n10.1000/busy, 10.1000/none 10.1000/squats.1;10.1000/creatine.1\n"
    job = jobs.create_job(listed.encode(), file_name="dois.csv", by=by)
    assert (job.way, in_turns(job)) == ("lookup", 5)

    shown = items(job, "line", "effect", "chosen", "study_key")
    (_, _, _, new), *others = shown
    assert shown[0][:3] == (1, "new", True)
    assert others == [
        (2, "failed", False, ""), (3, "not_found", False, ""), (4, "duplicate", False, ""), (5, "joins", True, "HERE"),
    ]  # fmt: skip
    job.refresh_from_db()
    assert (job.status, job.done, job.total, len(asked)) == ("previewed", 5, 5, 4)

    answers["10.1000/busy"] = answers["10.1000/squats.1"]
    listed_lookups.ask_again(job)
    assert jobs.run_job(job)
    assert asked[4:] == ["10.1000/busy"]
    assert items(job, "line", "effect")[1] == (2, "duplicate")
    assert new == items(job, "study_key")[0][0]


def in_turns(job: ImportJob) -> int:
    for turns in range(1, 500):
        if jobs.run_job(job, seconds=0):
            return turns
        job.refresh_from_db()
    raise AssertionError


def test_an_import_is_parsed_once_and_again_only_by_another_process(by: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BATCH", 5)
    parsed: list[str] = []
    parse = sources.stream
    monkeypatch.setattr(sources, "stream", lambda source, intake: parsed.append(source.name) or parse(source, intake))
    job = jobs.create_job(beir(22), file_name="corpus.jsonl", by=by)

    jobs.run_job(job, seconds=0)
    jobs.opened_sources.clear()  # as a killed worker does
    monkeypatch.setattr(jobs, "BATCH", 4)
    in_turns(job)

    assert len(parsed) == 2
    assert list(job.items.values_list("position", flat=True)) == list(range(22))
    assert job.items.values("study_key").distinct().count() == 22


@pytest.mark.parametrize("step", ["waiting", "reading", "running"])
def test_a_cancelled_import_keeps_what_came_in(by: User, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    monkeypatch.setattr(jobs, "BATCH", 4)
    monkeypatch.setattr(jobs, "IMPORTED_AT_ONCE", 10)
    job = jobs.create_job(beir(12), file_name="corpus.jsonl", by=by)
    if step == "running":
        in_turns(job)
        jobs.confirm(job, jobs.Options(collection="training"), by=by)
    if step != "waiting":
        jobs.run_job(job, seconds=0)
    seen_by_worker = ImportJob.objects.get(pk=job.pk)

    jobs.cancel_job(job)

    assert jobs.run_job(seen_by_worker, seconds=0)
    assert jobs.find_work() is None
    assert (job.status, job.report["cancelled"]) == ("done", True)
    assert Study.objects.count() == (jobs.IMPORTED_AT_ONCE if step == "running" else 0)
    assert job.items.filter(outcome="left").count() == {"waiting": 0, "reading": 4, "running": 2}[step]


@pytest.fixture
def run(by: User, tmp_path: Path) -> Callable[..., tuple[str, str]]:
    def run(content: str = RIS, *, name: str = "refs.ris", **options: Any) -> tuple[str, str]:
        (tmp_path / name).write_text(content)
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command("import_corpus", tmp_path / name, stdout=out, stderr=err, **options)
        except CommandError as error:
            err.write(str(error))
        return out.getvalue(), err.getvalue()

    return run


def test_the_command_brings_a_file_in_once_with_progress(run: Callable[..., tuple[str, str]]) -> None:
    assert "Dry run, nothing was changed." in run(dry_run=True, collection="training")[0]
    assert not ImportJob.objects.exists()

    out, err = run(collection="training")
    assert "Reading: 2 of 2" in out
    assert "Bringing in: 2 of 2" in out
    assert "RIS: 2 new." in out
    assert "Brought in: 2 created. Published: 0." in out
    assert "refs.ris:19 title: is missing" in err

    assert "RIS: 2 same." in run(collection="training")[0]
    assert Study.objects.count() == 2


def test_the_command_checks_the_collection_first(run: Callable[..., tuple[str, str]]) -> None:
    out, err = run(collection="nonsense")

    assert (out, err) == ("", "There is no collection 'nonsense'. There are: training.")
    assert not ImportJob.objects.exists()
    assert "Choose the collection" in run()[1]
    assert not ImportItem.objects.exists()


def test_the_command_reports_what_was_not_imported_or_published(run: Callable[..., tuple[str, str]], by: User) -> None:
    out, err = run(collection="training", publish=True)

    assert "Brought in: 2 created. Published: 1." in out
    assert "1 came in as drafts and were not published. Mend them at the desk, then publish them there:" in out
    held = Study.objects.get(status="draft").study_id
    assert f"{held}: Not published: the text of passage 1 looks broken." in out
    assert err.endswith(
        "What did not come in: 1, named above. All that is sound did. "
        "Correct the rest and repeat: what is here already comes in only once."
    )
    assert "What would not come in: 1, named above." in run(dry_run=True)[1]


@pytest.mark.django_db
def test_two_workers_bring_in_two_files_and_look_up_one_list_at_a_time() -> None:
    content = b"TY  - JOUR\nTI  - Squats\nER  -\n"
    files = {jobs.create_job(content, file_name=name, by=None).pk for name in ("a.ris", "b.ris")}
    lists = {jobs.create_job(b"10.1000/a", file_name="", by=None, way="lookup").pk for _ in range(2)}

    with jobs.next_job() as first, jobs.next_job() as second, jobs.next_job() as third, jobs.next_job() as fourth:
        at_work = {job.pk for job in (first, second, third) if job}
        assert len(at_work) == 3
        assert files < at_work
        assert len(at_work & lists) == 1
        assert fourth is None
