"""A few studies of the starter corpus in a folder of their own, and an encoder for them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from corpus_app.embedding import Matrix
from qa_app.pipeline.text import content_stems
from tests.fakes import WordHashEncoder

CORPUS = Path(__file__).parents[2] / "corpus"
SLICE = ("S006", "S018", "S036", "S070", "S079")


def copy_slice(folder: Path) -> Path:
    """Copy the studies with all concepts, the lexicon, and what these studies say of relations between concepts."""
    (folder / "studies").mkdir()
    for study_id in SLICE:
        shutil.copy(CORPUS / "studies" / f"{study_id}.json", folder / "studies")
    shutil.copytree(CORPUS / "lexicon", folder / "lexicon")
    vocabulary = json.loads((CORPUS / "concepts.json").read_text(encoding="utf-8"))
    relations = [row | {"studies": [s for s in row["studies"] if s in SLICE]} for row in vocabulary["relations"]]
    vocabulary["relations"] = [row for row in relations if row["studies"]]
    (folder / "concepts.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return folder


class StemHashEncoder(WordHashEncoder):
    """Each stem of a content word points somewhere of its own: texts are near that share what they are about."""

    def _row(self, text: str) -> Matrix:
        return super()._row(" ".join(content_stems(text)))


FITTED = StemHashEncoder("all-MiniLM-L6-v2@word-hash", dimensions=384)
"""Quick, and under a name that models were fitted for."""
