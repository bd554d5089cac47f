import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app import sources
from corpus_app.appraisal import BiasJudgement, BiasTool, Effect, EffectMeasure, RiskOfBias
from corpus_app.records import ORDINARY_KINDS, CitedWork, Direction, Lean, Notice, Section, Status
from corpus_app.sources import FindingDraft, Known, PassageDraft, StudyDraft

STARTER = Path(__file__).resolve().parents[2] / "corpus"

STUDY: dict[str, Any] = {
    "study_id": "T001", "title": "Weekly sets and muscle growth", "authors": ["Example AB"], "year": 2020,
    "doi": "10.1000/test.1", "design": "randomized_controlled_trial", "peer_reviewed": True, "collection": "training",
    "population": {"description": "Trained men", "training_status": "trained", "age_group": "adults", "sex": "male"},
    "concepts": ["hypertrophy"], "findings": [], "status": "published",
    "passages": [{"section": "results", "text": "Ten weekly sets increased thickness in trained men."}],
}  # fmt: skip
CONCEPTS: dict[str, Any] = {
    "concepts": [
        {"id": "hypertrophy", "name": "muscle hypertrophy", "kind": "outcome", "aliases": ["get bigger"],
         "definition": "Growth of muscle.", "collections": ["training"]},
        {"id": "sets", "name": "weekly sets", "kind": "training_variable", "aliases": [], "definition": "",
         "collections": []},
    ],
    "relations": [{"source": "sets", "relation": "affects", "target": "hypertrophy", "studies": ["T001"]}],
    "collections": [{"id": "training", "name": "Training", "description": "", "keywords": ["sets"]}],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "studies").mkdir()
    write(tmp_path / "studies/T001.json", STUDY)
    write(tmp_path / "concepts.json", CONCEPTS)
    return tmp_path


def write(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values, indent=2), encoding="utf-8")


def study(**changes: Any) -> dict[str, Any]:
    """The keys of a sound study file with changes; a key set to `...` is left out."""
    return {key: value for key, value in (STUDY | changes).items() if value is not ...}


def read_one(folder: Path, values: Any, name: str = "T002") -> tuple[sources.CorpusDraft, list[str]]:
    """The folder with one more study in it, and the problems found in that one's file."""
    content = values if isinstance(values, bytes) else json.dumps(values, indent=2).encode()
    (folder / f"studies/{name}.json").write_bytes(content)
    corpus = sources.read(folder)
    return corpus, [str(problem) for problem in corpus.problems]


def test_the_starter_corpus_is_sound_and_written_back_byte_for_byte() -> None:
    corpus = sources.read(STARTER)

    assert corpus.problems == ()
    assert len(corpus.studies) == 115
    assert sum(draft.status is Status.PUBLISHED for draft in corpus.studies) == 101
    assert sum(len(draft.passages) for draft in corpus.studies) == 822
    assert len(corpus.vocabulary.concepts) == 594
    for draft in corpus.studies:
        assert sources.study_json(draft) == (STARTER / f"studies/{draft.study_id}.json").read_bytes()
    assert sources.master_csv(corpus.studies) == (STARTER / "studies_master.csv").read_bytes()
    assert sources.concepts_json(corpus.vocabulary) == (STARTER / "concepts.json").read_bytes()


def test_a_broken_study_gives_its_field_and_reason_and_no_draft(folder: Path) -> None:
    for changes, field, reason in (
        ({"title": ...}, "title", "is missing"), ({"title": 5}, "title", "is a number; it should be text"),
        ({"title": "x" * 1001}, "title", "has 1,001 characters; at most 1,000"),
        ({"title": "two\nlines"}, "title", "line break"), ({"title": "a\x00b"}, "title", "U+0000 at position 2"),
        ({"study_id": "../../etc"}, "study_id", "letters, digits"),
        ({"authors": ["Example AB; Sample CD"]}, "authors", "semicolon"),
        ({"year": True}, "year", "is true or false"), ({"year": 20200}, "year", "between 1800 and 2100"),
        ({"doi": "see publisher"}, "doi", "is not a DOI"), ({"url": "http://[broken"}, "url", "is not an address"),
        ({"design": ["thesis"]}, "design", "it should be text"),
        ({"collection": "cooking"}, "collection", "known: training"),
        ({"population": {"age": "old"}}, "population.age", "is not a key"),
        ({"duration_weeks": {"min": 12, "max": 6}}, "duration_weeks", "longer than the longest"),
        ({"duration_weeks": {"min": 1e400}}, "", "Infinity is not a number"),
        ({"concepts": ["unheard-of"]}, "concepts", "add or correct it there"),
        ({"concepts": ["hypertrophy", "hypertrophy"]}, "concepts[1]", "twice"),
        ({"findings": [{"statement": "x"}]}, "findings[0].direction", "is missing"),
        ({"findings": [{"asked_as": [" "]}]}, "findings[0].asked_as[0]", "is empty"),
        ({"status": "draft"}, "status_reason", "says why it is not published"),
        ({"notice": "retracted"}, "notice_reason", "needs its reason"),
        ({"passages": []}, "passages", "at least one passage"),
        ({"derived_numbers": [{}]}, "derived_numbers[0]", "it should be a number"),
        ({"tags": []}, "tags", "is not a key of the format"),
    ):  # fmt: skip
        corpus, _ = read_one(folder, study(**({"study_id": "T002", "doi": "10.1000/test.2"} | changes)))

        assert [draft.study_id for draft in corpus.studies] == ["T001"]
        assert corpus.broken == 1
        own = [p for p in corpus.problems if (p.file, p.field) == ("studies/T002.json", field)]
        assert any(reason in problem.reason for problem in own), (field, corpus.problems)


