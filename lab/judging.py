"""Measure the answer points that answers contain, and write blind comparison sheets for readers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus_app import search
from lab.points import CitedSentence, Point, is_covered, is_covered_by_the_letter, is_covered_together
from qa_app.answers import answering
from qa_app.answers.answering import POLICY
from qa_app.evaluation import golden_set
from qa_app.evaluation.measures import share, wilson_interval
from qa_app.pipeline import citations
from qa_app.pipeline.attribution import attribution, spoken
from qa_app.pipeline.concepts import ConceptIndex
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Answered, Ending, Mode, Question, Refused
from qa_app.pipeline.text import clean

PASSAGES_LISTED = 3  # in the plain list: about as many words as an answer
CRITERIA = ("by the letter", "one sentence", "one study", "at best")
Progress = Callable[[int], None]


# --- Points -----------------------------------------------------------------------------------------------------------


def measure_points(path: Path, *, policy: Policy = POLICY, on_progress: Progress) -> dict[str, Any]:
    """Return the share of answer points that the answers to a file of golden questions contain.

    `by the letter` a sentence cites a study of the point and has all of its figures
    `one sentence`  the same, and has its content where it has no figures
    `one study`     all sentences that cite one study of the point, taken together, do so
    `at best`       `one sentence` for all retrieved sentences of the point's studies: the upper limit of any writer

    Raises BadGolden with the line.
    """
    concepts = ConceptIndex.build(search.concepts())
    rows = []
    asked = [row for row in golden_set.read_rows(path) if row.get("relevant") and row.get("answer_points")]
    for done, row in enumerate(asked, start=1):
        answer = _answer(row, policy)
        said = []
        if not isinstance(answer, Refused):
            said = [CitedSentence(s.text, s.study_ids) for s in (*answer.summary, *answer.answer)]
        shown = [
            CitedSentence(c.passage.text[s.start : s.end], (c.passage.study.study_id,))
            for c in answer.passages
            for s in c.passage.sentences
        ]
        for entry in row["answer_points"]:
            point = Point(entry["text"], tuple(entry["studies"]))
            rows.append(
                {
                    "id": row["id"],
                    "kind": row["kind"],
                    "point": point.text,
                    "answered": answer.outcome.is_answer,
                    "by the letter": is_covered_by_the_letter(point, said),
                    "one sentence": is_covered(point, said, concepts),
                    "one study": is_covered_together(point, said, concepts),
                    "at best": is_covered(point, shown, concepts),
                }
            )
        on_progress(done)
    answered = [row for row in rows if row["answered"]]
    return {
        "questions": len(asked),
        "by kind": {
            kind: {name: _share_of([bool(row[name]) for row in answered if row["kind"] == kind]) for name in CRITERIA}
            for kind in dict.fromkeys(row["kind"] for row in answered)
        },
        "points of answered questions": {name: _share_of([bool(row[name]) for row in answered]) for name in CRITERIA},
        "points of all questions": {name: _share_of([bool(row[name]) for row in rows]) for name in CRITERIA[:3]},
        "missing": [{"id": row["id"], "point": row["point"]} for row in answered if not row["one study"]],
    }


def _share_of(flags: Sequence[bool]) -> dict[str, Any]:
    low, high = wilson_interval(sum(flags), len(flags))
    return {"n": len(flags), "share": round(share(flags), 4), "interval": [round(low, 4), round(high, 4)]}


# --- The blind sheet --------------------------------------------------------------------------------------------------


def blind_sheet(
    path: Path, *, n: int, seed: int, policy: Policy = POLICY, on_progress: Progress
) -> tuple[str, list[dict[str, str]]]:
    """Write a sheet of `n` answered questions, each with the answer and a list of top passages in random order.

    Every kind of question gets an equal share. The second value is the key: which letter is the answer. Raises
    BadGolden.
    """
    rng = random.Random(seed)  # noqa: S311 - a lot, not a secret
    rows = [row for row in golden_set.read_rows(path) if row.get("relevant")]
    parts = [SHEET_OPENING]
    key: list[dict[str, str]] = []
    for row in _spread(rows, rng):
        if len(key) == n:
            break
        answer = _answer(row, policy)
        if not isinstance(answer, Answered):
            continue
        texts = [("answer", _as_answer(answer)), ("passages", _as_list(answer))]
        rng.shuffle(texts)
        number = len(key) + 1
        key.append({"number": str(number), "id": row["id"], "A": texts[0][0], "B": texts[1][0]})
        parts.append(f"## {number}. {_plain(row['question'])}\n\n*For a reader who is {_reader(row['mode'])}.*\n")
        parts += [f"### {letter}\n\n{text}\n" for letter, (_, text) in zip("AB", texts, strict=True)]
        parts.append("Better: A / B / alike · Misleads: A / B / none · Why:\n")
        on_progress(len(key))
    return "\n".join(parts), key


SHEET_OPENING = """# Two texts to each question

Read both texts and say which answers the question better for this reader, and whether one of them misleads: says
something that its own quoted studies would not support, about other people or another outcome than asked, or the
opposite. The numbers in brackets stand for studies.
"""


def _spread(rows: Sequence[dict[str, Any]], rng: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the questions in random order, one of each kind in rotation."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)
    for own in kinds.values():
        rng.shuffle(own)
    while any(kinds.values()):
        yield from (own.pop() for own in kinds.values() if own)


def _as_answer(answer: Answered) -> str:
    parts = [answer.summary] if _adds_nothing(answer) else [answer.summary, answer.answer]
    texts = [
        citations.with_markers((spoken(s.text, s.attribution), s.citations, s.paragraph) for s in part)
        for part in parts
    ]
    return "\n\n".join(filter(None, [answer.message or "", *texts]))


def _adds_nothing(answer: Answered) -> bool:
    return {s.text for s in answer.answer} <= {s.text for s in answer.summary}


def _as_list(answer: Answered) -> str:
    """List the top passages with the same attributions as the answer, so that readers compare the content only."""
    asked = answer.query.facets
    texts: list[str] = []
    before = None
    for candidate in answer.passages[:PASSAGES_LISTED]:
        passage, study = candidate.passage, candidate.passage.study
        who = "" if study == before else attribution(passage.text, study, asked)
        texts.append(spoken(passage.text, who))
        before = study
    return "\n\n".join(f"{text} [{place}]" for place, text in enumerate(texts, start=1))


def _plain(text: str) -> str:
    return text.replace("#", "").strip()


def _reader(mode: str) -> str:
    return "a beginner" if mode == Mode.BEGINNER else "used to training and to figures"


def _answer(row: dict[str, Any], policy: Policy) -> Ending:
    question = Question(row["question"], clean(row["question"]), Mode(row["mode"]), row["collection"])
    return answering.make(question, writer="extractive", policy=policy)
