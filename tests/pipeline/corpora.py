"""The starter corpus as values, a few of its studies in a folder of their own, and an encoder for them."""

import json
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_app.embedding import Matrix
from corpus_app.records import AgeGroup, Collection, Design, Notice, Reference, Sex, Status, Study, TrainingStatus
from corpus_app.sources import site_of
from qa_app.pipeline.query import AskedFacets
from qa_app.pipeline.question.facets import FacetIndex
from qa_app.pipeline.text import content_stems
from tests.fakes import WordHashEncoder

CORPUS = Path(__file__).parents[2] / "corpus"
SLICE = ("S006", "S018", "S036", "S070", "S079")
GRAPH = json.loads((CORPUS / "concepts.json").read_text("utf-8"))
COLLECTIONS = tuple(
    Collection(c["id"], c["name"], c["description"], tuple(c["keywords"])) for c in GRAPH["collections"]
)
SITE = site_of(tomllib.loads((CORPUS / "site.toml").read_text("utf-8")))
FACETS = FacetIndex.build(SITE.facets, SITE.phrase_lists)
GOLDEN = [json.loads(line)["question"] for line in (CORPUS / "golden_dev.jsonl").read_text("utf-8").splitlines()]


def asked(**values: str) -> AskedFacets:
    """Return the facets of the starter corpus with the values of a question, with spaces between."""
    return AskedFacets(SITE.facets, {key: tuple(own.split()) for key, own in values.items()})


def read_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a labelled table of `tests/data`."""
    path = CORPUS.parent / "tests" / "data" / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def published_rows(folder: Path = CORPUS) -> list[dict[str, Any]]:
    """Return the files of the published studies."""
    rows = [json.loads(path.read_text("utf-8")) for path in sorted((folder / "studies").glob("*.json"))]
    return [row for row in rows if row["status"] == "published"]


def study_of(row: Mapping[str, Any]) -> Study:
    people = row["population"]
    return Study(
        row["study_id"], row["title"], tuple(row.get("authors") or ()), row.get("year"), row.get("journal"), row.get("doi"),
        row.get("url"), Design(row["design"]), row["peer_reviewed"], row["collection"], people["description"],
        TrainingStatus(people["training_status"]), AgeGroup(people["age_group"]), Sex(people["sex"]), Status.PUBLISHED,
        Notice(row.get("notice") or "none"), tuple(row["concepts"]), row.get("takeaway", ""),
    )  # fmt: skip


def reference_of(row: Mapping[str, Any]) -> Reference:
    study = study_of(row)
    own = study.authors, study.year, study.journal, study.doi, None, study.url, study.design, study.notice
    return Reference(study.study_id, study.title, *own)


def copy_slice(folder: Path, studies: Sequence[str] = SLICE, *, with_lexicon: bool = True) -> Path:
    """Copy the studies with all concepts, the lexicon, and what these studies say of relations between concepts."""
    (folder / "studies").mkdir()
    for study_id in studies:
        shutil.copy(CORPUS / "studies" / f"{study_id}.json", folder / "studies")
    if with_lexicon:
        shutil.copytree(CORPUS / "lexicon", folder / "lexicon")
    shutil.copy(CORPUS / "site.toml", folder)
    relations = [row | {"studies": [s for s in row["studies"] if s in studies]} for row in GRAPH["relations"]]
    vocabulary = GRAPH | {"relations": [row for row in relations if row["studies"]]}
    (folder / "concepts.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    return folder


class StemHashEncoder(WordHashEncoder):
    """Each stem of a content word points somewhere of its own: texts are near that share what they are about."""

    def _row(self, text: str) -> Matrix:
        return super()._row(" ".join(content_stems(text)))


FITTED = StemHashEncoder("all-MiniLM-L6-v2@word-hash", dimensions=384)
"""Quick, and under a name that models were fitted for."""
