"""What is written down of a model for one text at a time, against the model's own code. Tiny models of random weights."""

from __future__ import annotations

from typing import Any

import pytest

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
    ("make", "is_written_out"),
    [(bert, True), (lambda: bert(hidden_act="relu"), False), (distilled, False)],
    ids=["bert", "bert with another activation", "another model"],
)
def test_the_graph_gives_what_the_model_gives(make: Any, is_written_out: bool) -> None:
    import torch

    from corpus_app.embedding import lean

    model = make()
    tokens = torch.tensor([TOKENS])
    with torch.no_grad():
        states = model(input_ids=tokens).last_hidden_state
        theirs = torch.nn.functional.normalize(states.mean(1), dim=1)

        graph = lean.graph_of(model)
        ours = graph(tokens)

    assert isinstance(graph, lean._Bert) is is_written_out
    assert ours.shape == (1, 24)
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_a_graph_takes_texts_of_any_length_up_to_the_longest() -> None:
    import torch

    from corpus_app.embedding import lean

    model = bert()
    with torch.no_grad():
        for length in (1, 12):
            tokens = torch.tensor([[5] * length])
            states = model(input_ids=tokens).last_hidden_state
            theirs = torch.nn.functional.normalize(states.mean(1), dim=1)

            assert torch.allclose(lean.graph_of(model)(tokens), theirs, atol=1e-5)
