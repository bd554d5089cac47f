"""Large corpora for measurements: real text first, then recombined text whose vocabulary keeps growing."""

import json
from itertools import islice
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Q

from corpus_app import indexing
from corpus_app.models import Passage, Study
from lab.management.commands.bench_scale import bytes_received, dense_recall
from lab.scale_corpus import PASSAGES_EACH, fill
from lab.scale_text import RealText
from tests.fakes import WordHashEncoder

WORDS = "albedo basalt caldera dolomite estuary feldspar glacier hornfels isthmus jasper karst lagoon".split()


@pytest.fixture
def text(tmp_path: Path) -> RealText:
    rows = [
        {
            "title": f"Short {n}",
            "parts": [f"The {chr(97 + n) * 7 + end * 3} rose by {n}. {' '.join(WORDS)}." for end in "xyz"],
        }
        for n in range(20)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return RealText(tmp_path)


def test_recombined_text_keeps_meeting_new_words(text: RealText) -> None:
    known = set(" ".join(text.passages).lower().split())
    first, later = set(), set()
    for place, (opening, passage) in enumerate(islice(text.recombined(3), 4_000)):
        assert passage.startswith(text.passages[opening][:20])
        (first if place < 2_000 else later).update(passage.lower().split())
    assert first - known
    assert later - first - known


@pytest.mark.django_db
def test_a_filled_database_is_complete_and_can_grow(text: RealText, encoder: WordHashEncoder, tmp_path: Path) -> None:
    for total in (24, 48):
        fill(text, total=total, real=10, cache=tmp_path, report=lambda *_: None)

        assert Passage.objects.count() == total
        assert Study.objects.count() == total // PASSAGES_EACH
        assert list(indexing.audit()) == []
        assert not indexing.has_work()
    connection.check_constraints()
    assert sum(len(texts) for texts in encoder.calls) == 10
    assert not Passage.objects.filter(Q(sentences=None) | Q(vectors=None)).exists()
    assert dense_recall({"": encoder.encode(text.passages[:1])[0].tolist()}) == 1.0
    size = sum(len(text) for text in Passage.objects.values_list("text", flat=True))
    assert size < bytes_received(lambda: list(Passage.objects.values_list("text"))) < 1.5 * size