def test_an_unreadable_file_is_one_problem(folder: Path) -> None:
    for content, message in (
        (b"", "studies/T002.json: is empty; fill it, or leave it out."), (b"\xff\xfe{\x00}\x00", "studies/T002.json:1: is not UTF-8 (byte 0xff)"),
        (b'{\n"title": "caf\xe9"}', "studies/T002.json:2: is not UTF-8 (byte 0xe9)"),
        (b'{\n  "title": }', "studies/T002.json:2: is not JSON: Expecting value at column 12."),
        (b"[1, 2]", "studies/T002.json: holds a list; it should hold one object."),
        (b'{"year": NaN}', "NaN is not a number"), (b'{"title": "a", "title": "b"}', "the key title stands twice"),
        (b"[" * 100_000, "studies/T002.json: is nested too deeply."),
        (b'{"year": ' + b"9" * 5000 + b"}", "studies/T002.json: is not sound JSON"),
        (b'{"title": "' + b"x" * 5_000_001 + b'"}', "studies/T002.json: is larger than 5 MB"),
    ):  # fmt: skip
        corpus, problems = read_one(folder, content)

        assert [draft.study_id for draft in corpus.studies] == ["T001"]
        assert len(problems) == 1
        assert message in problems[0]


def test_problem_names_the_line_of_its_value(folder: Path) -> None:
    content = json.dumps(study(year="soon", passages=[{"section": "results", "text": ""}]), indent=2)

    corpus, _ = read_one(folder, content.encode(), name="T001")

    named = {content.splitlines()[problem.line - 1].strip() for problem in corpus.problems if problem.line}
    assert named >= {'"year": "soon",', '"text": ""'}
    write(folder / "studies/T001.json", study(passages=[{"section": "results"}]))
    (problem, *_) = sources.read(folder).problems
    text = (folder / "studies/T001.json").read_text(encoding="utf-8")
    assert (problem.field, text.splitlines()[(problem.line or 0) - 1].strip()) == ("passages[0].text", "{")


def test_twin_ids_and_dois_are_reported_and_the_first_is_kept(folder: Path) -> None:
    write(folder / "studies/T002.json", study())
    write(folder / "studies/T003.json", study(study_id="T003", doi="https://doi.org/10.1000/TEST.1"))

    corpus = sources.read(folder)

    for path in (folder / "studies/T001.json", folder / "nowhere"):
        with pytest.raises(sources.Unreadable):
            sources.read(path)
    assert [draft.origin for draft in corpus.studies] == ["studies/T001.json"]
    assert [(problem.file, problem.field) for problem in corpus.problems] == [
        ("studies/T002.json", "study_id"), ("studies/T002.json", "doi"), ("studies/T003.json", "doi"),
    ]  # fmt: skip


