"""What a question reads, and what a process keeps, does not grow with the corpus."""

import gc
import random
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import psycopg
import pytest
from django.utils import timezone

from corpus_app import indexing
from corpus_app.indexing.planner_statistics import update_planner_statistics
from corpus_app.models import Concept, CorpusVersion, Finding, Passage, Study, StudyConcept
from corpus_app.search import versions
from qa_app.answers import asking
from qa_app.feedback import suggestions
from tests.builders import make_concept
from tests.qa.conftest import ASKED

SMALL, LARGE = 150, 1_500  # studies
MOST_READ = 250_000  # bytes: half of them are vectors of sentences that may be quoted, or the studies on one matter
ASKED_HERE: tuple[tuple[str, dict[str, Any]], ...] = (
    (ASKED, {}),
    ("Do weekly setts build mucsle growth?", {}),
    (ASKED, {"filters": {"from": 1995}}),
    ("How many studies on training volume do you have?", {}),
    ("Which topics and authors do the studies here cover?", {}),
    ("What did Smithson 2011 find on weekly sets?", {}),  # names an author of them all
    ("sauna", {}),
)
ALIKE = 5
"""Of the first so many questions, hardly more is read in a corpus ten times as large."""
MOST_GROWTH = 1.5  # of ten: the smaller corpus has fewer candidates than are looked at
TYPED = ("weekly gr", "sau", "what did")


def add_studies(first: int, last: int) -> None:
    """Publish studies on one comparison, each with an author, a title and words of its own, in texts of any length."""
    dice = random.Random(1)
    template = Study.objects.get(study_id="T-SETS")
    concept = Concept.objects.get(concept_id="training-volume")
    made = Study.objects.bulk_create(
        Study(
            study_id=f"G{n:05}", title=f"Weekly sets {spelt(n)} and growth of muscle {padding(dice)}", authors=[f"{spelt(n)}son AB", "Smithson C"],
            year=1990 + n % 30, design=template.design, collection=template.collection, status="published",
        ) for n in range(first, last)
    )  # fmt: skip
    Passage.objects.bulk_create(
        Passage(
            study=study, position=0, section="results", heading=study.title, content_hash=study.study_id,
            text=f"Weekly sets grew muscle in {study.authors[0].lower()}. Others had {padding(dice)}.",
        ) for study in made
    )  # fmt: skip
    Finding.objects.bulk_create(
        Finding(
            study=study, position=0, intervention="weekly sets", outcome="muscle growth", lean="yes",
            direction="favours_intervention", statement=f"Weekly sets grew muscle {padding(dice)}.", plain=f"Weekly sets made {padding(dice)}.",
        ) for study in made
    )  # fmt: skip
    StudyConcept.objects.bulk_create(StudyConcept(study=study, concept=concept, position=0) for study in made)
    indexing.sync_studies([study.pk for study in made])
    indexing.index_stale()
    update_planner_statistics()  # as the worker does after many: plans of the small corpus are given up
    CorpusVersion.objects.create(number=CorpusVersion.objects.count() + 100, at=timezone.now(), summary="more")


def padding(dice: random.Random) -> str:
    return " ".join(spelt(dice.randrange(300)) for _ in range(dice.randrange(60)))


def spelt(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:05}")


def read_by(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the bytes of all values that leave the database meanwhile, packed scores and vectors included."""
    read = 0

    def counted(name: str) -> Callable[..., Any]:
        fetch = getattr(psycopg.Cursor, name)

        def fetched(cursor: Any, *arguments: Any) -> Any:
            nonlocal read
            rows = fetch(cursor, *arguments)
            read += size_of(rows)
            return rows

        return fetched

    with monkeypatch.context() as patch:
        for name in ("fetchone", "fetchall", "fetchmany"):
            patch.setattr(psycopg.Cursor, name, counted(name))
        act()
    return read


def size_of(value: object) -> int:
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    if isinstance(value, bytes | np.ndarray):
        return memoryview(value).nbytes
    return 0 if value is None else len(str(value))


def objects_kept() -> int:
    """Return the number of objects that are kept by corpus version."""
    seen: dict[int, object] = {}
    left: list[object] = [versions.cache]
    while left:
        value = left.pop()
        if id(value) not in seen and not isinstance(value, type | ModuleType | FunctionType):
            seen[id(value)] = value
            left += gc.get_referents(value)
    return len(seen)


def ask_and_type() -> None:
    for question, options in ASKED_HERE:
        asking.ask(question=question, **options)
    for typed in TYPED:
        suggestions.suggest(typed)


@pytest.mark.usefixtures("library")
def test_what_is_read_and_kept_for_a_question_does_not_grow_with_the_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    make_concept("muscle-growth")
    read, kept = [], []
    for first, last in ((0, SMALL), (SMALL, LARGE)):
        add_studies(first, last)
        versions.cache.clear()
        ask_and_type()  # fills what is kept per corpus version
        kept.append(objects_kept())
        read.append(
            [read_by(partial(asking.ask, question=text, **options), monkeypatch) for text, options in ASKED_HERE]
        )

    assert kept[1] <= 1.02 * kept[0]
    assert max(read[1]) <= MOST_READ, read
    for small, large in zip(read[0][:ALIKE], read[1], strict=False):
        assert large <= MOST_GROWTH * small, read
