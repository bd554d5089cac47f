"""The one Policy: every number that steers an answer, and the fitted models that it uses."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, NamedTuple

from qa_app.pipeline.calibration import Calibration, Fitted, Logistic, shipped


class Fusion(StrEnum):
    """How the halves of the search are brought together."""

    MIN_MAX = "min_max"
    RECIPROCAL_RANK = "reciprocal_rank"
    COSINE = "cosine"
    """No fusion: the passage's closeness in meaning as it is; the words count where there is no vector."""


class Order(StrEnum):
    """What the ranking goes by."""

    SCORE = "score"
    KEYWORD_HITS = "keyword_hits"
    """The question's words in the passage first, then how close its meaning is."""


def _threshold(fitted: Fitted) -> float:
    """Of a calibration that comes without one, nothing passes."""
    return 1.0 if fitted.threshold is None else fitted.threshold


ANSWERABILITY = shipped("answerability")
CONFIDENCE = shipped("confidence")
BEARING = shipped("bearing")
_SHIPPED_FROM = _threshold(ANSWERABILITY.by_meaning)
_SHIPPED_BY_WORDS_FROM = _threshold(ANSWERABILITY.by_words)
_BY_THE_THRESHOLD = ("answerable_from", "scope_enough", "linked_below")


# Fitted on the sixteen best studies of each answered question, of golden_dev and of its questions in other words: is the study
# labelled relevant?
CITING = Logistic(
    intercept=-7.533,
    weights=(
        ("cosine", 1.742), ("held", 0.301), ("place", 1.638), ("score", 4.730), ("about", 1.206), ("alike", 1.163),
        ("matter", 0.572), ("detail", -2.232), ("others", -1.298),
    ),
    fitted_on="golden_dev-5",
)  # fmt: skip
CITING_BY_WORDS = Logistic(
    intercept=-6.701,
    weights=(("keywords", 2.734), ("place", 0.828), ("score", 6.910)),
    fitted_on="golden_dev-1-words",
)
# Fitted on the sentences of the studies that may be quoted: does the sentence hold an answer point of the question?
SENTENCE = Logistic(
    intercept=-8.168,
    weights=(
        ("cosine", 1.222), ("coverage", 1.401), ("passage", 3.292), ("leading", 0.982), ("closest", 0.380), ("figures", 0.739),
        ("finding", 1.465), ("outcome", 0.209), ("target", 0.538), ("limits", 2.181), ("methods", 1.414), ("aside", -0.444),
        ("claim", 0.313), ("short", -1.966), ("context", -0.505), ("practical", 0.526), ("others", -2.897),
    ),
    fitted_on="golden_dev-1",
)  # fmt: skip
# Fitted by `manage.py calibrate sentences` on sentences that readers judged: does a short answer to the question need it?
NEEDED = Logistic(
    intercept=-11.019,
    weights=(
        ("passage", 6.076), ("near", 2.367), ("outcome", 1.180), ("finding", 2.144), ("limits", 2.960), ("methods", 2.206),
        ("claim", 0.155), ("pair", 0.901), ("plain", 1.420), ("people", 0.488), ("special", -2.087), ("limit", 0.822),
        ("off", -1.109), ("reason", -1.054), ("why", 1.015), ("elsewhere", -0.927), ("chance", 2.694),
    ),
    fitted_on="sentences",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Policy:
    """Every number that steers an answer; stored with it."""

    name: str = "default"
    lexical_weight: float = 0.35
    dense_weight: float = 0.65
    bm25_k1: float = 0.7  # how soon a word that a passage repeats counts no more; 1.2 is usual
    bm25_b: float = 0.6  # how much less a word counts in a long passage; 0.75 is usual
    lexical_spread: float = 0.25  # how much more the words count where the best passage has more of them; 0: not at all
    dense_spread: float = 1.0  # and the meaning where the cosines lie farther apart
    usual_bm25: float = 20.0  # the best score by words at which the weight of the words is as given
    usual_range: float = 0.85  # and the distance between the lowest and the highest cosine
    core_weight: float = (
        0.5  # what the core of a question adds to its vector, where a heading or statements stand before it
    )
    core_repeats: int = 1  # how often its words are searched for once more
    field_terms_weight: float = 0.4  # what the question said in the field's terms adds to its vector
    expand_lay_words: bool = False  # search for the field terms of concepts named in other words, too
    leg_limit: int = 200  # hits that each leg hands over
    reranker_top_k: int = 25
    pool_cap: int = 50
    completed_studies: int = 5  # leading studies of which every hit is a candidate
    section_boost_exact: float = 1.1
    section_boost_related: float = 1.05
    keyword_weight: float = 0.0  # share of the question's terms in the passage, added to the fused score
    sentence_weight: float = 1.0  # the passage's best sentence, added to the fused score
    finding_weight: float = 1.0  # cosine of the study's finding that comes closest, added to the fused score
    question_weight: float = (
        3.0  # what it is above ANY_QUESTION, where curators wrote down how readers ask; 0: left aside
    )
    concept_weight: float = 0.0  # concepts that question and study share, by rarity, added to the fused score
    variable_weight: float = (
        0.8  # parts of the training (volume, load, rest) that question and study share, by rarity, added too
    )
    concept_words_weight: float = 0.4  # the question's words in the names of the study's concepts, added too
    leading_weight: float = 0.6  # what a study shares with the best ones, added too
    leading_studies: int = 3  # how many those are
    leading_closeness: float = 0.1  # how far below the best score one counts 1/e
    year_weight: float = 0.5  # a study of the year asked for, or the newest where that is, added too
    year_band: float = 1.0  # how far below the best score such a study may be
    design_weight: float = 0.02  # evidence by design, added to the fused score
    mode_weight: float = 0.0  # what suits the reader, added to the fused score
    recency_band: float = 0.02  # scores this close count as equal, and the newer study leads
    location_group: int = 3  # passages of one study and section whose position // 3 is equal stand at one place
    evidence_passages: int = 12
    evidence_studies: int = 5
    passages_per_study: int = 3
    passages_per_cited_study: int = 6  # of a study that the answer may quote
    bears_from: int = (
        40  # chance that a passage bears on the question below which it is no evidence beside a better one
    )
    bears_share: float = 0.6  # and the share of the best passage's chance that it must reach
    cites_from: float = 0.28  # chance that a study bears on the question from which it may be quoted beside the first
    near_duplicate_jaccard: float = 0.8
    answerable_from: float = _SHIPPED_FROM  # estimate below which nothing is written
    answerable_by_words_from: float = _SHIPPED_BY_WORDS_FROM  # the same where the search by meaning gave nothing
    answers_from: float = 0.3  # closest sentence's cosine below which nothing is written, whatever the estimate says
    in_scope_from: float = (
        0.3  # best sentence's cosine below which, without a known concept, a question is off the topic
    )
    counted_studies: int = 9  # studies of the evidence at most, where those on one matter are counted
    counted_from: int = 2  # studies with a clear stance that a counted line needs
    counted_variables_from: int = 3  # and that one on a variable of training needs, which only says whether it matters
    counted_rarity_from: float = (
        1.0  # rarity of a concept from which studies are counted on it: what most share divides none
    )
    conflict_from: int = 1  # good studies on either side from which they are in conflict
    summary_within: float = 3.0  # how far below the best sentence, in log odds, one may stand in the summary
    needed_from: float = 0.4  # chance that a short answer needs a sentence from which it is told
    needed_share: float = 0.6  # or the share of the best one's chance, where that is less
    says_from: float = 0.1  # and the chance that one sentence at least must have, or nothing is said
    fills_from: float = 0.3  # and from which it is where the summary is short, or beside a sentence that is told
    besides_from: float = 0.75  # and where a number, limits or methods are asked for and told, what gives none of them
    long_from_beginner: int = 150  # words from which on a sentence has to be needed more
    long_from_intermediate: int = 200
    long_rise: float = 0.004  # how much more, for each word beyond
    heard_bears_from: float = 0.5  # chance that a study bears on the question from which it is heard, if only once
    heard_from: float = 0.1  # and the chance that this one is needed
    answer_sentences: int = 12
    answer_per_study: int = 5  # sentences of the leading study
    answer_per_other_study: int = 2
    alternatives_gain: float = (
        1.5  # log odds that a sentence gains that names both of the things which the question compares
    )
    neighbour_gain: float = 1.5  # log odds that a sentence gains where it goes on from a chosen one
    neighbour_within: float = 2.0  # and how far below that one it may be
    told_weight: float = 0.3  # and loses for each sentence that was told of its study
    opening_bears_weight: float = (
        0.4  # what the best sentence gains, by which its study opens, for the log odds that the study bears on it
    )
    opening_within: float = 3.0  # how far below the best one the sentence that opens the answer may be
    opening_number_weight: float = 4.0  # what it gains for its cosine to the question, where a number is asked for
    opening_serves_weight: float = 0.6  # and where it gives that number, or else the limits or methods asked for
    nameless_weight: float = (
        1.0  # what a sentence loses there that names its study only as "the authors" or "the review"
    )
    plain_weight: float = 0.5  # log odds that advice and conclusions gain for a beginner
    statistics_weight: float = 0.8  # and lose for each mark of statistics
    long_weight: float = 0.3
    advice_from: float = 0.45  # share of the closest sentence's cosine below which advice is on another matter
    stray_advice_weight: float = 2.0  # and what it then loses
    aside_weight: float = 2.0  # what talk about the literature loses beside what the model takes
    abbreviation_weight: float = 0.4  # and for each abbreviation that is no measure of statistics
    unasked_weight: float = 1.5  # what a reason or the making of a study loses where nobody asked for it
    stray_outcome_weight: float = 1.0  # and what was found on another outcome than asked
    opening_named_weight: float = 1.5  # what a first sentence gains for the question's terms that it names, all of them
    opening_outcome_weight: float = 2.0  # and for the outcomes asked about that it names, all of them
    opening_place_weight: float = 0.1  # and loses for each passage that ranks before its own
    opening_gain: float = 1.0  # what conclusions and advice gain as a beginner's first sentence
    mere_advice_weight: float = 2.0  # what advice loses there that tells no effect, where nobody asked what to do
    opening_making_weight: float = 2.0  # what it loses that tells how a study was made, or that none was found
    opening_elsewhere_weight: float = 1.0  # and what speaks of nothing that was done of what the question names
    opening_apart_gain: float = (
        2.0  # what it gains that names both of two things which the question sets against each other
    )
    aimed_weight: float = 1.0  # what a sentence that opens with other people than asked about loses
    explains_gain: float = 1.5  # what an explanation gains where the question asks why
    dated_gain: float = 2.0  # what a sentence gains of the study of the year asked for, or of the newest where that is
    without_gain: float = (
        2.0  # what it gains on people who do not train, where these are asked about, and loses on training ones
    )
    other_people_weight: float = 2.0  # what a sentence loses that names people, and only others than the question does
    other_number_weight: float = 2.0  # what a sentence on type 2 loses where type 1 is asked about
    dieting_weight: float = 2.0  # and one on people on a diet, where those are asked about who eat as before
    number_gain: float = 1.0  # what a sentence gains that gives the number asked for
    special_age_weight: float = 1.0  # and loses of old or young people, where the question names nobody
    summary_sentences_beginner: int = 3
    summary_sentences_intermediate: int = 4
    summary_sentences_least: int = 3
    summary_sentences_most: int = 5
    words_summary: int = 160
    words_beginner: int = 120
    words_intermediate: int = 250
    retry_passages: int = 6  # the strongest by words, from which a model writes a second time
    confidence_high: int = 90
    confidence_medium: int = 75
    answerability: Logistic = ANSWERABILITY.by_meaning.model
    answerability_by_words: Logistic = ANSWERABILITY.by_words.model
    confidence: Logistic = CONFIDENCE.by_meaning.model
    confidence_by_words: Logistic = CONFIDENCE.by_words.model
    bearing: Logistic = BEARING.by_meaning.model
    bearing_by_words: Logistic = BEARING.by_words.model
    citing: Logistic = CITING
    citing_by_words: Logistic = CITING_BY_WORDS
    sentence: Logistic = SENTENCE
    needed: Logistic = NEEDED
    support_high: float = 0.8  # score of a free paraphrase from which it counts as supported
    support_medium: float = 0.6  # and below which it falls; between the two it is marked as weak
    quote_answers_from: float = (
        0.5  # share of the question's terms from which a quote takes the place of a weak paraphrase
    )
    trusts_cosines: bool = True  # False where the encoder in use is not the one that the models were fitted with
    probed_words: int = 6  # words of the question that no passage holds, each tried out by leaving it away
    unmet_name: float = (
        0.35  # what a name with a number that no passage holds (type 1) counts at least as an unmet word
    )
    fusion: Fusion = Fusion.MIN_MAX
    fusion_k: int = 60  # of reciprocal rank fusion, as in Cormack et al. 2009
    order: Order = Order.SCORE
    distance_gate: float = 0.0  # squared Euclidean distance of unit vectors beyond which a passage is out; 0: no gate
    neighbour_weight: float = 0.0  # study on a concept one hop from those of the question, added to the fused score
    population_weight: float = 0.0  # study of the people that the question names, added; of others, taken away
    number_weight: float = 0.0  # share of the question's numbers that the passage holds, added
    linked_below: float = 0.0  # estimate of answerability below which related concepts are searched too; 0: never
    linked_hub: int = 12  # a concept with more neighbours than this leads everywhere, so nowhere
    linked_most: int = 4  # concepts that a second pass adds
    linked_weight: float = 0.3  # what the second pass adds at most to the fused score
    scope_detected: bool = False  # search the collection that the question points at first
    leave_chosen_from: float = (
        0.92  # estimate for the whole corpus from which a chosen collection without an answer is left
    )
    scope_enough: float = _SHIPPED_FROM  # estimate of answerability from which a collection's own passages are enough
    reranker_weight: float = 1.0  # of a configured model's order against the built-in one
    reranker_seconds: float = 2.0  # that the model may take

    def models(self) -> tuple[Logistic, ...]:
        """The fitted models that a calibration replaces."""
        return (
            self.answerability,
            self.answerability_by_words,
            self.confidence,
            self.confidence_by_words,
            self.bearing,
            self.bearing_by_words,
        )

    def calibrated(self, *found: Calibration) -> Policy:
        """The same with the fitted models of these calibrations; a threshold that was changed stays as it was set."""
        changes: dict[str, Any] = {}
        for one in found:
            changes |= {one.kind: one.by_meaning.model, f"{one.kind}_by_words": one.by_words.model}
            if one.kind == "answerability":
                mine = _threshold(one.by_meaning)
                changes |= {name: mine for name in _BY_THE_THRESHOLD if getattr(self, name) == _SHIPPED_FROM}
                if self.answerable_by_words_from == _SHIPPED_BY_WORDS_FROM:
                    changes["answerable_by_words_from"] = _threshold(one.by_words)
        return replace(self, **changes)

    @property
    def pool(self) -> int:
        return min(self.pool_cap, 2 * self.reranker_top_k)

    def values(self) -> Mapping[str, object]:
        """Every figure, as it is stored with an answer; not to be changed."""
        return _told(self).values

    @property
    def label(self) -> str:
        """The preset's name and a hash of its figures."""
        return _told(self).label


class _Told(NamedTuple):
    """What is said of a policy."""

    policy: Policy
    values: Mapping[str, object]
    label: str


_KEPT_MOST = 16
_kept: dict[int, _Told] = {}
"""By the policy itself, not by its figures: 1 and 1.0 are equal and are stored differently."""


def _told(policy: Policy) -> _Told:
    """Worked out once, for one policy answers question after question."""
    kept = _kept.get(id(policy))
    if kept is None or kept.policy is not policy:
        values = asdict(policy)
        text = json.dumps(values, sort_keys=True)
        kept = _Told(policy, values, f"{policy.name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}")
        if len(_kept) >= _KEPT_MOST:
            _kept.clear()
        _kept[id(policy)] = kept
    return kept


class BadPolicy(ValueError):
    """A preset or a figure that there is not; the message says what there is."""


# What the ranking adds by itself, taken away: each preset below holds what its document names, and nothing else.
_PLAIN: dict[str, Any] = {
    "lexical_weight": 0.4,
    "dense_weight": 0.6,
    "bm25_k1": 1.2,
    "bm25_b": 0.75,
    "lexical_spread": 0.0,
    "dense_spread": 0.0,
    "core_weight": 0.0,
    "core_repeats": 0,
    "field_terms_weight": 0.0,
    "section_boost_exact": 1.0,
    "section_boost_related": 1.0,
    "sentence_weight": 0.0,
    "finding_weight": 0.0,
    "concept_weight": 0.0,
    "variable_weight": 0.0,
    "concept_words_weight": 0.0,
    "leading_weight": 0.0,
    "year_weight": 0.0,
    "design_weight": 0.0,
    "recency_band": 0.0,
    "passages_per_study": 5,
    "passages_per_cited_study": 5,
    "bears_from": 0,
    "bears_share": 0.0,
    "completed_studies": 0,
}
DEFAULT = Policy()
PRESETS: dict[str, Policy] = {
    preset.name: preset
    for preset in (
        DEFAULT,
        # 0.4 words, 0.6 meaning; the newer one where relevance is comparable; the reader's mode counts.
        replace(
            DEFAULT,
            name="seed-000",
            **_PLAIN | {"lexical_weight": 0.4, "dense_weight": 0.6, "recency_band": 0.02, "mode_weight": 0.05},
        ),
        # Twelve passages by meaning and twelve by words, of the collection first; neighbouring concepts count a little and
        # are searched for where little was found; five are kept.
        replace(
            DEFAULT,
            name="seed-001",
            **_PLAIN,
            leg_limit=12,
            reranker_top_k=12,
            evidence_passages=5,
            neighbour_weight=0.1,
            linked_below=DEFAULT.answerable_from,
            scope_detected=True,
        ),
        # A pool of forty by meaning; sections aimed at count double, related ones 1.3 times; five from different places.
        replace(
            DEFAULT,
            name="seed-002",
            **_PLAIN | {"section_boost_exact": 2.0, "section_boost_related": 1.3},
            fusion=Fusion.COSINE,
            reranker_top_k=20,
            evidence_passages=5,
        ),
        # The 24 nearest, the question's words first and distance second, none farther than 1.5; five are kept.
        replace(
            DEFAULT,
            name="seed-004",
            **_PLAIN,
            fusion=Fusion.COSINE,
            order=Order.KEYWORD_HITS,
            reranker_top_k=12,
            evidence_passages=5,
            distance_gate=1.5,
        ),
    )
}
_NEVER_ZERO = frozenset(
    "leg_limit reranker_top_k pool_cap location_group evidence_passages evidence_studies passages_per_study".split()
)
_ABOVE_ZERO = frozenset({"leading_closeness", "usual_bm25", "usual_range"})  # divided by
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def read(text: str) -> Policy:
    """A preset and figures changed in it: "seed-002, evidence_passages=8". Raises BadPolicy."""
    preset, *changes = [part for part in re.split(r"[\s,]+", text) if part] or [DEFAULT.name]
    return named(DEFAULT.name, (preset, *changes)) if "=" in preset else named(preset, changes)


def named(preset: str, changes: Iterable[str] = ()) -> Policy:
    """The preset with single figures changed, each as name=value. Raises BadPolicy."""
    if preset not in PRESETS:
        raise BadPolicy(f"There is no preset {preset!r}; there are {', '.join(PRESETS)}.")
    chosen = PRESETS[preset]
    kinds = {f.name: type(getattr(chosen, f.name)) for f in fields(Policy) if f.name != "name"}
    figures: dict[str, Any] = {}
    for change in changes:
        name, _, value = change.partition("=")
        kind = kinds.get(name)
        if kind is None or not issubclass(kind, int | float | str):
            raise BadPolicy(f"{name!r} is no figure of the policy.")
        figures[name] = _figure(name, kind, value)
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
    if name in _ABOVE_ZERO and figure == 0:
        raise BadPolicy(f"{name} must be more than 0, not {value}.")
    if isinstance(figure, int | float) and not (math.isfinite(figure) and figure >= (name in _NEVER_ZERO)):
        raise BadPolicy(f"{name} must be {1 if name in _NEVER_ZERO else 0} or more, not {value}.")
    return figure
