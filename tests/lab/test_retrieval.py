"""Retrieval on a benchmark folder: read strictly, measured in a database that is gone afterwards."""

from __future__ import annotations

import gzip
import json
import math
import secrets
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from corpus_app import embedding, search
from corpus_app.models import Study
from lab import beir, retrieval, scratch_corpus
from lab.beir import BadBenchmark
from qa_app.pipeline import policy
from qa_app.pipeline.policy import Order
from tests.fakes import WordHashEncoder

TINY = Path(__file__).resolve().parents[1] / "data" / "beir_tiny"
LEGS = "lexical,tfidf,ts_rank,dense,hybrid,rrf,rrf_ts_rank"


def prefix() -> str:
    """Of the throw-away databases that belong to this test's: other processes of the run have theirs on the same server."""
    with scratch_corpus._server() as server:
        return scratch_corpus.database_prefix(server)


def databases(prefix: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix])
        return {name for (name,) in cursor.fetchall()}


def evaluate(folder: Path, *arguments: str) -> str:
    out = StringIO()
    call_command("measure", "retrieval", "--corpus", str(folder), *arguments, stdout=out, no_color=True)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


# --- Reading ---------------------------------------------------------------------------------------------------------------


def test_a_folder_is_read_whole() -> None:
    tiny = beir.read(TINY)

    assert (tiny.name, len(tiny.documents), len(tiny.questions), tiny.unknown) == ("beir_tiny", 20, 6, 0)
    assert tiny.judgments["q4"] == {"d14": 1, "d03": 1}


def test_compressed_documents_and_a_folder_of_judgments_are_read_too(folder: Path) -> None:
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress((folder / "corpus.jsonl").read_bytes()))
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")

    packed, plain = beir.read(folder), beir.read(TINY)
    assert (packed.digest, packed.judgments, packed.questions) == (plain.digest, plain.judgments, plain.questions)


def test_a_judged_document_that_is_not_there_is_counted(folder: Path) -> None:
    with open(folder / "qrels.tsv", "a", encoding="utf-8") as qrels:
        qrels.write("q1\tmissing\t1\n")

    assert beir.read(folder).unknown == 1


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("corpus.jsonl", "{", r"corpus\.jsonl:21: no JSON"),
        ("corpus.jsonl", "[]", r"corpus\.jsonl:21: a JSON object"),
        ("corpus.jsonl", '{"_id": "x"}', r"corpus\.jsonl:21: text is missing"),
        ("corpus.jsonl", '{"_id": "d01", "text": "again"}', r"corpus\.jsonl:21: a second document 'd01'"),
        ("corpus.jsonl", '{"_id": "x", "text": "a\\u0000b"}', r"corpus\.jsonl:21: text holds characters"),
        ("corpus.jsonl", '{"_id": 7, "text": "seven"}', r"corpus\.jsonl:21: _id is missing or no text"),
        ("queries.jsonl", '{"_id": "q1", "text": "again"}', r"queries\.jsonl:8: a second question 'q1'"),
        ("qrels.tsv", "q1 d01 1", r"qrels\.tsv:9: a judgment is"),
        ("qrels.tsv", "q1\td01\tgood", r"qrels\.tsv:9: a judgment is"),
        ("qrels.tsv", "q99\td01\t1", r"qrels\.tsv:9: there is no question 'q99'"),
    ],
)
def test_a_broken_line_is_named_with_its_file(folder: Path, file: str, line: str, fault: str) -> None:
    with open(folder / file, "a", encoding="utf-8") as broken:
        broken.write(line + "\n")

    with pytest.raises(BadBenchmark, match=fault):
        beir.read(folder)


@pytest.mark.parametrize("missing", ["corpus.jsonl", "qrels.tsv"])
def test_a_folder_without_a_file_says_which(folder: Path, missing: str) -> None:
    (folder / missing).unlink()

    with pytest.raises(BadBenchmark, match=missing.replace(".", r"\.")):
        beir.read(folder)


