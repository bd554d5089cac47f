"""The compressed form of a model: a tiny random one, made here."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_app import embedding, indexing, search
from corpus_app.embedding import compressed
from corpus_app.embedding.base import EncoderUnavailable, Matrix
from corpus_app.models import Passage, PassageVector
from corpus_app.search import question_vectors
from tests.builders import make_study
from tests.fakes import WordHashEncoder

WORDS = "[PAD] [UNK] [CLS] [SEP] squat press row muscle strength protein sleep set week growth of for in".split()
TITLES = ["squat strength", "protein for growth", "sleep of muscle"]
TEXTS = [f"{a} {b} in week" for a in WORDS[4:10] for b in WORDS[4:10]]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a sentence-transformers model with two small layers of random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=16,
    ).save_pretrained(folder / "source")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )
    BertModel(config).eval().save_pretrained(folder / "source")
    transformer = Transformer(str(folder / "source"), max_seq_length=16)
    pooling = Pooling(transformer.get_embedding_dimension())
    SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu").save(str(folder / "model"))
    return str(folder / "model")


@pytest.fixture
def model(tiny: str, settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The tiny model as the configured one, with an empty data folder."""
    settings.ENCODER, settings.DATA_DIR = tiny, tmp_path
    monkeypatch.setattr(embedding, "_loaded", None)
    monkeypatch.setattr(embedding, "_uncompressible", set())
    monkeypatch.setattr(question_vectors, "_settled_encoder", "")
    return tiny


def files(model: str) -> set[str]:
    place = compressed.folder(model)
    return {path.name for path in place.iterdir()} if place.exists() else set()


def test_it_is_near_the_original_and_says_how_near(model: str) -> None:
    check = compressed.write(model, titles=TITLES, texts=TEXTS)

    assert check.accepted
    assert check.cosine_mean >= compressed.LOWEST_COSINE
    assert (check.titles, check.texts, check.dimensions) == (len(TITLES), len(TEXTS), 32)
    assert json.loads((compressed.folder(model) / "check.json").read_text())["weights_sha256"] == check.weights_sha256
    assert files(model) == {"model.onnx", "tokenizer.json", "check.json"}


def test_the_name_follows_what_lies_in_the_data_folder(model: str) -> None:
    assert embedding.active_name() == f"{model}@fp32"

    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert embedding.active_name() == embedding.get().name == f"{model}@int8"


