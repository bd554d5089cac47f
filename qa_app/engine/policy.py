"""The numbers that steer selection and composition; what is learned lives in model files with their cut-offs."""

from __future__ import annotations

from dataclasses import dataclass

from qa_app.pipeline.records import Mode


@dataclass(frozen=True, slots=True)
class Budget:
    """Words and quotations that a reader of one mode is given."""

    summary_words: int
    answer_words: int
    quotations_leader: int
    """Quotations of the leading study in the answer."""
    quotations_other: int


@dataclass(frozen=True, slots=True)
class EnginePolicy:
    """Weights of the selection objective, cut-offs of citing, and budgets."""

    cited_from: float = 0.05  # chance that a study answers from which it may be cited
    cited_share: float = 0.35  # and the share of the leader's chance
    cited_studies: int = 5
    evidence_passages: int = 12
    candidates: int = 50  # texts of each kind and half from which candidate studies are taken
    sentence_weight: float = 1.0  # cosine of the sentence to the question
    passage_weight: float = 0.3  # cosine of its passage
    term_weight: float = 0.3  # share of the question's IDF in it
    role_weight: float = 0.35  # rhetorical role or section, 0 to 1
    study_weight: float = 0.4  # chance that its study answers
    number_weight: float = 0.1  # a figure where one is asked for
    coverage_weight: float = 0.3  # share of the question's IDF that nothing selected has
    new_study_weight: float = 0.3  # first quotation of a study
    new_side_weight: float = 0.2  # first finding that leans to another side
    redundancy_weight: float = 0.8  # highest Jaccard similarity to what is selected
    length_weight: float = 0.2  # for each hundred words
    finding_weight: float = 0.15  # plain sentence of the finding whose curated question is nearest
    slot_weight: float = 0.3  # share of the concepts asked about that the finding of a plain sentence is on
    least_gain: float = 0.35
    least_share: float = 0.75  # of the best relevance among the same study's options
    missing_idf_share: float = 0.17  # share of the question's IDF from which an uncovered word is a missing part
    near_from: float = 0.4  # cosine from which a curated question is offered as near
    near_questions: int = 3
    in_scope_from: float = 0.25  # best passage cosine below which, without a concept, a question is off the subject
    confidence_high: int = 70
    confidence_medium: int = 45
    beginner: Budget = Budget(summary_words=60, answer_words=150, quotations_leader=3, quotations_other=2)
    intermediate: Budget = Budget(summary_words=75, answer_words=280, quotations_leader=5, quotations_other=3)

    def budget(self, mode: Mode) -> Budget:
        return self.beginner if mode is Mode.BEGINNER else self.intermediate
