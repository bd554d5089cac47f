"""The master CSV: alone, and beside study files."""

import csv
import io
from pathlib import Path

from corpus_app import sources
from tests.corpus.test_sources import draft, make_folder


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
    assert [(problem.line, problem.field) for problem in corpus.problems] == [
        (1, "mood"), (2, ""), (5, "study_id"), (6, ""),
    ]  # fmt: skip


def test_study_file_wins_over_its_row_and_the_difference_is_reported(tmp_path: Path) -> None:
    folder = make_folder(tmp_path)
    (folder / "studies_master.csv").write_bytes(master(year="1999", n_passages="7"))

    corpus = sources.read(folder)

    assert corpus.studies[0].year == 2020
    assert [(problem.line, problem.field) for problem in corpus.problems] == [(2, "year"), (2, "n_passages")]
    assert "says “1999”, its file says “2020”" in corpus.problems[0].reason
    (folder / "studies_master.csv").write_bytes(master(study_id="T009"))
    corpus = sources.read(folder)
    assert [draft.study_id for draft in corpus.studies] == ["T001"]
    assert "T009 has no file in studies/" in corpus.problems[0].reason
