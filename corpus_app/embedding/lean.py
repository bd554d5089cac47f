"""A model as it is written down for one text at a time: without padding no mask, without neighbours no batch.

BERT, which most sentence encoders are, is written out with its three projections as one product: a fifth of the time less
than the model's own code gives. Any other model goes through its own code.
"""

from __future__ import annotations

from typing import Any

import torch


def graph_of(transformer: Any) -> torch.nn.Module:
    """From token ids (1 x tokens) to the mean of the last states, of unit length (1 x dimensions)."""
    return (_Bert if _is_plain_bert(transformer) else _Any)(transformer).eval()


def _is_plain_bert(transformer: Any) -> bool:
    config = transformer.config
    return (
        type(transformer).__name__ == "BertModel"
        and config.hidden_act == "gelu"
        and not config.is_decoder
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
    )


class _Any(torch.nn.Module):
    def __init__(self, transformer: Any) -> None:
        super().__init__()
        transformer.set_attn_implementation("eager")  # written out, its graph is smaller
        self.transformer = transformer

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states = self.transformer(input_ids=input_ids).last_hidden_state
        return torch.nn.functional.normalize(states.mean(1), dim=1)


class _Bert(torch.nn.Module):
    """The arithmetic of Devlin et al. 2019 for tokens x dimensions; the modules and their weights are the model's own."""

    def __init__(self, bert: Any) -> None:
        super().__init__()
        self.heads = bert.config.num_attention_heads
        self.words = bert.embeddings.word_embeddings
        self.norm = bert.embeddings.LayerNorm
        first_kind = bert.embeddings.token_type_embeddings.weight[0]
        self.places = torch.nn.Parameter(bert.embeddings.position_embeddings.weight + first_kind)
        self.layers = bert.encoder.layer
        self.projections = torch.nn.ModuleList(_joined(layer.attention.self) for layer in self.layers)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states = self.norm(self.words(input_ids[0]) + self.places[: input_ids.shape[1]])
        for layer, projection in zip(self.layers, self.projections, strict=True):
            seen = layer.attention.output.dense(self._attend(projection(states)))
            states = layer.attention.output.LayerNorm(seen + states)
            inner = torch.nn.functional.gelu(layer.intermediate.dense(states))
            states = layer.output.LayerNorm(layer.output.dense(inner) + states)
        return torch.nn.functional.normalize(states.mean(0, keepdim=True), dim=1)

    def _attend(self, projected: torch.Tensor) -> torch.Tensor:
        """From queries, keys and values side by side to what each token gathers from all."""
        size = self.places.shape[1] // self.heads
        query, key, value = projected.reshape(-1, 3, self.heads, size).permute(1, 2, 0, 3).unbind(0)
        gathered = torch.softmax(query @ key.transpose(1, 2), dim=-1) @ value
        return gathered.transpose(0, 1).reshape(-1, self.heads * size)


def _joined(attention: Any) -> torch.nn.Linear:
    """The projections to queries, keys and values as one. Queries are scaled here, once, by 1 / sqrt(size of a head)."""
    scale = attention.attention_head_size**-0.5
    parts = (attention.query, attention.key, attention.value)
    scales = (scale, 1.0, 1.0)
    width = attention.query.in_features
    joined = torch.nn.Linear(width, sum(part.out_features for part in parts))
    joined.weight = torch.nn.Parameter(torch.cat([part.weight * s for part, s in zip(parts, scales, strict=True)]))
    joined.bias = torch.nn.Parameter(torch.cat([part.bias * s for part, s in zip(parts, scales, strict=True)]))
    return joined