def test_a_vector_depends_on_its_text_alone(model: str) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    encoder = embedding.get()

    together, threaded = encoder.encode(TEXTS), encoder.encode(TEXTS, threads=2)

    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert together.tobytes() == alone.tobytes() == threaded.tobytes()
    assert np.linalg.norm(alone, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_several_at_once_get_the_vectors_that_they_get_alone(model: str) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    encoder = embedding.get()
    alone = [encoder.encode([text]) for text in TEXTS]

    with ThreadPoolExecutor(4) as readers:
        found = list(readers.map(lambda text: encoder.encode([text, text], threads=2), [*TEXTS] * 5))

    for place, rows in enumerate(found):
        assert np.array_equal(rows, np.vstack([alone[place % len(TEXTS)]] * 2))


def test_what_fails_in_one_of_the_threads_fails_the_call(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    encoder: Any = embedding.get()

    class Broken:
        def encode(self, text: str) -> object:
            raise ValueError(text)

    monkeypatch.setattr(encoder, "_tokenizer", Broken())

    for threads in (1, 2, 9):
        with pytest.raises(ValueError, match="squat"):
            encoder.encode(["squat", "squat"], threads=threads)
    assert encoder.encode([], threads=2).shape == (0, encoder.dimensions)


def test_no_sum_of_two_products_overflows_sixteen_bits(model: str) -> None:
    import onnx
    from onnx import TensorProto, numpy_helper

    embedding.prepare(titles=TITLES, texts=TEXTS)

    graph = onnx.load(str(compressed.folder(model) / "model.onnx")).graph
    whole = [numpy_helper.to_array(kept) for kept in graph.initializer if kept.data_type == TensorProto.INT8]
    products = [weights for weights in whole if weights.ndim == 2 and weights.shape[0] in {32, 64}]
    assert len(products) == 2 * 4  # of each layer: queries, keys and values; what they give; in and out again
    assert all(2 * 255 * np.abs(weights.astype(int)).max() < 2**15 for weights in products)


def test_texts_may_be_empty_long_or_none(model: str) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    encoder = embedding.get()

    assert encoder.encode([]).shape == (0, 32)
    assert np.isfinite(encoder.encode(["", "squat " * 9_000, "🏋️ 漢字"])).all()


def test_it_is_written_once_however_many_ask(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    export = compressed._export
    monkeypatch.setattr(compressed, "_export", lambda *args: (made.append(args), export(*args)))

    threads = [threading.Thread(target=embedding.prepare, kwargs={"titles": TITLES, "texts": TEXTS}) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1
    assert embedding.is_prepared()


def test_one_that_is_too_far_from_the_original_is_refused_and_the_original_serves(
    model: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compressed, "LOWEST_COSINE", 1.1)

    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert embedding.is_prepared()
    assert files(model) == {"check.json"}
    assert embedding.active_name() == embedding.get().name == f"{model}@fp32"
    assert "is used uncompressed, which is slower: too far from the original: cosine" in caplog.text


def test_other_versions_give_a_refused_one_another_chance(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "LOWEST_COSINE", 1.1)
    embedding.prepare(titles=TITLES, texts=TEXTS)

    monkeypatch.undo()
    monkeypatch.setattr(compressed, "_versions", lambda: {"onnxruntime": "99.0"})

    assert not compressed.is_settled(model)


def test_one_that_cannot_be_exported_is_refused_with_the_reason(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise RuntimeError("no such operator\nand a long story")

    monkeypatch.setattr(compressed, "_export", fail)

    assert compressed.write(model, titles=TITLES, texts=TEXTS).reason == "RuntimeError: no such operator"
    assert embedding.active_name() == f"{model}@fp32"


def test_without_onnxruntime_the_original_serves(
    model: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compressed, "can_run", lambda: False)

    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert embedding.is_prepared()
    assert embedding.active_name() == f"{model}@fp32"
    assert "onnxruntime is not installed" in caplog.text


def test_a_full_disk_leaves_the_original_in_service(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device", "model.onnx")

    monkeypatch.setattr(compressed, "_export", fail)

    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert embedding.is_prepared()
    assert files(model) == set()
    assert embedding.active_name() == f"{model}@fp32"


def test_what_a_killed_process_left_is_cleared_away(model: str) -> None:
    left = compressed.folder(model).parent / f"{compressed.UNFINISHED}of-a-killed-process"
    left.mkdir(parents=True)

    assert embedding.active_name() == f"{model}@fp32"
    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert not left.exists()
    assert embedding.active_name() == f"{model}@int8"


def test_a_damaged_one_says_what_to_do(model: str) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    (compressed.folder(model) / "model.onnx").write_bytes(b"no model")

    with pytest.raises(EncoderUnavailable, match=r"Remove .*@int8, and the worker writes it anew"):
        embedding.get()


def test_a_name_without_its_files_says_where_they_should_be(model: str) -> None:
    with pytest.raises(EncoderUnavailable, match="need the same INFORM_DATA_DIR"):
        embedding.get(f"{model}@int8")


def test_every_model_has_a_folder_of_its_own(settings) -> None:
    names = ["all-MiniLM-L6-v2", "a/b", "a-b", "/srv/models/a b", "../../etc"]

    folders = {compressed.folder(name) for name in names}

    assert len(folders) == len(names)
    assert {folder.parent for folder in folders} == {Path(settings.DATA_DIR) / "models"}
    assert compressed.folder("all-MiniLM-L6-v2").name == "all-MiniLM-L6-v2@int8"


# --- Indexing with it, and the change from one form to another


@pytest.mark.django_db
def test_everything_is_embedded_once_with_the_compressed_form(model: str) -> None:
    make_study(texts=("squat strength", "protein growth"))

    assert indexing.has_work()
    assert indexing.index_stale().count == 2

    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {f"{model}@int8"}
    assert search.encoder_name() == f"{model}@int8"
    assert indexing.audit() == []


@pytest.mark.django_db
def test_an_empty_corpus_needs_no_encoder(model: str) -> None:
    assert not indexing.has_work()
    assert indexing.index_stale().count == 0
    assert files(model) == set()


class Slow(WordHashEncoder):
    """Looks at the index from outside after each batch."""

    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        if len(texts) > 1:  # passages, and no question
            self.seen.append((search.encoder_name(), len(ask().hits)))
        return super().encode(texts, threads=threads)

    seen: list[tuple[str, int]] = []


def ask() -> object:
    return search.find("zebra", search.encode_question("squat"))  # a word of no passage: the dense leg alone answers


@pytest.mark.django_db
def test_search_answers_all_through_a_change_of_encoder(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_load", lambda name: Slow(name, dimensions=32 if name.startswith("old") else 64))
    monkeypatch.setattr(embedding, "_uncompressible", {"old", "new"})
    monkeypatch.setattr(embedding, "_loaded", None)
    monkeypatch.setattr(question_vectors, "_settled_encoder", "")
    monkeypatch.setattr(Slow, "seen", [])
    total = 3 * indexing.BATCH
    make_study(texts=tuple(f"squat number {number}" for number in range(total)))
    settings.ENCODER = "old"
    indexing.index_stale()
    Slow.seen.clear()

    settings.ENCODER = "new"
    indexing.index_stale()

    assert Slow.seen == [("old@fp32", total)] * 3
    assert search.encoder_name() == "new@fp32"
    assert len(ask().hits) == total
    assert indexing.drop_superseded() == total
    assert len(ask().hits) == total


@pytest.mark.django_db
def test_a_question_under_way_is_compared_with_vectors_of_its_own_encoder(encoder: WordHashEncoder) -> None:
    make_study()
    indexing.index_stale()
    vector = search.encode_question("squat")
    PassageVector.objects.update(encoder="another@test")

    assert search.find("zebra", vector).dense.candidates == 0


@pytest.mark.django_db
def test_former_vectors_stay_while_passages_wait(encoder: WordHashEncoder) -> None:
    make_study()
    indexing.index_stale()
    with embedding.use(WordHashEncoder("next@test")):
        assert indexing.drop_superseded() == 0
        indexing.index_stale()
        assert indexing.drop_superseded() == Passage.objects.count()
