"""The sentences of the evidence that can stand alone, and how well each answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from corpus_app.records import AgeGroup, Concept, Section, Sex, Study
from qa_app.pipeline.naming import names
from qa_app.pipeline.orders import gives_orders
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import Candidate, Evidence, Finding, Mode, Population
from qa_app.pipeline.text import jaccard, stem_set, word_count

HANGING = re.compile(
    r"^(?:(?:it|its|they|their|them|these|those|this|that|such|both|he|she|however|but|also|in contrast|by contrast|instead|otherwise|"
    r"moreover|furthermore|therefore|thus|hence|either|with (?:either|both|neither)|for (?:both|either)|of the two|on the other hand|"
    r"on average|similarly|likewise|conversely|the same|the other|the latter|the former|the difference|the effect|the corresponding|"
    r"neither|here|there|then|another|others|one of (?:them|these)|again|still|yet|so|rather|nevertheless|nonetheless|for example|"
    r"even so|only one|the authors|the two|the three|when these|after this|among (?:these|them)|in (?:these|those|this)|"
    r"of (?:these|those|them))\b"
    # or whose subject, after where or when it was, is a pronoun ("In a trial in older men it raised ...")
    r"|(?:in|after|with|among|for|at|during|over|on|by)\b[^.;:]{0,80}?\s(?:it|they)\s"
    # or after what gave reason or room for it ("Because few events were reported, they suggest ...")
    r"|(?:because|although|since|while|as|if|when)\b[^.;:]*,\s(?:it|they)\s"
    # or whose subject is a figure of something named before ("The study-level effect was 0.58.")
    r"|(?:[^.;:]{0,60}?\b)?the (?:\w+-level |mean |pooled |overall )?(?:effect|estimate|difference|advantage|contrast|gap|SMD|MD|effect size)s?(?: in favour of [^.;:,]{0,30}?)?"
    r" (?:was|were|fell|rose|did|could|remained|became|disappeared)\b"
    # or that says of one thing what was said of another ("Fat mass did not differ either.")
    r"|[^.;:]*\b(?:did not differ|nor did \w+|(?:either|too))\.$"
    # or that draws a conclusion from it ("Training was therefore ...")
    r"|\w+(?:\s\w+){0,3}\s(?:was|were|is|are)\s(?:therefore|thus|hence)\b)",
    re.IGNORECASE,
)

# One that speaks of what only the one before it names.
ANAPHOR = re.compile(
    r"\b(?:th(?:is|ese|at|ose) (?:effects?|differences?|results?|findings?|estimates?|benefits?|gains?|changes?|groups?|analys[ie]s|trials?|"
    r"stud(?:y|ies)|reviews?|approach|methods?|people|women|men|adults|interventions?|programmes?|diets?|doses?|loads?)"
    r"|both (?:groups|arms|conditions|sexes|diets|programmes|interventions)|(?:the )?two (?:groups|arms|conditions|diets|programmes)|"
    r"either (?:group|arm|condition|diet|programme)|the (?:other|same) (?:group|arm|condition|diet|trial|study)s?|the (?:reviewers|latter|former))\b",
    re.IGNORECASE,
)

# Talk about the literature instead of an answer: what was not studied, what should be.
ASIDE = re.compile(
    r"\b(?:did not (?:study|examine|test|report|assess|address)|was not (?:studied|examined|tested|assessed)|were not (?:studied|examined|tested|assessed)|"
    r"(?:more|further|future) (?:research|studies|trials|work)|discuss(?:es|ed)? (?:why|how)|called? for|even (?:more|greater|less|smaller)|"
    r"asked (?:whether|how|if)|aimed to|set out to|reviewed the literature|w(?:as|ere) (?:pooled|rated|searched|included)|included (?:randomi[sz]ed|studies|trials)|"
    r"expecting|hypothesi[sz]ed|expected|have proposed|(?:studies|trials) (?:reported|measured)|could not be (?:compared|separated|settled|judged|told)|remained? to be|is not known|was not known)\b",
    re.IGNORECASE,
)
# What was looked for and how: no answer to anything but that.
AIM = re.compile(
    r"\b(?:(?:asked,?|tested|examined|investigated) (?:whether|how|if|which|what|from)|aimed to|set out to|searched (?:\w+ ){0,3}databases|were (?:searched|analysed) (?:by|for|as|with)|"
    r"did not (?:study|examine|test|assess|address) (?:why|how|whether)|offered reasons|reviewed the literature|is well studied|have been proposed to)\b",
    re.IGNORECASE,
)
# What a finding or a piece of advice sounds like.
CLAIM = re.compile(
    r"\b(?:conclude[ds]?|recommend(?:s|ed)?|suggest(?:s|ed)?|advise[ds]?|found|gave|give|increased?|decreased?|reduced?|improved?|raised?|fell|rose|lowered|gained|"
    r"significant(?:ly)?|did not (?:differ|change|affect)|no (?:difference|effect|benefit)|similar|greater|larger|smaller|higher|lower|more|less|fewer|effective|should)\b",
    re.IGNORECASE,
)
STATISTICS = re.compile(
    r"\b(?:P|p) ?[=<>≤]|\bCI\b|\bI²|\bSMD\b|\bES\b|\bSD\b|\bMD\b|\bHedges|\bbeta\b|β|τ|\bratio of\b|±", re.UNICODE
)
NUMBER = re.compile(r"\d")

_DECIMAL = re.compile(r"\d+\.\d+")

OUTCOME_KINDS = frozenset({"outcome", "measure"})
CONTEXT = frozenset({Section.INTRODUCTION, Section.BACKGROUND})
UNASKED = CONTEXT | {Section.METHODS}
LONG_SENTENCE_WORDS = 45
SHORT_SENTENCE_WORDS = 8


@dataclass(frozen=True, slots=True)
class Quotable:
    """One or two neighbouring sentences of a passage that stand on their own."""

    text: str
    candidate: Candidate
    score: float
    stems: frozenset[str]
    first: int
    """Its sentences in the passage, `first` to `last`, both included."""
    last: int

    @property
    def study_id(self) -> str:
        return self.candidate.passage.study.study_id

    @property
    def section(self) -> Section:
        return self.candidate.passage.section

    def follows(self, other: Quotable) -> bool:
        """Whether it goes on where the other one ends, in the same passage."""
        return self.candidate is other.candidate and other.first < self.first <= other.last + 1

    def joined(self, other: Quotable) -> Quotable:
        """Both as one quotation, for one that follows the other."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        passage = self.candidate.passage
        text = passage.text[passage.sentences[first].start : passage.sentences[last].end]
        return Quotable(text, self.candidate, max(self.score, other.score), self.stems | other.stems, first, last)

    @property
    def decimals(self) -> frozenset[str]:
        """Its figures with a decimal point: two sentences that share some report one result."""
        return frozenset(_DECIMAL.findall(self.text))


