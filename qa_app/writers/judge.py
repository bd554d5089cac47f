"""Judge paraphrases with an entailment model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

ENTAILED = "entail"  # prefix of the label in models with three labels
_WORDS_AT_ONCE = 200  # of evidence for each pair; the models truncate longer input


def entailment_judge(model: str) -> Callable[[str, Sequence[str]], float]:
    """Return a judge that uses a cross-encoder, by name or path, and scores from 0 to 1.

    A model has one label (its sigmoid counts) or three (entailment counts). The best stretch of the evidence counts.
    Raises OSError or ValueError when the model cannot be loaded.
    """
    from sentence_transformers import CrossEncoder  # slow to import and large

    encoder = CrossEncoder(model)
    labels = {int(place): str(label).lower() for place, label in encoder.config.id2label.items()}
    entailed = next((place for place, label in labels.items() if label.startswith(ENTAILED)), None)
    if len(labels) > 1 and entailed is None:
        raise ValueError(f"{model} has no label of entailment: {', '.join(labels.values())}")

    def judge(claim: str, sentences: Sequence[str]) -> float:
        pairs = [(stretch, claim) for stretch in _stretches(sentences)]
        if not pairs:
            return 0.0
        if entailed is None:
            return max(float(score) for score in encoder.predict(pairs, show_progress_bar=False))
        scores = encoder.predict(pairs, apply_softmax=True, show_progress_bar=False)
        return max(float(row[entailed]) for row in scores)

    return judge


def _stretches(sentences: Sequence[str]) -> list[str]:
    stretches: list[list[str]] = []
    words = _WORDS_AT_ONCE + 1
    for sentence in sentences:
        words += len(sentence.split())
        if words > _WORDS_AT_ONCE:
            stretches.append([])
            words = len(sentence.split())
        stretches[-1].append(sentence)
    return [" ".join(stretch) for stretch in stretches]
