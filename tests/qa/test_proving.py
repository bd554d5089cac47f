"""A bundle is checked by its own program, in a bare Python and without this project: it holds, and any change shows."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus_app import curation
from qa_app.answers import asking, bundles
from tests.qa.conftest import ASKED

pytestmark = pytest.mark.usefixtures("library")

PROTEIN_ASKED = "How much protein do older adults need to keep lean mass?"


def bundle(question: str = ASKED) -> bytes:
    made = bundles.bundle(asking.ask(question=question)["id"])
    assert made
    return made.content


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the bundle's program: no site packages, no environment, another folder."""
    return subprocess.run(
        [sys.executable, "-I", "-S", folder / "verify.py", *arguments],
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        check=False,
    )


def unpacked(content: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder


def rewritten(folder: Path, name: str, change: Callable[[Any], Any], *, hashed: bool) -> None:
    """Changes a JSON file, and its hash too where the forger thought of that."""
    path = folder / name
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    if hashed:
        rehash(folder, name)


def rehash(folder: Path, name: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


def passage_of(folder: Path) -> Path:
    (span, *_) = json.loads((folder / "spans.json").read_text())
    return folder / str(span["passage"])


@pytest.mark.parametrize("question", [ASKED, PROTEIN_ASKED, "How hot should a sauna be?"])
def test_a_bundle_holds(question: str, tmp_path: Path) -> None:
    folder = unpacked(bundle(question), tmp_path)

    done = verify(folder)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("All is well: ")


def test_it_holds_as_a_zip_too(tmp_path: Path) -> None:
    content = bundle()
    (tmp_path / "bundle.zip").write_bytes(content)
    unpacked(content, tmp_path / "elsewhere")

    assert verify(tmp_path / "elsewhere", str(tmp_path / "bundle.zip")).returncode == 0


def test_it_proves_every_quote_of_the_answer(tmp_path: Path) -> None:
    answer = asking.ask(question=ASKED)
    made = bundles.bundle(answer["id"])
    assert made
    folder = unpacked(made.content, tmp_path)

    spans = json.loads((folder / "spans.json").read_text(encoding="utf-8"))

    said = [answer["headline"], *(s for part in ("summary", "answer") for s in answer[part]["sentences"])]
    quoted = [row["quote"] for sentence in said for row in sentence["support"]]
    assert [span["quote"] for span in spans] == quoted
    assert json.loads((folder / "answer.json").read_text(encoding="utf-8")) == answer
    assert verify(folder).stdout == f"All is well: {len(list(folder.rglob('*.*')))} files, {len(quoted)} quotes.\n"


def test_the_same_answer_is_the_same_bytes() -> None:
    answer = asking.ask(question=ASKED)

    first, second = bundles.bundle(answer["id"]), bundles.bundle(answer["id"])

    assert first == second
    assert first
    assert first.name == f"inform-{answer['id']}.zip"


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("answer.json", lambda answer: answer["summary"]["sentences"][0].update(text="Twenty sets are best.")),
        ("answer.json", lambda answer: answer["summary"]["sentences"][0]["support"][0].update(quote="Twenty sets.")),
        ("answer.json", lambda answer: answer["summary"]["sentences"].pop()),
        ("answer.json", lambda answer: answer["evidence"][0].update(text="Other words.")),
        ("spans.json", lambda spans: spans[0].update(start=spans[0]["start"] + 1)),
        ("spans.json", lambda spans: spans[0].update(start=-5, end=-1)),
        ("spans.json", lambda spans: spans.pop()),
        ("spans.json", lambda spans: spans[0].update(passage="passages/0-v1.txt")),
    ],
)
def test_a_changed_answer_shows(name: str, change: Callable[[Any], Any], hashed: bool, tmp_path: Path) -> None:
    folder = unpacked(bundle(), tmp_path)
    rewritten(folder, name, change, hashed=hashed)

    done = verify(folder)

    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout


@pytest.mark.parametrize("hashed", [False, True])
def test_a_changed_passage_shows(hashed: bool, tmp_path: Path) -> None:
    folder = unpacked(bundle(), tmp_path)
    passage = passage_of(folder)
    passage.write_text(passage.read_text(encoding="utf-8").replace("Ten", "Twenty"), encoding="utf-8")
    if hashed:
        rehash(folder, passage.relative_to(folder).as_posix())

    assert verify(folder).returncode == 1


def test_a_missing_and_an_added_file_show(tmp_path: Path) -> None:
    whole = unpacked(bundle(), tmp_path / "whole")
    passage_of(whole).unlink()
    (whole / "more.txt").write_text("more")

    done = verify(whole)

    assert done.returncode == 1
    assert "is missing" in done.stdout
    assert "more.txt: is not in the manifest" in done.stdout


@pytest.mark.parametrize("name", ["manifest.json", "answer.json", "spans.json"])
def test_what_cannot_be_read_is_no_proof(name: str, tmp_path: Path) -> None:
    folder = unpacked(bundle(), tmp_path)
    (folder / name).write_text("{")

    done = verify(folder)

    assert (done.returncode, done.stderr) == (1, "")


def test_nothing_of_a_withdrawn_study_is_in_it(tmp_path: Path) -> None:
    answer = asking.ask(question=ASKED)
    curation.withdraw(["T-SETS"], reason="A test.", by=None, by_name="tests")
    made = bundles.bundle(answer["id"])
    assert made
    folder = unpacked(made.content, tmp_path)

    assert b"increased growth" not in made.content
    assert answer["citations"][0]["title"].encode() not in made.content
    assert verify(folder).returncode == 0


def test_there_is_none_of_an_unknown_answer() -> None:
    assert bundles.bundle("nobody") is None