def rank_sentences(evidence: Evidence, policy: Policy) -> tuple[Quotable, ...]:
    """Every sentence that can stand alone, the most direct first; ties by passage and position."""
    weights = dict(policy.sentence.weights)
    asked = Asked.of(evidence)
    quotables = []
    for candidate in _quoted(evidence):
        for first, position, text in _standing_alone(candidate):
            if _is_unasked(candidate, position, text, asked):
                continue
            signals = sentence_signals(text, position, candidate, asked)
            score = sum(weight * signals[name] for name, weight in weights.items())
            score += _suits(text, candidate, evidence, policy)
            quotables.append(Quotable(text, candidate, round(score, 6), stem_set(text), first, position))
    return tuple(sorted(quotables, key=lambda q: (-q.score, q.candidate.passage.passage_id, q.last)))


def _quoted(evidence: Evidence) -> Sequence[Candidate]:
    """Passages of the studies that may be quoted; all of them where none may."""
    cited = [c for c in evidence.passages if evidence.citable is None or c.passage.study.study_id in evidence.citable]
    return cited or evidence.passages


def _is_unasked(candidate: Candidate, position: int, text: str, asked: Asked) -> bool:
    """How something was found and why it was looked for is told only where that is asked, or where nothing comes closer."""
    section = candidate.passage.section
    if asked.wants & UNASKED:
        return section in UNASKED - asked.wants and asked.has_telling
    if not asked.has_telling:
        return False
    if AIM.search(text):
        return True
    cosines = candidate.sentence_cosines
    return section in UNASKED and not (cosines and cosines[position] > asked.closest_telling)


def _standing_alone(candidate: Candidate) -> Iterator[tuple[int, int, str]]:
    """Each sentence with the one before it, where it hangs on that; what hangs even so is left out, and so are orders."""
    passage = candidate.passage
    texts = [passage.text[s.start : s.end] for s in passage.sentences]
    hanging = [_hangs(text) for text in texts]
    for position, sentence in enumerate(passage.sentences):
        first = position
        while first > 0 and hanging[first]:
            first -= 1
        if position - first <= 1 and not hanging[first] and not any(map(gives_orders, texts[first : position + 1])):
            yield first, position, passage.text[passage.sentences[first].start : sentence.end]


