"""An entailment model as a judge of paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

ENTAILED = "entail"  # how the label of support begins, in models of three labels
_WORDS_AT_ONCE = 200  # of evidence beside a claim: more than that the models cut off


def entailment_judge(model: str) -> Callable[[str, Sequence[str]], float]:
    """A judge by a cross-encoder of one label (its sigmoid) or of three (that of entailment), by name or path.

    The evidence is read in stretches, and the best one counts. Raises OSError or ValueError where the model cannot be had.
    """
    from sentence_transformers import CrossEncoder  # seconds, and hundreds of megabytes: only where there is a judge

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
