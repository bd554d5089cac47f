"""Define the weights, budgets and thresholds of an answer, and the presets that rank single passages.

Learned weights lie in model files with their cut-offs.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any


class Order(StrEnum):
    """Ways to rank what an answer is written from."""

    RELEVANCE = "relevance"
    """Studies by the learned chance that they answer."""
    SCORE = "score"
    """Passages by the weighted sum of their scores by words and by meaning."""
    KEYWORD_HITS = "keyword_hits"
    """Passages by the number of the question's words in them, then by distance."""


class Lexical(StrEnum):
    """Term weighting of the score by words."""

    BM25 = "bm25"
    TFIDF = "tfidf"


class NotFound(StrEnum):
    """Endings of a question where a language model finds no answer in the passages, twice."""

    REFUSE = "RAG_NO_ANSWER"
    """A refusal with this code."""
    QUOTE = "quote"
    """The passages are quoted, with less confidence."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Figures of retrieval, selection, writing and verification; stored with each answer."""

    name: str = "default"
    order: Order = Order.RELEVANCE
    lexical: Lexical = Lexical.BM25
    scope_detected: bool = False  # search the collection that the question points at first
    has_second_pass: bool = False  # search for neighbouring concepts where little was found

    # The orders `score` and `keyword_hits` only.
    lexical_weight: float = 0.35  # of the score by words; the rest is of that by meaning
    pool: int = 50  # passages that are ranked
    section_exact: float = 1.0  # factor for sections that the question aims at
    section_related: float = 1.0  # and for those near them
    recency_band: float = 0.0  # scores this close count as equal, and the newer study comes first
    mode_weight: float = 0.0  # for what suits the reader, added
    neighbour_weight: float = 0.0  # for a study on a concept one hop from those of the question, added
    distance_gate: float = 0.0  # squared Euclidean distance of unit vectors beyond which a passage is out; 0: no gate

    # Evidence.
    candidates: int = 20  # texts of each kind and half from which candidate studies are taken
    evidence_passages: int = 12
    cited_studies: int = 5
    cited_from: float = 0.05  # chance that a study answers from which it may be cited
    cited_share: float = 0.4  # and the share of the leading study's chance
    in_scope_from: float = 0.25  # best passage cosine below which, without a concept, a question is off the subject
    near_from: float = 0.4  # cosine from which a curated question is offered as near
    missing_idf_share: float = 0.17  # share of the question's IDF from which an uncovered word is a missing part

    # The selection objective: the cosine of the sentence to the question has the weight 1.
    passage_weight: float = 0.3  # cosine of its passage
    term_weight: float = 0.3  # share of the question's IDF in it
    role_weight: float = 0.5  # rhetorical role or section, 0 to 1
    study_weight: float = 0.4  # chance that its study answers
    finding_weight: float = 0.05  # plain sentence of the finding whose curated question is nearest
    answer_weight: float = 0.4  # for a sentence with an answer of the expected type, times its binding, 0 to 1
    # The role in a headline that no curator wrote. Fitted (conditional logit) to 80 questions of six corpora, each left
    # out once: -0.1 to 0.04, and 60 headlines that answer, not 49.
    unwritten_role_weight: float = 0.0
    coverage_weight: float = 0.3  # share of the question's IDF that nothing selected has
    new_study_weight: float = 0.3  # first quotation of a study
    new_side_weight: float = 0.2  # first finding that leans to another side
    redundancy_weight: float = 0.8  # highest Jaccard similarity to what is selected
    length_weight: float = 0.2  # for each hundred words
    least_gain: float = 0.65
    least_share: float = 0.75  # of the best relevance among the same study's options

    # Budgets.
    summary_words_beginner: int = 60
    summary_words_intermediate: int = 75
    answer_words_beginner: int = 150
    answer_words_intermediate: int = 280
    quotations_leader: int = 5  # of the leading study in the answer; a beginner's answer has two fewer
    quotations_other: int = 3  # of each other study; a beginner's answer has one fewer

    # Language models.
    not_found: NotFound = NotFound.REFUSE  # where a model finds no answer, twice
    not_found_share: float = 0.5  # of the confidence, where passages are quoted all the same; a judgement

    # Labels of confidence, and verification of a paraphrase.
    confidence_high: int = 70
    confidence_medium: int = 45
    support_high: float = 0.8  # score from which a paraphrase counts as supported
    support_medium: float = 0.6  # and below which it is left out; between the two it is marked as weak
    quote_answers_from: float = 0.5  # share of the question's terms from which a quotation replaces a weak paraphrase

    def values(self) -> Mapping[str, object]:
        """Return every figure, as it is stored with an answer."""
        return asdict(self)

    @property
    def for_unwritten(self) -> Policy:
        """Return the figures that choose a headline among sentences that no curator wrote."""
        return replace(self, role_weight=self.unwritten_role_weight)

    @property
    def label(self) -> str:
        """Return the preset's name and a hash of its figures."""
        text = json.dumps(self.values(), sort_keys=True)
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