def test_a_broken_entry_of_the_concepts_is_reported(folder: Path) -> None:
    for change, message in (
        (lambda c: c["concepts"][1].update(id="a b"), "letters, digits and dashes"),
        (lambda c: c["concepts"][1].update(aliases=["Get Bigger"]), "is an alias of hypertrophy already"),
        (lambda c: c["concepts"][1].update(aliases=["a", "A"]), "twice, but for capitals"),
        (lambda c: c["concepts"][1].update(collections=["cooking"]), "known: training"),
        (lambda c: c["concepts"].append(c["concepts"][0]), "stands twice"),
        (lambda c: c["relations"][0].update(target="nothing"), "is not a sound concept"),
        (lambda c: c["relations"][0].update(target="sets"), "cannot be related to itself"),
        (lambda c: c["relations"].append(c["relations"][0]), "stands twice"),
        (lambda c: c["relations"][0].update(studies=["T999"]), "source T999 is not there"),
        (lambda c: c["collections"].append(c["collections"][0]), "stands twice"),
        (lambda c: c.update(notes=[]), "is not a key"),
        (lambda c: c.pop("concepts"), "is missing"),
        (lambda c: c["concepts"][0].update(wanted="most"), "should be one of more, less, neither"),
    ):
        values = json.loads(json.dumps(CONCEPTS))
        change(values)
        write(folder / "concepts.json", values)

        problems = sources.read(folder).problems
        assert any(p.file == "concepts.json" and message in p.reason for p in problems), message
    concepts = [CONCEPTS["concepts"][0] | {"kind": ""}, CONCEPTS["concepts"][1]]
    write(folder / "concepts.json", CONCEPTS | {"concepts": concepts})
    corpus = sources.read(folder)
    assert corpus.studies == ()
    assert any("'hypertrophy' is not a sound concept" in problem.reason for problem in corpus.problems)
    (folder / "concepts.json").unlink()
    assert len(sources.read(folder, known=Known(frozenset({"training"}), frozenset({"hypertrophy"}))).studies) == 1


def draft(**changes: Any) -> StudyDraft:
    found, notes = sources.study_from(study())
    assert found, notes
    return replace(found, **changes)


texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40).filter(str.strip)
asked = st.sampled_from([None, "Why?", "Why?\nHow many?"])
drafts = st.builds(
    StudyDraft,
    study_id=st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", fullmatch=True),
    title=texts.filter(lambda text: not any(char in text for char in "\u2028\u2029")),
    authors=st.just(("Example AB",)), design=st.just(draft().design), collection=st.just("training"),
    status=st.sampled_from([Status.PUBLISHED, Status.IN_REVIEW]), year=st.none() | st.integers(1800, 2100),
    pmid=st.none() | st.integers(0, 10**11).map(str), n_participants=st.none() | st.integers(0, 10**6),
    duration_weeks_min=st.sampled_from([None, 2, 6.5]), duration_weeks_max=st.sampled_from([None, 8, 10.25]),
    findings=st.lists(
        st.builds(FindingDraft, texts, st.just(""), texts, st.sampled_from(Direction), texts, asked, st.none() | texts,
                  st.none() | st.sampled_from(Lean), st.sampled_from([None, True]),
                  st.sampled_from([None, Effect(EffectMeasure.MEAN_DIFFERENCE, 1.5, -2, 3, 90, "kg")])),
        max_size=2,
    ).map(tuple),
    takeaway=st.just("") | texts, asked_as=asked, curator_notes=st.just("") | texts,
    risk_of_bias=st.sampled_from([None, RiskOfBias(BiasTool.OTHER, (), BiasJudgement.HIGH, "AMSTAR 2.")]),
    labels=st.sampled_from([(), ("to read", "Rayyan: excluded")]), licence=st.sampled_from(["", "CC BY 4.0"]),
    notice=st.just(Notice.CORRECTED), notice_reason=texts,
    derived_numbers=st.lists(st.integers() | st.sampled_from(["12", "0.7"]), max_size=2).map(tuple),
    passages=st.lists(
        st.builds(PassageDraft, st.sampled_from(Section), texts, st.none() | st.integers(1, 99),
                  st.sampled_from(ORDINARY_KINDS), st.sampled_from(["", "Results > Table 4"]), asked_as=asked,
                  cited=st.sampled_from([(), (CitedWork(2, "b1", "1", "10.1000/x"), CitedWork(2, "b2", ""))])),
        max_size=3,
    ).map(tuple),
)  # fmt: skip


@given(drafts)
def test_written_study_reads_back_as_it_was(original: StudyDraft) -> None:
    values = json.loads(sources.study_json(original))

    found, notes = sources.study_from(values)

    assert notes == []
    assert found is not None
    assert replace(found, empty_keys=()) == original
    origins = ([(passage.heading, passage.cited) for passage in draft.passages] for draft in (found, original))
    assert next(origins) == next(origins)
    assert sources.study_json(found) == sources.study_json(original)


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
     lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(list(STUDY)) | st.text(), inner), max_leaves=20),
)  # fmt: skip
def test_nothing_in_a_file_raises(value: Any) -> None:
    values = value if isinstance(value, dict) else {"title": value, "passages": value, "population": value}

    found, notes = sources.study_from(STUDY | values)

    assert (found is None) == bool(notes)