def test_a_torn_archive_is_named(folder: Path) -> None:
    packed = gzip.compress((folder / "corpus.jsonl").read_bytes())
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(packed[: len(packed) // 2])

    with pytest.raises(BadBenchmark, match=r"corpus\.jsonl\.gz:"):
        beir.read(folder)


# --- Choosing --------------------------------------------------------------------------------------------------------------


def test_legs_are_named_in_words_or_refused() -> None:
    assert retrieval.legs("lexical,dense,bm25") == (retrieval.Leg.BM25, retrieval.Leg.DENSE)
    with pytest.raises(retrieval.BadOption, match="'magic'"):
        retrieval.legs("magic")


def test_single_figures_of_a_policy_can_be_changed() -> None:
    chosen = policy.named("default", ["lexical_weight=0.5", "order=score", "pool=7"])

    assert (chosen.lexical_weight, chosen.order, chosen.pool) == (0.5, Order.SCORE, 7)


@pytest.mark.parametrize("change", ["magic=1", "pool=many", "bm25_k1=1", "order=magic"])
def test_a_change_that_cannot_be_made_is_refused(change: str) -> None:
    with pytest.raises(policy.BadPolicy):
        policy.named("default", [change])


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(policy.BadPolicy, match="default"):
        policy.named("magic", [])


def test_a_question_behind_a_heading_leans_towards_what_it_asks(db: None) -> None:
    text = "Protein needs of older people How much is enough?"
    with embedding.use(WordHashEncoder()):
        asked = retrieval._read(text, needs_vector=True)
        plain = search.encode_question(text)

    assert np.linalg.norm(asked.vector) == pytest.approx(1.0)
    assert list(asked.vector) != list(plain)


# --- Running ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run over all legs: what it printed, its figures, the folder of its files, the databases before and after."""
    out = tmp_path_factory.mktemp("tiny")
    with django_db_blocker.unblock(), embedding.use(WordHashEncoder()):
        before = databases(prefix())
        text = evaluate(TINY, "--legs", LEGS, "--json", str(out / "figures.json"), "--run", str(out / "run.trec"))
        after = databases(prefix())
        connection.close()
    figures = json.loads((out / "figures.json").read_text(encoding="utf-8"))
    return {"text": text, "figures": figures, "out": out, "left": after - before}


def test_the_throwaway_database_is_gone(tiny: dict[str, Any]) -> None:
    assert tiny["left"] == set()


def test_figures_of_the_tiny_set_are_exact(tiny: dict[str, Any]) -> None:
    bm25 = tiny["figures"]["legs"]["bm25"]

    # q1 to q4 perfect, q5 found in third place, q6 has no word that any document has
    assert bm25["ndcg@10"]["mean"] == pytest.approx((4 + 1 / math.log2(3 + 1) + 0) / 6, abs=1e-4)
    assert bm25["mrr"]["mean"] == pytest.approx((4 + 1 / 3 + 0) / 6, abs=1e-4)
    assert bm25["recall@5"]["mean"] == bm25["recall@100"]["mean"] == pytest.approx(5 / 6, abs=1e-4)
    assert bm25["no candidates"] == pytest.approx(1 / 6, abs=1e-4)


def test_with_vectors_no_question_is_left_without_candidates(tiny: dict[str, Any]) -> None:
    legs = tiny["figures"]["legs"]

    assert [legs[name]["no candidates"] for name in ("dense", "hybrid", "rrf", "rrf_ts_rank")] == [0.0] * 4
    assert legs["hybrid"]["recall@100"]["mean"] == 1.0


def test_differences_are_the_references_over_each_other_leg(tiny: dict[str, Any]) -> None:
    figures = tiny["figures"]

    assert set(figures["differences"]) == {
        f"hybrid - {leg}" for leg in ("bm25", "tfidf", "ts_rank", "dense", "rrf", "rrf_ts_rank")
    }
    difference = figures["differences"]["hybrid - bm25"]["ndcg@10"]
    means = [figures["legs"][leg]["ndcg@10"]["mean"] for leg in ("hybrid", "bm25")]
    assert difference["mean"] == pytest.approx(means[0] - means[1], abs=1e-3)
    assert difference["interval"][0] <= difference["mean"] <= difference["interval"][1]


def test_a_table_is_printed(tiny: dict[str, Any]) -> None:
    assert "beir_tiny: 6 questions, 20 documents, word-hash@test" in tiny["text"]
    assert "0.7500 [" in tiny["text"]


def test_runs_are_written_a_file_a_leg(tiny: dict[str, Any]) -> None:
    rows = [line.split() for line in (tiny["out"] / "run.bm25.trec").read_text().splitlines()]

    assert (tiny["out"] / "run.trec").exists()
    assert next(row for row in rows if row[0] == "q2") == ["q2", "Q0", "d04", "1", "100", "bm25"]
    assert {row[0] for row in rows} == {"q1", "q2", "q3", "q4", "q5"}


@pytest.mark.django_db(transaction=True)
def test_vectors_made_before_are_used_again(tmp_path: Path, encoder: WordHashEncoder) -> None:
    texts = [document.text for document in beir.read(TINY).documents]
    with scratch_corpus._cached(tmp_path, "digest") as first:
        rows = first.encode(texts)
    encoder.calls.clear()

    with scratch_corpus._cached(tmp_path, "digest") as second:
        again = second.encode(texts)

    assert encoder.calls == []
    assert np.array_equal(rows, again)


def test_what_a_killed_run_had_encoded_is_not_encoded_again(tmp_path: Path, encoder: WordHashEncoder) -> None:
    first = scratch_corpus.CachingEncoder(encoder, tmp_path)
    rows = first.encode(["one", "two"])
    first.write()
    with (tmp_path / scratch_corpus.VECTORS).open("ab") as vectors:
        vectors.write(b"half a row")
    with (tmp_path / scratch_corpus.DIGESTS).open("a") as digests:
        digests.write("half a digest")
    encoder.calls.clear()

    second = scratch_corpus.CachingEncoder(encoder, tmp_path)
    again = second.encode(["one", "three", "two"])
    second.write()

    assert encoder.calls == [("three",)]
    assert np.array_equal(again[[0, 2]], rows)
    assert np.array_equal(scratch_corpus.CachingEncoder(encoder, tmp_path).encode(["three"])[0], again[1])


@pytest.mark.django_db(transaction=True)
def test_the_live_rows_are_neither_seen_nor_touched(library: tuple[str, ...]) -> None:
    with scratch_corpus.throwaway_database() as name:
        inside, there = connection.settings_dict["NAME"], Study.objects.count()

    assert (inside, there) == (name, 0)
    assert set(library) <= set(Study.objects.values_list("study_id", flat=True))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_the_database_is_dropped_however_the_work_ends(stop: type[BaseException]) -> None:
    made = []

    def work() -> None:
        with scratch_corpus.throwaway_database() as name, transaction.atomic():
            made.append(name)
            Study.objects.count()
            raise stop

    with pytest.raises(stop):
        work()

    assert made[0].startswith(prefix())
    assert databases(made[0]) == set()


@pytest.mark.django_db(transaction=True)
def test_what_a_killed_run_left_behind_is_dropped_by_the_next_of_the_same_site() -> None:
    ours, anothers = f"{prefix()}left", f"{scratch_corpus.PREFIX}{secrets.token_hex(6)}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {ours}")
        cursor.execute(f"CREATE DATABASE {anothers}")

    with scratch_corpus.throwaway_database():
        assert databases(ours) == set()
        assert databases(anothers) == {anothers}
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {anothers}")


@pytest.mark.django_db(transaction=True)
def test_a_document_without_words_is_left_out_and_one_without_text_is_its_title(
    encoder: WordHashEncoder, tmp_path: Path
) -> None:
    documents = (beir.Document("a", "Only a title", ""), beir.Document("b", "", " "), beir.Document("c", "", "Text."))
    benchmark = beir.Benchmark("few", documents, {"q": "title"}, {"q": {"a": 1}}, 0, "digest")

    with scratch_corpus.throwaway_database():
        found = scratch_corpus.fill(benchmark, cache=tmp_path, with_sentences=True, report=lambda *a: None)

    assert sorted(found.values()) == ["a", "c"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--legs", "magic"], "there are bm25"),
        (["--limit-queries", "0"], "1 or more"),
        (["--preset", "magic"], "no preset 'magic'"),
    ],
)
def test_the_command_refuses_in_one_sentence(arguments: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        evaluate(TINY, *arguments)


@pytest.mark.django_db(transaction=True)
def test_the_command_names_the_broken_line_and_makes_no_database(folder: Path) -> None:
    (folder / "qrels.tsv").write_text("q1\td01\n", encoding="utf-8")

    with pytest.raises(CommandError, match=r"qrels\.tsv:1: "):
        evaluate(folder)


@pytest.mark.django_db(transaction=True)
def test_questions_can_be_drawn_by_lot(encoder: WordHashEncoder) -> None:
    assert "beir_tiny: 2 questions" in evaluate(TINY, "--limit-queries", "2", "--legs", "bm25,hybrid")
