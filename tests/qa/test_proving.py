"""A bundle is checked by its own program, in a bare Python and without this project: it holds, and any change shows."""

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


@pytest.fixture
def answer(library: tuple[str, ...]) -> dict[str, Any]:
    return asking.ask(question=ASKED)


@pytest.fixture
def folder(answer: dict[str, Any], tmp_path: Path) -> Path:
    """The bundle of the answer, unpacked."""
    return unpacked(packed(answer), tmp_path / "bundle")


def packed(answer: dict[str, Any]) -> bytes:
    made = bundles.bundle(answer["id"])
    assert made
    assert made.name == f"inform-{answer['id']}.zip"
    return made.content


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the bundle's program: no site packages, no environment, another folder."""
    return subprocess.run(
        [sys.executable, "-I", "-S", folder / "verify.py", *arguments], cwd="/", env={}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


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


@pytest.mark.usefixtures("library")
def test_a_bundle_holds_folder_or_zip_and_is_the_same_each_time(tmp_path: Path) -> None:
    for n, question in enumerate((ASKED, "How hot should a sauna be?")):
        answer = asking.ask(question=question)
        content = packed(answer)
        (tmp_path / f"{n}.zip").write_bytes(content)
        folder = unpacked(content, tmp_path / str(n))

        done = verify(folder)

        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("All is well: ")
        assert packed(answer) == content
    assert verify(tmp_path / "1", str(tmp_path / "0.zip")).returncode == 0
    assert bundles.bundle("nobody") is None


def test_it_proves_every_quote_of_the_answer(answer: dict[str, Any], folder: Path) -> None:
    spans = json.loads((folder / "spans.json").read_text(encoding="utf-8"))

    said = [answer["headline"], *(s for part in ("summary", "answer") for s in answer[part]["sentences"])]
    quoted = [row["quote"] for sentence in said for row in sentence["support"]]
    assert [span["quote"] for span in spans] == quoted
    assert json.loads((folder / "answer.json").read_text(encoding="utf-8")) == answer
    assert verify(folder).stdout == f"All is well: {len(list(folder.rglob('*.*')))} files, {len(quoted)} quotes.\n"


CHANGES: list[tuple[str, Callable[[Any], Any]]] = [
    ("answer.json", lambda answer: answer["summary"]["sentences"][0].update(text="Twenty sets are best.")),
    ("answer.json", lambda answer: answer["summary"]["sentences"][0]["support"][0].update(quote="Twenty sets.")),
    ("answer.json", lambda answer: answer["summary"]["sentences"].pop()),
    ("answer.json", lambda answer: answer["evidence"][0].update(text="Other words.")),
    ("spans.json", lambda spans: spans[0].update(start=spans[0]["start"] + 1)),
    ("spans.json", lambda spans: spans[0].update(start=-5, end=-1)),
    ("spans.json", lambda spans: spans.pop()),
    ("spans.json", lambda spans: spans[0].update(passage="passages/0-v1.txt")),
]


def test_changes_show_even_where_the_hash_is_forged(answer: dict[str, Any], tmp_path: Path) -> None:
    content = packed(answer)
    for n, (name, change) in enumerate(CHANGES):
        folder = unpacked(content, tmp_path / str(n))
        rewritten(folder, name, change, hashed=n != 0)
        done = verify(folder)
        assert (done.returncode, done.stderr) == (1, ""), (name, n)
        assert done.stdout
    for n, hashed in enumerate((False, True)):
        folder = unpacked(content, tmp_path / f"passage {n}")
        passage = passage_of(folder)
        passage.write_text(passage.read_text(encoding="utf-8").replace("Ten", "Twenty"), encoding="utf-8")
        if hashed:
            rehash(folder, passage.relative_to(folder).as_posix())
        assert verify(folder).returncode == 1


def test_a_missing_an_added_and_an_unreadable_file_show(answer: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    passage_of(folder).unlink()
    (folder / "more.txt").write_text("more")

    done = verify(folder)

    assert done.returncode == 1
    assert "is missing" in done.stdout
    assert "more.txt: is not in the manifest" in done.stdout
    for name in ("manifest.json", "answer.json", "spans.json"):
        broken = unpacked(packed(answer), tmp_path / name)
        (broken / name).write_text("{")
        done = verify(broken)
        assert (done.returncode, done.stderr) == (1, "")


def test_nothing_of_a_withdrawn_study_is_in_it(answer: dict[str, Any], tmp_path: Path) -> None:
    curation.withdraw(["T-SETS"], reason="A test.", by=None, by_name="tests")
    content = packed(answer)

    assert b"increased growth" not in content
    assert answer["citations"][0]["title"].encode() not in content
    assert verify(unpacked(content, tmp_path)).returncode == 0