class BadPolicy(ValueError):
    """A preset or a figure that does not exist; the message says which do."""


DEFAULT = Policy()
_IN_SCORES = Policy(order=Order.SCORE, evidence_passages=5)
_PRESETS = (
    DEFAULT,
    # 0.4 TF-IDF and 0.6 meaning; the newer study where relevance is comparable; the reader's mode counts.
    replace(
        _IN_SCORES, name="seed-000", lexical=Lexical.TFIDF, lexical_weight=0.4, recency_band=0.02, mode_weight=0.05
    ),
    # Twelve passages by meaning and twelve by words, of the collection first; neighbouring concepts count a little and
    # are searched for where little was found.
    replace(
        _IN_SCORES, name="seed-001", scope_detected=True, has_second_pass=True, lexical_weight=0.4, pool=12,
        neighbour_weight=0.1,
    ),
    # A pool of forty by meaning; sections aimed at count double, related ones 1.3 times; five from different places.
    replace(_IN_SCORES, name="seed-002", lexical_weight=0.0, pool=40, section_exact=2.0, section_related=1.3),
    # The 24 nearest, the question's words first and distance second, none farther than 1.5.
    replace(
        _IN_SCORES, name="seed-004", order=Order.KEYWORD_HITS, lexical_weight=0.0, pool=24, distance_gate=1.5
    ),
)  # fmt: skip
PRESETS: Mapping[str, Policy] = {preset.name: preset for preset in _PRESETS}
_POSITIVE = frozenset({"pool", "candidates", "evidence_passages", "cited_studies"})
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def read(text: str) -> Policy:
    """Return a preset with figures changed in it: "seed-002, evidence_passages=8". Raises BadPolicy."""
    parts = [part for part in re.split(r"[\s,]+", text) if part]
    return named(DEFAULT.name, parts) if not parts or "=" in parts[0] else named(parts[0], parts[1:])


def named(preset: str, changes: Iterable[str] = ()) -> Policy:
    """Return the preset with single figures changed, each as name=value. Raises BadPolicy."""
    if preset not in PRESETS:
        raise BadPolicy(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
    chosen = PRESETS[preset]
    kinds = {f.name: type(getattr(chosen, f.name)) for f in fields(Policy) if f.name != "name"}
    figures: dict[str, Any] = {}
    for name, _, value in (change.partition("=") for change in changes):
        if name not in kinds:
            raise BadPolicy(f"{name!r} is no figure of the policy; there are {', '.join(kinds)}.")
        figures[name] = _figure(name, kinds[name], value)
    return replace(chosen, **figures)


def _figure(name: str, kind: type, value: str) -> Any:
    if kind is bool:
        if value.lower() not in _BOOLEANS:
            raise BadPolicy(f"{name} is true or false, not {value!r}.")
        return _BOOLEANS[value.lower()]
    try:
        figure = kind(value)
    except ValueError as error:
        raise BadPolicy(f"{name}={value} cannot be read: {error}.") from None
    least = 1 if name in _POSITIVE else 0
    if isinstance(figure, int | float) and not (math.isfinite(figure) and figure >= least):
        raise BadPolicy(f"{name} must be {least} or more, not {value}.")
    return figure