def master(**changes: str) -> bytes:
    """A sound master CSV of study T001 with some cells changed."""
    (row,) = csv.DictReader(io.StringIO(sources.master_csv([draft()]).decode()))
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(row), lineterminator="\n")
    writer.writeheader()
    writer.writerow(row | changes)
    return out.getvalue().encode()


def read_master(tmp_path: Path, content: bytes) -> sources.CorpusDraft:
    path = tmp_path / "studies_master.csv"
    path.write_bytes(content)
    return sources.read(path)


def test_a_broken_row_gives_its_column_and_line(tmp_path: Path) -> None:
    for changes, field, reason in (
        ({"year": "2020.0"}, "year", "should be a whole number"),
        ({"year": "١٩٩٩"}, "year", "should be a whole number"),
        ({"n_participants": "1_000"}, "n_participants", "should be a whole number"),
        ({"duration_weeks_min": "nan"}, "duration_weeks_min", "should be a number"),
        ({"duration_weeks_min": "9", "duration_weeks_max": "8"}, "duration_weeks_min", "longer than"),
        ({"peer_reviewed": "perhaps"}, "peer_reviewed", "true or false"), ({"title": ""}, "title", "is missing"),
        ({"sex": "men"}, "sex", "one of female"), ({"status": "draft"}, "status_reason", "says why"),
        ({"concepts": "Bad id"}, "concepts[0]", "letters, digits"),
        ({"n_passages": "many"}, "n_passages", "should be a whole number"),
    ):  # fmt: skip
        corpus = read_master(tmp_path, master(**changes))

        assert (corpus.studies, corpus.broken) == ((), 1)
        (problem,) = corpus.problems
        assert (problem.line, problem.field) == (2, field)
        assert reason in problem.reason
    assert read_master(tmp_path, b"\xef\xbb\xbf" + master().replace(b"\n", b"\r\n")).problems == ()


def test_row_after_a_quoted_line_break_keeps_its_line_number(tmp_path: Path) -> None:
    header, row = master(curator_notes="one\ntwo\nthree").split(b"\n", 1)
    content = header + b"\n" + row + row.replace(b"T001", b"T002").replace(b"test.1", b"test.2").replace(b"2020", b"x")

    corpus = read_master(tmp_path, content)

    assert corpus.studies[0].curator_notes == "one\ntwo\nthree"
    assert [(problem.line, problem.field) for problem in corpus.problems] == [(5, "year")]


def test_an_unreadable_master_is_one_problem(tmp_path: Path) -> None:
    for content, message in (
        (b"", "studies_master.csv: is empty."), (b"study_id,title\nT001,x\n", "has no column authors, design"),
        (b"study_id,title,title\n", "has no column"), (b"\xff", "is not UTF-8"),
    ):  # fmt: skip
        corpus = read_master(tmp_path, content)

        assert corpus.studies == ()
        assert len(corpus.problems) == 1
        assert message in str(corpus.problems[0])


def test_odd_rows_of_the_master_are_reported_and_the_others_read(tmp_path: Path) -> None:
    header, row = master().rstrip(b"\n").split(b"\n", 1)
    rows = [header + b",mood", b"short,row", row + b",fine", b"", row + b",again", b'"open']

    corpus = read_master(tmp_path, b"\n".join(rows))

    assert [draft.study_id for draft in corpus.studies] == ["T001"]
    assert [(p.line, p.field) for p in corpus.problems] == [(1, "mood"), (2, ""), (5, "study_id"), (6, "")]


def test_study_file_wins_over_its_row_and_the_difference_is_reported(folder: Path) -> None:
    (folder / "studies_master.csv").write_bytes(master(year="1999", n_passages="7"))

    corpus = sources.read(folder)

    assert corpus.studies[0].year == 2020
    assert [(problem.line, problem.field) for problem in corpus.problems] == [(2, "year"), (2, "n_passages")]
    assert "says “1999”, its file says “2020”" in corpus.problems[0].reason
    (folder / "studies_master.csv").write_bytes(master(study_id="T009"))
    corpus = sources.read(folder)
    assert [draft.study_id for draft in corpus.studies] == ["T001"]
    assert "T009 has no file in studies/" in corpus.problems[0].reason
