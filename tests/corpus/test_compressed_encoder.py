"""The compressed form of a model: a tiny random one, made here."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus_app import embedding, indexing, search
from corpus_app.embedding import compressed
from corpus_app.embedding.base import EncoderUnavailable
from corpus_app.models import PassageVector
from corpus_app.search import question_vectors
from tests.builders import make_study

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
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=16,
    ).save_pretrained(folder / "source")  # fmt: skip
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=32,
    )  # fmt: skip
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


def test_a_vector_depends_on_its_text_alone(model: str) -> None:
    embedding.prepare(titles=TITLES, texts=TEXTS)
    encoder = embedding.get()
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])

    with ThreadPoolExecutor(4) as readers:
        found = list(readers.map(lambda text: encoder.encode([text, text], threads=2), [*TEXTS] * 2))

    assert encoder.encode(TEXTS).tobytes() == alone.tobytes() == encoder.encode(TEXTS, threads=2).tobytes()
    assert all(np.array_equal(rows, [alone[place % len(TEXTS)]] * 2) for place, rows in enumerate(found))
    assert np.linalg.norm(alone, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert encoder.encode([]).shape == encoder.encode([], threads=2).shape == (0, 32)
    assert np.isfinite(encoder.encode(["", "squat " * 9_000, "🏋️ 漢字"])).all()


def test_it_is_written_once_however_many_ask(model: str, caplog: pytest.LogCaptureFixture) -> None:
    with ThreadPoolExecutor(3) as asking:
        checks = list(asking.map(lambda _: compressed.write(model, titles=TITLES, texts=TEXTS), range(3)))

    assert checks == [checks[0]] * 3
    assert caplog.text.count("was compressed") == 1  # the others read it
    assert embedding.is_prepared()


@pytest.mark.parametrize(
    ("error", "left"),
    [(RuntimeError("no such operator"), {"check.json"}), (OSError(28, "No space left"), set()),
     (None, {"check.json"}), (ImportError(), set())],
    ids=["cannot be exported", "full disk", "too far from the original", "no onnxruntime"],
)  # fmt: skip
def test_the_original_serves_else(
    model: str, monkeypatch: pytest.MonkeyPatch, error: Exception | None, left: set[str]
) -> None:
    def fail(*args: object, **options: object) -> None:
        assert error
        raise error

    if isinstance(error, ImportError):
        monkeypatch.setattr(compressed, "can_run", lambda: False)
    elif error:
        monkeypatch.setattr("torch.onnx.export", fail)
    else:
        monkeypatch.setattr(compressed, "LOWEST_COSINE", 1.1)
    embedding.prepare(titles=TITLES, texts=TEXTS)

    assert embedding.is_prepared()
    assert embedding.active_name() == embedding.get().name == f"{model}@fp32"
    assert files(model) == left


def test_leftovers_of_a_killed_process_are_removed(model: str) -> None:
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


@pytest.mark.django_db
def test_everything_is_embedded_once_with_the_compressed_form(model: str) -> None:
    make_study(texts=("squat strength", "protein growth"))

    assert indexing.has_work()
    assert indexing.index_stale().count == 2

    assert set(PassageVector.objects.values_list("encoder", flat=True)) == {f"{model}@int8"}
    assert search.encoder_name() == f"{model}@int8"
    assert indexing.audit() == []


TOKENS = [2, 7, 11, 4, 3, 9, 5]


def bert(**changes: Any) -> Any:
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(3)
    sizes = {"vocab_size": 16, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
    config = BertConfig(**{**sizes, "intermediate_size": 40, "max_position_embeddings": 12, **changes})
    return BertModel(config).eval()


def distilled() -> Any:
    import torch
    from transformers import DistilBertConfig, DistilBertModel

    torch.manual_seed(4)
    config = DistilBertConfig(vocab_size=16, dim=24, n_layers=2, n_heads=3, hidden_dim=40, max_position_embeddings=12)
    return DistilBertModel(config).eval()


@pytest.mark.parametrize(
    "make", [bert, lambda: bert(hidden_act="relu"), distilled], ids=["bert", "another activation", "another model"]
)
def test_the_graph_gives_what_the_model_gives_for_texts_of_any_length(make: Any) -> None:
    import torch

    from corpus_app.embedding import lean

    model = make()
    graph = lean.graph_of(model)
    for text in (TOKENS, [5], [5] * 12):
        tokens = torch.tensor([text])
        with torch.no_grad():
            states = model(input_ids=tokens).last_hidden_state
            assert torch.allclose(graph(tokens), torch.nn.functional.normalize(states.mean(1), dim=1), atol=1e-5)