@lru_cache(maxsize=8_192)
def _hangs(text: str) -> bool:
    return bool(HANGING.match(text) or ANAPHOR.search(text))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks of every sentence, worked out once."""

    evidence: Evidence
    terms: frozenset[str]
    outcomes: tuple[Concept, ...]
    wants: frozenset[Section]
    wants_figures: bool
    best_score: float
    findings: Mapping[str, Sequence[tuple[frozenset[str], frozenset[str], float]]]
    """Of each study: what a finding says as stems, its decimals, and how much of the question it is about."""
    has_telling: bool
    """Whether any passage says what was found."""
    closest_telling: float
    """Cosine to the question of the closest sentence of those passages; 0.0 without vectors."""

    @staticmethod
    def of(evidence: Evidence) -> Asked:
        understanding, terms = evidence.understanding, frozenset(evidence.understanding.terms)
        telling = [c for c in _quoted(evidence) if c.passage.section not in UNASKED]
        findings: dict[str, list[tuple[frozenset[str], frozenset[str], float]]] = {}
        for finding in evidence.findings:
            findings.setdefault(finding.study_id, []).append((*_said(finding), _about(finding, terms)))
        return Asked(
            evidence=evidence,
            terms=terms,
            outcomes=tuple(concept for concept in understanding.concepts if concept.kind in OUTCOME_KINDS),
            wants=frozenset(understanding.target_sections),
            wants_figures=evidence.question.mode is Mode.INTERMEDIATE or understanding.asks_for_figures,
            best_score=max(c.score for c in evidence.passages) or 1.0,
            findings=findings,
            has_telling=bool(telling),
            closest_telling=max((cosine for c in telling for cosine in c.sentence_cosines), default=0.0),
        )


def sentence_signals(text: str, position: int, candidate: Candidate, asked: Asked) -> dict[str, float]:
    """What speaks for a sentence. All are shares or 0 and 1, but for the cosine.

    cosine     of the question to the sentence
    coverage   share of the question's terms that it holds
    passage    its passage's score over the best one's
    leading    it is of the study that ranks first
    closest    it is its passage's closest to the question
    figures    it holds a number, and the reader or the question wants figures
    finding    how near it comes to a finding that is about what is asked
    outcome    share of the outcomes asked for that it names
    target     it stands in a section that the question aims at
    limits     limits were asked for, and it is one;    methods   the same
    aside      it talks about the literature instead;   claim     it says what was found or advised
    short      it has hardly any content;               context   it introduces
    practical  it is advice;                            others    it is about other people than those asked about
    """
    evidence, study, section = asked.evidence, candidate.passage.study, candidate.passage.section
    own = stem_set(text)
    cosines = candidate.sentence_cosines
    cosine = cosines[position] if cosines else candidate.hit.cosine or 0.0
    return {
        "cosine": cosine,
        "coverage": len(asked.terms & own) / max(1, len(asked.terms)),
        "passage": candidate.score / asked.best_score,
        "leading": float(study.study_id == evidence.passages[0].passage.study.study_id),
        "closest": float(bool(cosines) and cosine == max(cosines)),
        "figures": float(asked.wants_figures and bool(NUMBER.search(text))),
        "finding": _nearest(text, own, asked.findings.get(study.study_id, ())),
        "outcome": sum(names(text, concept) for concept in asked.outcomes) / max(1, len(asked.outcomes)),
        "target": float(section in asked.wants),
        "limits": float(section is Section.LIMITATIONS and section in asked.wants),
        "methods": float(section is Section.METHODS and section in asked.wants),
        "aside": float(Section.LIMITATIONS not in asked.wants and bool(ASIDE.search(text))),
        "claim": float(bool(CLAIM.search(text))),
        "short": float(word_count(text) < SHORT_SENTENCE_WORDS),
        "context": float(section in CONTEXT),
        "practical": float(section is Section.PRACTICAL_APPLICATIONS),
        "others": float(is_about_others(study, evidence.understanding.population)),
    }


def _nearest(text: str, own: frozenset[str], findings: Sequence[tuple[frozenset[str], frozenset[str], float]]) -> float:
    """How much a sentence says the same as a finding on the matter: shared words, and shared figures."""
    figures = frozenset(_DECIMAL.findall(text))
    return max(
        (
            (jaccard(said, own) + 0.25 * min(2, len(figures & decimals))) * about
            for said, decimals, about in findings
            if about
        ),
        default=0.0,
    )


@lru_cache(maxsize=8_192)
def _said(finding: Finding) -> tuple[frozenset[str], frozenset[str]]:
    return stem_set(finding.statement), frozenset(_DECIMAL.findall(finding.statement))


def _about(finding: Finding, terms: frozenset[str]) -> float:
    asked = stem_set(f"{finding.intervention} {finding.comparator} {finding.outcome}")
    return len(terms & asked) / max(1, len(terms))


def is_about_others(study: Study, asked: Population) -> bool:
    """Whether the study's people are plainly not those that the question names."""
    open_ages, open_sexes = {AgeGroup.MIXED, AgeGroup.NOT_REPORTED}, {Sex.BOTH, Sex.NOT_REPORTED}
    other_age = bool(asked.age_groups) and study.age_group not in {*asked.age_groups, *open_ages}
    other_sex = bool(asked.sexes) and study.sex not in {*asked.sexes, *open_sexes}
    return other_age or other_sex


def _suits(text: str, candidate: Candidate, evidence: Evidence, policy: Policy) -> float:
    """What is no sign of a better answer but suits the reader: a beginner gets advice and plain sentences first."""
    value = 0.0
    if evidence.question.mode is Mode.BEGINNER:
        plain = candidate.passage.section in {Section.PRACTICAL_APPLICATIONS, Section.CONCLUSION}
        value += policy.plain_weight * plain
        value -= policy.statistics_weight * min(3, len(STATISTICS.findall(text)))
    if word_count(text) > LONG_SENTENCE_WORDS:
        value -= policy.long_weight
    return value
