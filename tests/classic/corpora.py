"""A corpus in memory behind the pipeline's port: the same BM25 and cosines, without a database."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_app import quality, records
from corpus_app.passages import split_sentences
from qa_app.classic.ports import Encode as EncodeQuestion
from qa_app.classic.ports import Encoded
from qa_app.pipeline.ports import LegFailed
from qa_app.pipeline.text import EMPTY_WORDS, stem, words

Encode = Callable[[Sequence[str]], Sequence[Sequence[float]]]


def lexemes(text: str) -> list[str]:
    return [stem(word) for word in words(text) if word not in EMPTY_WORDS]


class FakeCorpus:
    """Holds what the real one would search: published passages only."""

    def __init__(
        self,
        passages: Sequence[records.Passage],
        *,
        encode: Encode | None = None,
        concepts: Sequence[records.Concept] = (),
        collections: Sequence[records.Collection] = (),
        vectors: Sequence[Sequence[float]] = (),
        findings: Sequence[records.Finding] = (),
    ) -> None:
        self._passages = {p.passage_id: p for p in passages}
        self._concepts, self._collections = tuple(concepts), tuple(collections)
        self._encode, self._findings = encode, tuple(findings)
        self._finding_vectors: dict[str, Sequence[Sequence[float]]] = {}
        texts = [f"{p.heading}\n{p.text}" for p in passages]
        self._vectors = dict(
            zip(self._passages, vectors or (encode(texts) if encode else [None] * len(texts)), strict=True)
        )
        self._counts = {p.passage_id: Counter(lexemes(p.heading) + lexemes(p.text)) for p in passages}
        self._frequency = Counter(term for counts in self._counts.values() for term in counts)
        self._vocabulary = Counter(word for p in passages for word in set(words(p.text)) if word.isalpha())
        self._average = sum(c.total() for c in self._counts.values()) / max(1, len(self._counts))

    def version(self) -> int:
        return 1

    def studies(self) -> tuple[records.Study, ...]:
        known = {p.study.study_id: p.study for p in self._passages.values()}
        return tuple(known[study_id] for study_id in sorted(known))

    def snapshot(self) -> nullcontext[None]:
        return nullcontext()

    def encode_ahead(self, texts: Sequence[str]) -> Encoded:
        return lambda: self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self._encode is None:
            raise LegFailed("the encoder is not there")
        return self._encode(texts)

    def near_findings(self, vector: Sequence[float], passage_ids: Sequence[int]) -> tuple[records.NearFinding, ...]:
        of_study: dict[str, list[int]] = {}
        for pk in passage_ids:
            of_study.setdefault(self._passages[pk].study.study_id, []).append(pk)
        near = []
        for study_id, ids in sorted(of_study.items()):
            cosines = [float(sum(a * b for a, b in zip(own, vector, strict=True))) for own in self._near(study_id)]
            if cosines:
                number = max(range(len(cosines)), key=lambda place: (cosines[place], -place))
                near.append(records.NearFinding(study_id, number + 1, cosines[number], tuple(sorted(ids))))
        return tuple(near)

    def _near(self, study_id: str) -> Sequence[Sequence[float]]:
        """The vectors of a study's findings."""
        if self._encode is None:
            return ()
        if study_id not in self._finding_vectors:
            texts = [
                f"{f.intervention} versus {f.comparator}: {f.outcome}. {f.statement}"
                if f.comparator
                else f"{f.intervention}: {f.outcome}. {f.statement}"
                for f in self.findings([study_id])
            ]
            self._finding_vectors[study_id] = self._encode(texts) if texts else ()
        return self._finding_vectors[study_id]

    def passage_ids(self, study_id: str) -> tuple[int, ...]:
        own = [p for p in self._passages.values() if p.study.study_id == study_id]
        return tuple(p.passage_id for p in sorted(own, key=lambda p: p.position))

    def findings(self, study_ids: Sequence[str]) -> tuple[records.Finding, ...]:
        return tuple(f for study_id in study_ids for f in self._findings if f.study_id == study_id)

    def concepts(self) -> tuple[records.Concept, ...]:
        return self._concepts

    def collections(self) -> tuple[records.Collection, ...]:
        return self._collections

    def vocabulary(self) -> dict[str, int]:
        return dict(self._vocabulary)

    def is_word(self, word: str) -> bool:
        return word in quality.standard()

    def load(self, passage_ids: Sequence[int]) -> tuple[records.Passage, ...]:
        return tuple(self._passages[i] for i in passage_ids if i in self._passages)

    def find(
        self,
        text: str,
        vector: Sequence[float] | None,
        *,
        collection: str | None,
        limit: int,
        dense_error: str | None,
        k1: float,
        b: float,
    ) -> records.Found:
        terms = list(dict.fromkeys(lexemes(text)))
        searched = [p for p in self._passages.values() if collection in (None, p.study.collection)]
        hits = [
            records.Hit(p.passage_id, self._bm25(p.passage_id, terms, k1, b), self._cosine(p.passage_id, vector))
            for p in searched
        ]
        by_words = sorted((h for h in hits if h.bm25 > 0), key=lambda h: (-h.bm25, h.passage_id))[:limit]
        by_meaning = sorted((h for h in hits if h.cosine is not None), key=lambda h: (-(h.cosine or 0), h.passage_id))[
            :limit
        ]
        kept = {h.passage_id: h for h in (*by_words, *by_meaning)}
        cosines = [h.cosine for h in hits if h.cosine is not None]
        return records.Found(
            hits=records.Hits.of(kept.values()),
            lexical=records.Leg(True, len(by_words), None, 0.0, max((h.bm25 for h in hits), default=0.0)),
            dense=records.Leg(
                vector is not None, len(cosines), dense_error, min(cosines, default=0.0), max(cosines, default=0.0)
            ),
            corpus_version=1,
            lexemes=tuple(terms),
            document_frequency=tuple((t, self._frequency[t]) for t in terms),
            searchable_passages=len(self._passages),
        )

    def find_while(
        self, text: str, encode: EncodeQuestion, *, collection: str | None, limit: int, k1: float, b: float
    ) -> records.Found:
        vector, dense_error = encode()
        return self.find(text, vector, collection=collection, limit=limit, dense_error=dense_error, k1=k1, b=b)

    def find_linked(
        self, text: str, vector: Sequence[float] | None, *, collection: str | None, limit: int, k1: float, b: float
    ) -> records.Found:
        return self.find(text, vector, collection=collection, limit=limit, dense_error=None, k1=k1, b=b)

    def _bm25(self, passage_id: int, terms: Sequence[str], k1: float, b: float) -> float:
        counts, total = self._counts[passage_id], len(self._passages)
        score = 0.0
        for term in terms:
            tf, n = counts[term], self._frequency[term]
            if tf:
                norm = tf + k1 * (1 - b + b * counts.total() / self._average)
                score += math.log(1 + (total - n + 0.5) / (n + 0.5)) * tf / norm
        return score

    def _cosine(self, passage_id: int, vector: Sequence[float] | None) -> float | None:
        own = self._vectors[passage_id]
        if vector is None or own is None:
            return None
        return float(sum(a * b for a, b in zip(own, vector, strict=True)))


