"""Estimate whether a study answers a question from its own sentences, where no curator wrote down what it answers.

A word that the study does not have is left out of the question (occlusion: Li, Monroe and Jurafsky 2016,
arXiv:1612.08220). It matters as far as the vector of the question moves, and the study does not support it as far as
the question comes closer to its sentences without it.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qa_app.pipeline.learned import logit

NEAREST = 8
"""Sentences of the study that a question is compared with."""
INFLUENCE, GAIN = 0.07, 0.03  # about one standard deviation over the labelled questions of the fit

Matrix = NDArray[np.float32]


def signals(lead: float, has_answer: bool | None, unsupported: float) -> dict[str, float]:
    """Return the features of the estimate.

    `lead` is the chance from retrieval, `has_answer` whether a sentence holds the expected type of answer, None where
    none is expected.
    """
    return {
        "lead": logit(lead),
        "answer_type": 0.0 if has_answer is None else 1.0 if has_answer else -1.0,
        "unsupported": unsupported,
    }


def without(question: str, words: str) -> str:
    """Return a question without some words of it; empty where it does not have them or has no others."""
    pattern = r"\W+".join(map(re.escape, words.split()))
    rest = re.sub(rf"(?<!\w){pattern}(?!\w)", " ", question, flags=re.IGNORECASE)
    return "" if rest == question or not re.search(r"\w", rest) else " ".join(rest.split())


def unsupported(question: Sequence[float], occluded: Sequence[Sequence[float]], sentences: Matrix) -> float:
    """Return how much the least supported of the words left out matters; 0 without any.

    Takes unit vectors: of the question, of the question without each word, and of the study's sentences as rows.
    """
    if not occluded or not len(sentences):
        return 0.0
    asked, others = np.asarray(question, np.float32), np.asarray(occluded, np.float32)
    nearest = sentences[np.argsort(-(sentences @ asked))[:NEAREST]]
    gains = (others @ nearest.T - nearest @ asked).mean(axis=1)
    return float(((1 - others @ asked) / INFLUENCE + gains / GAIN).max())
