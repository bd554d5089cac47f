"""Retrieval on a benchmark folder: read strictly, measured in a database that is gone afterwards."""

import gzip
import json
import math
import secrets
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from corpus_app import embedding
from corpus_app.models import Study
from lab import beir, scratch_corpus
from tests.fakes import WordHashEncoder

TINY = Path(__file__).resolve().parents[1] / "data" / "beir_tiny"
LEGS = "lexical,tfidf,ts_rank,dense,hybrid,rrf,rrf_ts_rank"


def prefix() -> str:
    """The prefix of this process's throw-away databases: others have theirs on the same server."""
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


# --- Reading --------------------------------------------------------------------------------------------


def test_a_folder_is_read_whole_plain_or_packed(folder: Path) -> None:
    tiny = beir.read(TINY)
    assert (tiny.name, len(tiny.documents), len(tiny.questions), tiny.unknown) == ("beir_tiny", 20, 6, 0)
    assert tiny.judgments["q4"] == {"d14": 1, "d03": 1}

    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress((folder / "corpus.jsonl").read_bytes()))
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    packed = beir.read(folder)
    assert (packed.digest, packed.judgments, packed.questions) == (tiny.digest, tiny.judgments, tiny.questions)

    with open(folder / "qrels" / "test.tsv", "a", encoding="utf-8") as qrels:
        qrels.write("q1\tmissing\t1\n")
    assert beir.read(folder).unknown == 1


# --- Running --------------------------------------------------------------------------------------------


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


def test_figures_of_the_tiny_set_are_exact(tiny: dict[str, Any]) -> None:
    bm25 = tiny["figures"]["legs"]["bm25"]

    # q1 to q4 perfect, q5 found in third place, q6 has no word that any document has
    assert bm25["ndcg@10"]["mean"] == pytest.approx((4 + 1 / math.log2(3 + 1) + 0) / 6, abs=1e-4)
    assert bm25["mrr"]["mean"] == pytest.approx((4 + 1 / 3 + 0) / 6, abs=1e-4)
    assert bm25["recall@5"]["mean"] == bm25["recall@100"]["mean"] == pytest.approx(5 / 6, abs=1e-4)
    assert bm25["no candidates"] == pytest.approx(1 / 6, abs=1e-4)
    legs = tiny["figures"]["legs"]
    assert [legs[name]["no candidates"] for name in ("dense", "hybrid", "rrf", "rrf_ts_rank")] == [0.0] * 4
    assert legs["hybrid"]["recall@100"]["mean"] == 1.0


def test_a_run_prints_a_table_writes_a_file_a_leg_and_leaves_no_database(tiny: dict[str, Any]) -> None:
    others = set(tiny["figures"]["legs"]) - {"hybrid"}
    assert set(tiny["figures"]["differences"]) == {f"hybrid - {leg}" for leg in others}
    assert "beir_tiny: 6 questions, 20 documents, word-hash@test" in tiny["text"]
    assert "0.7500 [" in tiny["text"]
    assert tiny["left"] == set()

    rows = [line.split() for line in (tiny["out"] / "run.bm25.trec").read_text().splitlines()]
    assert (tiny["out"] / "run.trec").exists()
    assert next(row for row in rows if row[0] == "q2") == ["q2", "Q0", "d04", "1", "100", "bm25"]
    assert {row[0] for row in rows} == {"q1", "q2", "q3", "q4", "q5"}


@pytest.mark.django_db(transaction=True)
def test_throwaway_databases_hide_live_rows_and_are_dropped(
    library: tuple[str, ...], encoder: WordHashEncoder, tmp_path: Path
) -> None:
    documents = (beir.Document("a", "Only a title", ""), beir.Document("b", "", " "), beir.Document("c", "", "Text."))
    benchmark = beir.Benchmark("few", documents, {"q": "title"}, {"q": {"a": 1}}, 0, "digest")
    ours, anothers = f"{prefix()}left", f"{scratch_corpus.PREFIX}{secrets.token_hex(6)}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {ours}")
        cursor.execute(f"CREATE DATABASE {anothers}")

    made = []

    def work() -> None:
        with scratch_corpus.throwaway_database() as name, transaction.atomic():
            made.append(name)
            assert (connection.settings_dict["NAME"], Study.objects.count()) == (name, 0)
            assert (databases(ours), databases(anothers)) == (set(), {anothers})
            found = scratch_corpus.fill(benchmark, cache=tmp_path, with_sentences=True, report=lambda *a: None)
            assert sorted(found.values()) == ["a", "c"]  # one without text is its title, one without words is left out
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()

    assert made[0].startswith(prefix())
    assert databases(made[0]) == set()
    assert set(library) <= set(Study.objects.values_list("study_id", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {anothers}")