def starter_corpus(folder: Path, encode: Encode | None = None, *, only: Collection[str] = ()) -> FakeCorpus:
    """The published studies of a corpus folder: all, or only those named."""
    paths = sorted(path for path in (folder / "studies").glob("*.json") if not only or path.stem in only)
    data = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    published = [study for study in data if study["status"] == "published"]
    passages = [p for study in published for p in _passages(study)]
    sentence_texts = [p.text[s.start : s.end] for p in passages for s in p.sentences]
    if encode is not None:
        vectors = iter(encode(sentence_texts))
        passages = [_with_vectors(p, vectors) for p in passages]
    graph = json.loads((folder / "concepts.json").read_text(encoding="utf-8"))
    ids = {study["study_id"] for study in published}
    near: dict[str, dict[str, int]] = {}
    for relation in graph["relations"]:
        strength = len(ids & set(relation["studies"]))
        if strength:
            near.setdefault(relation["source"], {})[relation["target"]] = strength
            near.setdefault(relation["target"], {})[relation["source"]] = strength
    concepts = [
        records.Concept(
            c["id"], c["name"], c["kind"], tuple(c["aliases"]), c["definition"], tuple(c["collections"]),
            tuple(sorted(near.get(c["id"], {}), key=lambda other, own=c["id"]: (-near[own][other], other))),
            records.rarity(sum(c["id"] in study["concepts"] for study in published), len(published)),
            records.Wanted(c.get("wanted", "neither")),
            c["id"] in near or any(c["id"] in study["concepts"] for study in published),
        )
        for c in graph["concepts"]
    ]  # fmt: skip
    collections = [
        records.Collection(c["id"], c["name"], c["description"], tuple(c["keywords"])) for c in graph["collections"]
    ]
    findings = [finding for study in published for finding in _findings(study)]
    return FakeCorpus(passages, encode=encode, concepts=concepts, collections=collections, findings=findings)


def _findings(study: dict[str, Any]) -> list[records.Finding]:
    number = int(study["study_id"][1:])
    return [
        records.Finding(
            f["intervention"], f["comparator"], f["outcome"], records.Direction(f["direction"]), f["statement"],
            number * 100 + position, study["study_id"], f.get("plain", ""), records.Lean(f["lean"]) if "lean" in f else None,
        )
        for position, f in enumerate(study["findings"])
        if not f.get("unconfirmed")
    ]  # fmt: skip


def _passages(study: dict[str, Any]) -> list[records.Passage]:
    population = study["population"]
    record = records.Study(
        study["study_id"], study["title"], tuple(study["authors"]), study["year"], study["journal"], study["doi"], study["url"],
        records.Design(study["design"]), study["peer_reviewed"], study["collection"], population["description"],
        records.TrainingStatus(population["training_status"]), records.AgeGroup(population["age_group"]),
        records.Sex(population["sex"]), records.Status.PUBLISHED, records.Notice.NONE, tuple(study["concepts"]),
        study.get("takeaway", ""),
    )  # fmt: skip
    number = int(study["study_id"][1:])
    return [
        records.Passage(
            number * 100 + position, 1, record, position, records.Section(p["section"]), None, study["title"], p["text"],
            records.PassageKind.SUMMARY, tuple(records.Sentence(start, end) for start, end in split_sentences(p["text"])),
        )
        for position, p in enumerate(study["passages"])
    ]  # fmt: skip


def _with_vectors(passage: records.Passage, vectors: Any) -> records.Passage:
    return replace(passage, sentences=tuple(replace(s, vector=next(vectors)) for s in passage.sentences))
