"""Fit the estimate of answers from texts without curated questions, to labelled questions of several corpora.

It is judged by leaving one corpus out: the others say nothing of its subject.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corpus_app import search
from lab import scratch_corpus
from lab.foreign_corpus import QUESTIONS
from qa_app.answers import answering, engines
from qa_app.answers.corpus import SearchedCorpus
from qa_app.evaluation import corpus_calibration
from qa_app.evaluation.measures import auroc, reliability
from qa_app.evaluation.reader_labels import ReaderQuestion, read_labels
from qa_app.evaluation.readers import Progress
from qa_app.evaluation.relevance_fit import fit_logistic
from qa_app.pipeline import evidence, learned
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.records import Question
from qa_app.pipeline.retrieval import retrieve
from qa_app.pipeline.run import parse_question
from qa_app.pipeline.text import clean

C = 0.3  # inverse strength of the L2 penalty
ANSWERED_FROM = 0.5
"""An answer is given where it is likelier right than wrong."""


@dataclass(frozen=True, slots=True)
class Example:
    """The features of one question, and whether its leading study answers it."""

    group: str
    grounds: Mapping[str, float]
    is_right: bool
    is_answerable: bool


def fit(folders: Sequence[Path], *, cache: Path, report: Progress) -> dict[str, Any]:
    """Return the row of the model file, with figures of the corpora left out. Raises BadLabels and CommandError."""
    examples = [example for folder in folders for example in read_examples(folder, cache=cache, report=report)]
    names = tuple(examples[0].grounds)
    values = np.array([[example.grounds[name] for name in names] for example in examples])
    right = np.array([example.is_right for example in examples])
    answerable = np.array([example.is_answerable for example in examples])
    groups = np.array([example.group for example in examples])
    held_out = np.zeros(len(examples))
    for group in dict.fromkeys(groups):
        others = groups != group
        model = fit_logistic(values[others], right[others], names, C)
        held_out[~others] = model.predict(values[~others])
    given = held_out >= ANSWERED_FROM
    figures = {
        "questions": float(len(examples)),
        "auroc_lead": round(auroc(held_out.tolist(), right.tolist()), 4),
        "wrongly_refused": round(float((~given)[answerable].mean()), 4),
        "refused": round(float((~given)[~answerable].mean()), 4),
        "auroc_confidence": round(auroc(held_out[given].tolist(), right[given].tolist()), 4),
        "mean_confidence": round(float(held_out[given].mean()), 4),
        "share_right": round(float(right[given].mean()), 4),
        "bins": [asdict(found) for found in reliability(held_out[given].tolist(), right[given].tolist())],
    }
    row = fit_logistic(values, right, names, C).as_row() | {"threshold": ANSWERED_FROM}
    data = ", ".join(folder.name for folder in folders)
    encoder = search.encoder_name()
    return {
        "kind": "grounding", "encoder": encoder, "data": data, "figures": {"bare": figures}, "models": {"bare": row},
    }  # fmt: skip


def read_examples(folder: Path, *, cache: Path, report: Progress) -> Iterator[Example]:
    """Yield an example for each question of a corpus folder that stands alone."""
    questions = [question for question in read_labels(folder / QUESTIONS) if not question.follows]
    with scratch_corpus.library(folder, search.encoder_name(), cache=cache, report=report):
        corpus_calibration.calibrate()
        for question in questions:
            if (example := _example(question, folder.name)) is not None:
                yield example


def _example(labelled: ReaderQuestion, group: str) -> Example | None:
    corpus, policy = SearchedCorpus(), answering.POLICY
    models = engines.engine(policy).models
    question = Question(labelled.question, clean(labelled.question), labelled.mode)
    with search.snapshot():
        facts = corpus.facts()
        query = parse_question(question.searched, corpus, facts)
        retrieved = retrieve(query, corpus, facts, models, policy, Clock())
        gathered = evidence.gather(question, query, facts, retrieved, corpus, policy) if retrieved.ranked else None
    if gathered is None or not gathered.grounds:
        return None
    leader, is_answerable = gathered.leading_study.study_id, labelled.expect.is_answerable
    return Example(group, gathered.grounds, is_answerable and leader in labelled.accepted_leads, is_answerable)


def write(row: Mapping[str, Any], folder: Path) -> Path:
    """Write the model file to its place under a folder and return its path."""
    path = folder / learned.folder_of(str(row["encoder"])).name / "grounding.json"
    learned.write(path, row)
    return path
