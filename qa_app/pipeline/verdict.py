"""Derive the verdict of a headline from the intent and polarity of the question and the lean of the finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from corpus_app.records import Direction, Finding, Lean, Wanted
from qa_app.pipeline.agreement import FindingConcepts
from qa_app.pipeline.lexicon import PhraseIndex, words_of
from qa_app.pipeline.query import Intent
from qa_app.pipeline.records import HeadlineVerdict
from qa_app.pipeline.text import content_stems


class PolarityKind(StrEnum):
    """The statement that a yes to a question makes, in the order in which the word lists are tried."""

    EQUAL = "equal"
    BETTER_THAN = "better_than"
    HARMS = "harms"
    HELPS = "helps"
    POSSIBLE = "possible"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Polarity:
    """The statement that a yes to a question makes, and whether the wording is unambiguous."""

    kind: PolarityKind
    is_certain: bool
    is_choice: bool = False
    """Whether the question sets options against each other."""
    options: tuple[str, str] = ("", "")
    """What is said to be better or equal, and than or as what; empty where the question does not say."""


COMPARING = frozenset({PolarityKind.EQUAL, PolarityKind.BETTER_THAN})
_FIXED = {
    Intent.HOW_MANY: HeadlineVerdict.NUMBER,
    Intent.WHY: HeadlineVerdict.EXPLANATION,
    Intent.LIST: HeadlineVerdict.LIST,
    Intent.HOW: HeadlineVerdict.EXPLANATION,
}
_WITHOUT_CHOICE = {Intent.WHICH: HeadlineVerdict.LIST, Intent.WHAT: HeadlineVerdict.EXPLANATION}
LANGUAGE_POLARITY = PhraseIndex.of_language("polarity")


def read_polarity(ask: str, intent: Intent, phrases: PhraseIndex = LANGUAGE_POLARITY) -> Polarity:
    """Return the statement that a yes to the ask makes.

    The polarity is certain only for one yes-or-no question with one kind of cue and no negation, limit or choice in it.
    """
    words = words_of(ask)
    spans = phrases.find(words)
    kinds = [kind for kind in PolarityKind if kind in spans]
    if not kinds:
        return Polarity(PolarityKind.NONE, False, "choice" in spans)
    is_single = PolarityKind.HARMS not in kinds or kinds == [PolarityKind.HARMS]
    is_single = is_single and not set(kinds) >= COMPARING
    is_plain = not spans.keys() & {"negated", "choice", "several"}
    options = _options(words, spans[kinds[0]], spans.get("than", ())) if kinds[0] in COMPARING else ("", "")
    is_certain = intent is Intent.YES_NO and is_single and is_plain and ask.count("?") <= 1
    return Polarity(kinds[0], is_certain, kinds[0] in COMPARING or "choice" in spans, options)


def verdict(
    intent: Intent, polarity: Polarity, finding: Finding, *, wanted: Wanted, is_on_topic: bool, is_whole: bool
) -> HeadlineVerdict | None:
    """Return the verdict for a headline made of the finding's plain sentence.

    `wanted` belongs to the finding's outcome. `is_on_topic` says whether the question names the finding's concepts (see
    `names_matter`), `is_whole` whether the answer covers the whole question and the studies agree. None where a yes or
    no is not certain.
    """
    if fixed := _FIXED.get(intent):
        return fixed
    if not polarity.is_choice and (fixed := _WITHOUT_CHOICE.get(intent)):
        return fixed
    if finding.lean is None:
        return None
    if finding.lean is Lean.NO_CLEAR_DIFFERENCE:
        return HeadlineVerdict.NO_CLEAR_DIFFERENCE
    if not is_whole or finding.lean in {Lean.MIXED, Lean.UNCLEAR}:
        return HeadlineVerdict.DEPENDS
    if not (polarity.is_certain and is_on_topic):
        return None
    is_true = _is_true(polarity, finding, wanted)
    return None if is_true is None else HeadlineVerdict.YES if is_true else HeadlineVerdict.NO


def names_matter(asked: frozenset[str], concepts: FindingConcepts) -> bool:
    """Tell whether the concepts a question names hold the finding's whole intervention and one of its outcomes."""
    return concepts.is_mapped and concepts.intervention <= asked and bool(concepts.outcome & asked)


def _is_true(polarity: Polarity, finding: Finding, wanted: Wanted) -> bool | None:
    """Tell whether a yes is true by a finding that leans to yes or no; None where it does not follow."""
    leans_yes = finding.lean is Lean.YES
    match polarity.kind:
        case PolarityKind.EQUAL:
            return False if _is_first_intervention(polarity.options, finding) is not None else None
        case PolarityKind.BETTER_THAN:
            is_first = _is_first_intervention(polarity.options, finding)
            return None if is_first is None else is_first is leans_yes
        case PolarityKind.HELPS:
            return leans_yes if _is_benefit(finding, wanted) is not (not leans_yes) else None
        case PolarityKind.HARMS:
            is_benefit = _is_benefit(finding, wanted)
            return None if is_benefit is None else not is_benefit
        case _:
            return True if leans_yes else None


def _is_benefit(finding: Finding, wanted: Wanted) -> bool | None:
    """Tell whether the intervention did good; None for a rise or fall that is neither good nor bad."""
    if finding.direction in {Direction.FAVOURS_INTERVENTION, Direction.FAVOURS_COMPARATOR}:
        return finding.direction is Direction.FAVOURS_INTERVENTION
    if wanted is Wanted.NEITHER or finding.direction not in {Direction.INCREASE, Direction.DECREASE}:
        return None
    return (finding.direction is Direction.INCREASE) is (wanted is Wanted.MORE)


def _is_first_intervention(options: tuple[str, str], finding: Finding) -> bool | None:
    """Tell whether the first option is the finding's intervention and the second its comparator.

    False where they are the other way round; None where neither is clear.
    """
    first, second = (set(content_stems(option)) for option in options)
    done, compared = set(content_stems(finding.intervention)), set(content_stems(finding.comparator))
    done, compared = done - compared, compared - done
    straight, swapped = (first & done, second & compared), (first & compared, second & done)
    if all(straight) and not any(swapped):
        return True
    return False if all(swapped) and not any(straight) else None


def _options(
    words: Sequence[str], cues: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]]
) -> tuple[str, str]:
    """Return the words before the cue, and those after the word that links the second option."""
    start, end = cues[0]
    link = next((last for first, last in links if first >= start), end)
    return " ".join(words[:start]), " ".join(words[link:])
