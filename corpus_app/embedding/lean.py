"""Lean PyTorch graphs for export: one text at a time, so without mask and batch.

A BERT model, which most sentence encoders are, is rewritten with its three projections as one product, which takes a
fifth less time. Any other model is exported from its own code.
"""

from __future__ import annotations

from typing import Any

import torch


def graph_of(transformer: Any) -> torch.nn.Module:
    """Return a module from token ids (1 x tokens) to the normalised mean of the last states (1 x dimensions)."""
    return (_Bert if _is_plain_bert(transformer) else _Other)(transformer).eval()


def _is_plain_bert(transformer: Any) -> bool:
    config = transformer.config
    return (
        type(transformer).__name__ == "BertModel"
        and config.hidden_act == "gelu"
        and not config.is_decoder
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
    )


class _Other(torch.nn.Module):
    def __init__(self, transformer: Any) -> None:
        super().__init__()
        transformer.set_attn_implementation("eager")  # gives a smaller graph
        self.transformer = transformer

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states = self.transformer(input_ids=input_ids).last_hidden_state
        return torch.nn.functional.normalize(states.mean(1), dim=1)


class _Bert(torch.nn.Module):
    """BERT (Devlin et al. 2019) for one text (tokens x dimensions), with the modules and weights of the given model."""

    def __init__(self, bert: Any) -> None:
        super().__init__()
        self.heads = bert.config.num_attention_heads
        self.words = bert.embeddings.word_embeddings
        self.norm = bert.embeddings.LayerNorm
        token_type = bert.embeddings.token_type_embeddings.weight[0]
        self.positions = torch.nn.Parameter(bert.embeddings.position_embeddings.weight + token_type)
        self.layers = bert.encoder.layer
        self.projections = torch.nn.ModuleList(_joined(layer.attention.self) for layer in self.layers)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        states = self.norm(self.words(input_ids[0]) + self.positions[: input_ids.shape[1]])
        for layer, projection in zip(self.layers, self.projections, strict=True):
            attended = layer.attention.output.dense(self._attend(projection(states)))
            states = layer.attention.output.LayerNorm(attended + states)
            inner = torch.nn.functional.gelu(layer.intermediate.dense(states))
            states = layer.output.LayerNorm(layer.output.dense(inner) + states)
        return torch.nn.functional.normalize(states.mean(0, keepdim=True), dim=1)

    def _attend(self, projected: torch.Tensor) -> torch.Tensor:
        """Return the attention output of each token from the joined queries, keys and values."""
        size = self.positions.shape[1] // self.heads
        query, key, value = projected.reshape(-1, 3, self.heads, size).permute(1, 2, 0, 3).unbind(0)
        attended = torch.softmax(query @ key.transpose(1, 2), dim=-1) @ value
        return attended.transpose(0, 1).reshape(-1, self.heads * size)


def _joined(attention: Any) -> torch.nn.Linear:
    """Return the projections to queries, keys and values as one, with queries scaled by 1 / sqrt(head size)."""
    scale = attention.attention_head_size**-0.5
    parts = (attention.query, attention.key, attention.value)
    scales = (scale, 1.0, 1.0)
    width = attention.query.in_features
    joined = torch.nn.Linear(width, sum(part.out_features for part in parts))
    joined.weight = torch.nn.Parameter(torch.cat([part.weight * s for part, s in zip(parts, scales, strict=True)]))
    joined.bias = torch.nn.Parameter(torch.cat([part.bias * s for part, s in zip(parts, scales, strict=True)]))
    return joined
