"""Which sentences are quoted: the best that fit, none that repeats another, and of other studies only what is on the matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from corpus_app.records import Concept, Direction
from qa_app.pipeline.generation.sentences import Quotable, compared, measured, treatment
from qa_app.pipeline.naming import names
from qa_app.pipeline.orders import gives_orders
from qa_app.pipeline.policy import Policy
from qa_app.pipeline.records import TELLING, Finding
from qa_app.pipeline.text import jaccard, stem_set, word_count
from qa_app.pipeline.wording import Sound, announces, is_null, takes_back

REPEATED = 0.6  # token overlap from which two sentences say the same
REPEATED_WITHIN_STUDY = 0.45  # and of one study
HELD_WITHIN_STUDY = 0.7  # share of the words of the shorter one that the longer holds, without a figure of its own
LONGEST = 2  # chosen sentences that are quoted as one; more of a passage follow as a quotation of their own
TAKEN_BACK_WITHIN = 2  # sentences after a quotation, of which one may take it back
SHORT_GAP = 1  # sentences between two quotations of a passage that are told with them: without those the second says something else
SHORT_REST = 2  # sentences of the opening's passage that are told with it, whatever their chance
CLEAR = frozenset(
    {
        Direction.INCREASE,
        Direction.DECREASE,
        Direction.NO_DIFFERENCE,
        Direction.FAVOURS_INTERVENTION,
        Direction.FAVOURS_COMPARATOR,
    }
)
NAMED_OF_TREATMENT = 2  # words of what was tried that a sentence holds which tells what came of it
SAME_COMPARISON = 0.6  # token overlap from which two findings are of one comparison
SHARED_FIGURES = 2  # decimals in common from which two sentences of one study report one result


@dataclass(frozen=True, slots=True)
class Limits:
    """What may be picked: sentences, words, sentences of the leading study and of another; and from how many words on they have to be
    needed more.
    """

    most: int
    words: int
    per_study: int
    per_other: int
    long_from: int

    def is_full(self, study_id: str, chosen: Sequence[Quotable], leading: str) -> bool:
        most = self.per_study if study_id == leading else self.per_other
        return sum(q.study_id == study_id for q in chosen) >= most


def pick(
    ranked: Sequence[Quotable],
    limits: Limits,
    policy: Policy,
    *,
    opening: Quotable,
    wanted: Sequence[Concept] = (),
    outcomes: Sequence[Concept] = (),
    findings: Sequence[Finding] = (),
) -> tuple[Quotable, ...]:
    """The opening, then what a short answer most likely needs, one after another; a repeated one is passed over.

    A sentence beside a chosen one gains, one of a study that has been quoted loses for each of its sentences. One that hangs on a
    chosen one is added to that. What is hardly needed is left out, but for what makes up a summary; where no sentence is needed much,
    as of studies whose findings nobody has recorded yet, less will do. Where the opening gives the number asked for, or the limits or
    methods, what gives none has to be needed more, as has the first sentence of another study that does not name the rarest concept of
    the question where the opening does, or is not of the people asked about alone where the opening's study is; where people are
    asked about who do not train, or a variable of training is only held equal, another study tells nothing of those who do, nor of that; and so has everything, the longer the answer is already, but for what is only heard,
    for what is `wanted`, the outcomes asked about and what no study is about, and nothing else names, for what a quoted study did not find of the
    `outcomes` on which all that is told is an effect, and for what came out otherwise: of `findings`, what the same comparison of a
    quoted study showed of another outcome.
    """
    scale = (
        min(1.0, policy.needed_share * max(q.chance for q in ranked) / policy.needed_from)
        if policy.needed_from
        else 1.0
    )
    opening = with_its_rest(with_what_takes_back(opening))
    chosen: list[Quotable] = [opening]
    waiting = [q for q in ranked if q.goes_on(opening) or not (is_same(q, opening) or q.leads_to(opening))]
    words = limits.words - word_count(opening.text)

    def place_and_words(quotable: Quotable) -> tuple[int | None, int]:
        """Which of the chosen it goes on from, if it does, and the words that it adds."""
        place = next((i for i, q in enumerate(chosen) if quotable.goes_on(q)), None)
        return place, word_count(quotable.text) - (word_count(chosen[place].text) if place is not None else 0)

    def belongs(quotable: Quotable) -> bool:
        is_another = quotable.study_id not in {q.study_id for q in chosen}
        if quotable.is_nameless and is_another:
            return False  # "the authors" would seem to be those of the study quoted before
        _, more = place_and_words(quotable)
        beyond = max(0, limits.words - words + more - limits.long_from)
        chance = quotable.chance - scale * policy.long_rise * beyond
        if is_another and (quotable.is_of_training or quotable.is_of_equal):
            return False
        if opening.serves and quotable.serves is False and quotable.candidate is not opening.candidate:
            return chance >= policy.besides_from
        is_wider = opening.is_of_them and quotable.is_of_many
        if is_another and (is_wider or (opening.is_on_subject and not quotable.is_on_subject)):
            return chance >= scale * policy.besides_from
        if chance >= scale * policy.needed_from:
            return True
        is_short = sum(q.length for q in chosen) < policy.summary_sentences_least
        return chance >= scale * policy.fills_from and (is_short or _goes_with(quotable, chosen, policy))

    def worth(quotable: Quotable) -> float:
        told = sum(other.study_id == quotable.study_id for other in chosen)
        return (
            quotable.needed + policy.neighbour_gain * _goes_with(quotable, chosen, policy) - policy.told_weight * told
        )

    waiting = [with_what_takes_back(q) for q in waiting]
    while waiting:
        best = max(filter(belongs, waiting), key=worth, default=None)
        if best is None:
            break
        waiting.remove(best)
        place, more = place_and_words(best)
        if more > words or (place is None and len(chosen) >= limits.most):
            continue
        words -= more
        if place is None:
            chosen.append(best)
        else:
            best = chosen[place] = replace(chosen[place].joined(best), parts=chosen[place].parts)
        full = {q.study_id for q in chosen if limits.is_full(q.study_id, chosen, opening.study_id)}
        waiting = [q for q in waiting if any(map(q.goes_on, chosen)) or not (q.study_id in full or is_same(q, best))]
    unnamed = _of_unnamed(ranked, chosen, wanted, scale * policy.heard_from)
    further = (
        *unnamed,
        *_of_none_found(ranked, (*chosen, *unnamed), outcomes, scale * policy.heard_from),
        *_of_other_outcomes(ranked, chosen, findings, scale * policy.heard_from),
        *_of_unheard(ranked, chosen, scale * policy.heard_from, policy),
    )
    for quotable in further:
        is_told = any(quotable.text in other.text for other in chosen)
        if not is_told and (more := word_count(quotable.text)) <= words and len(chosen) < limits.most:
            words -= more
            chosen.append(quotable)
    return tuple(chosen)


def _of_unheard(
    ranked: Sequence[Quotable], chosen: Sequence[Quotable], chance_from: float, policy: Policy
) -> tuple[Quotable, ...]:
    """Of each study that most likely bears on the question and is not quoted yet, what it found or advises, if it is needed at all.

    The likeliest study first. Nothing that says again what is told, and no study of which only limits or methods are at hand. Where
    nothing chosen is of the very people asked about, any study of those that may be quoted is heard.
    """
    heard = {q.study_id for q in chosen}
    are_unheard = not any(q.is_of_them for q in chosen)
    says: dict[str, Quotable] = {}
    for quotable in ranked:
        is_of_them = are_unheard and quotable.is_of_them
        is_fit = (quotable.is_on_subject or is_of_them) and _tells(quotable, chance_from)
        is_asked = not (chosen[0].serves and quotable.serves is False)
        if (
            quotable.study_id in heard
            or (quotable.bears < policy.heard_bears_from and not is_of_them)
            or not (is_fit and is_asked)
            or quotable.is_of_training
            or quotable.is_of_equal
            or (chosen[0].is_of_them and quotable.is_of_many)
            or any(is_same(quotable, other) for other in chosen)
        ):
            continue
        best = says.get(quotable.study_id)
        if best is None or quotable.opening > best.opening:
            says[quotable.study_id] = quotable
    return tuple(
        replace(with_what_takes_back(q), is_further=True) for q in sorted(says.values(), key=lambda q: -q.bears)
    )


def _of_unnamed(
    ranked: Sequence[Quotable], chosen: Sequence[Quotable], wanted: Sequence[Concept], chance_from: float
) -> tuple[Quotable, ...]:
    """Of each that nothing chosen names, what a quoted study says of it: the one that opens the answer, if it does. Where that study alone
    is quoted, nobody need be named again.
    """
    says: list[Quotable] = []
    quoted = {q.study_id for q in chosen}
    for concept in wanted:
        if any(names(q.text, concept) for q in (*chosen, *says)):
            continue
        fit = [
            q
            for q in ranked
            if q.study_id in quoted
            and names(q.text, concept)
            and _tells(q, chance_from, is_alone=len(quoted) == 1)
            and _is_new(q, (*chosen, *says))
        ]
        if fit:
            best = max(fit, key=lambda q: (q.study_id == chosen[0].study_id, q.needed))
            says.append(replace(_with_more(best, chosen), is_further=best.study_id != chosen[0].study_id))
    return tuple(says)


def _of_none_found(
    ranked: Sequence[Quotable], chosen: Sequence[Quotable], outcomes: Sequence[Concept], chance_from: float
) -> tuple[Quotable, ...]:
    """Of each outcome on which all that is told is an effect, what a quoted study says of it where it found none, or none surely."""
    says: list[Quotable] = []
    quoted = {q.study_id for q in chosen}
    for outcome in outcomes:
        told = [q for q in (*chosen, *says) if names(q.text, outcome)]
        if not told or any(_finds_none(q, outcome) for q in told):
            continue
        fit = [
            q
            for q in ranked
            if q.study_id in quoted
            and _finds_none(q, outcome)
            and _tells(q, chance_from, is_alone=len(quoted) == 1)
            and _is_new(q, (*chosen, *says))
        ]
        if fit:
            best = max(fit, key=lambda q: q.needed)
            says.append(replace(_with_more(best, chosen), is_further=best.study_id != chosen[0].study_id))
    return tuple(says)


def _finds_none(quotable: Quotable, outcome: Concept) -> bool:
    """Whether one of its sentences says of this outcome that nothing was found, or not surely: where it says several things, in the
    same of them.
    """
    texts = _texts(quotable, quotable.first, quotable.last + 1)
    return any(is_null(part) and names(part, outcome) for text in texts for part in _SAID_APART.split(text))


_SAID_APART = re.compile(r"[;,]\s+(?=(?:and|but|while|whereas|although|though|yet)\b)|;|\b(?:but|while|whereas)\b")


def _with_more(quotable: Quotable, chosen: Sequence[Quotable]) -> Quotable:
    """With what takes it back, unless a chosen one tells that already."""
    longer = with_what_takes_back(quotable)
    return quotable if any(_overlaps(longer, other) for other in chosen) else longer


def _is_new(quotable: Quotable, told: Sequence[Quotable]) -> bool:
    return not any(is_same(quotable, other) or _overlaps(quotable, other) for other in told)


def _overlaps(quotable: Quotable, other: Quotable) -> bool:
    return quotable.candidate is other.candidate and quotable.first <= other.last and other.first <= quotable.last


def _tells(quotable: Quotable, chance_from: float, *, is_alone: bool = False) -> bool:
    """Whether it says what was found or advised, and is needed if only a little; where its study `is_alone`, also without a name."""
    is_fit = quotable.section in TELLING and not quotable.is_aside and (is_alone or not quotable.is_nameless)
    return is_fit and quotable.chance >= chance_from


def _of_other_outcomes(
    ranked: Sequence[Quotable], chosen: Sequence[Quotable], findings: Sequence[Finding], chance_from: float
) -> tuple[Quotable, ...]:
    """Of each quoted study what it says of an outcome on which it found an effect, where of another one it found none, or the
    other way round, and only the other one is told: half of a result would look like all of it.
    """
    says: list[Quotable] = []
    for study_id in dict.fromkeys(q.study_id for q in chosen):
        told = frozenset().union(*(q.stems for q in chosen if q.study_id == study_id))
        for silent, words in _untold([f for f in findings if f.study_id == study_id], told):
            fit = [
                q
                for q in ranked
                if q.study_id == study_id
                and words <= q.stems
                and _names_treatment(q, silent)
                and _tells(q, chance_from)
                and _is_new(q, chosen)
            ]
            if fit:
                says.append(_with_more(max(fit, key=lambda q: q.needed), chosen))
                break
    return tuple(says)


def _untold(own: Sequence[Finding], told: frozenset[str]) -> Iterator[tuple[Finding, frozenset[str]]]:
    """Of a study's findings those that came out otherwise than one whose outcome is told, each with the words that its outcome
    has and that one has not.
    """
    for finding in own:
        for other in own:
            words, others = measured(finding) - measured(other), measured(other) - measured(finding)
            if _came_out_otherwise(finding, other) and others & told and not words <= told:
                yield finding, words
                break


def _names_treatment(quotable: Quotable, finding: Finding) -> bool:
    """Whether it holds two words of what was tried, or the one there is."""
    tried = treatment(finding)
    return len(tried & quotable.stems) >= min(NAMED_OF_TREATMENT, len(tried))


def _came_out_otherwise(finding: Finding, other: Finding) -> bool:
    """Whether one of two findings of the same comparison is of an effect, and the other one of none."""
    if not CLEAR.issuperset((finding.direction, other.direction)):
        return False
    is_other = (finding.direction is Direction.NO_DIFFERENCE) != (other.direction is Direction.NO_DIFFERENCE)
    return is_other and jaccard(compared(finding), compared(other)) >= SAME_COMPARISON


def _goes_with(quotable: Quotable, chosen: Sequence[Quotable], policy: Policy) -> bool:
    """Whether it goes on from a chosen one, or leads to it, and is not far below that: what it speaks of stands there."""
    return not quotable.is_aside and any(
        quotable.needed >= other.needed - policy.neighbour_within
        for other in chosen
        if quotable.is_beside(other) or quotable.goes_on(other)
    )


def joined(chosen: Sequence[Quotable], *, opening: Quotable) -> tuple[Quotable, ...]:
    """Those that stand side by side in their passage as one, at the place of the better one; nothing comes before the opening."""
    result: list[Quotable] = []
    for quotable in chosen:
        is_before = quotable.candidate is opening.candidate and quotable.first < opening.first
        place = None if is_before else next((i for i, q in enumerate(result) if _may_join(quotable, q)), None)
        if place is None:
            result.append(quotable)
        else:
            result[place] = result[place].joined(quotable)
    return tuple(result)


def with_what_takes_back(quotable: Quotable) -> Quotable:
    """The quotation with what takes back or narrows it in the next two sentences of its passage.

    One that found something is quoted with those right before and right after it that did not, of anything that the question names,
    and one that announces a difference with the sentence that tells it.
    """
    passage = quotable.candidate.passage
    after = _texts(quotable, quotable.last + 1, quotable.last + 2)
    if announces(*_texts(quotable, quotable.last, quotable.last + 1)) and not any(map(gives_orders, after)):
        quotable = _longer(quotable, quotable.last + len(after))
    longest = quotable.last
    is_open = not is_null(quotable.text)
    doubts = quotable.doubts if is_open else frozenset()
    before = _texts(quotable, max(0, quotable.first - 1), quotable.first)
    if quotable.first - 1 in doubts and not any(map(gives_orders, before)):
        quotable = _earlier(quotable)
    for last in range(quotable.last + 1, min(quotable.last + TAKEN_BACK_WITHIN, len(passage.sentences) - 1) + 1):
        sentence = passage.sentences[last]
        text = passage.text[sentence.start : sentence.end]
        if gives_orders(text):
            break
        is_next = last == quotable.last + 1
        if takes_back(text) or (last in doubts and (is_next or _is_of_some(last, quotable))):
            longest = last
    return _longer(quotable, longest)


def with_what_is_asked(chosen: Sequence[Quotable], asked: frozenset[str]) -> tuple[Quotable, ...]:
    """Each quotation with the next sentence of its passage, where that holds a stem of those `asked` that nothing quoted holds; not talk
    about the literature, nor how sure a figure is. What so stands in a longer one is told there alone.
    """
    result: list[Quotable] = []
    missing = asked - frozenset().union(*(stem_set(quotable.text) for quotable in chosen))
    for quotable in chosen:
        after = _texts(quotable, quotable.last + 1, quotable.last + 2)
        held = missing & stem_set(" ".join(after))
        if held and not any(gives_orders(text) or _tells_nothing(text) for text in after):
            quotable = _longer(quotable, quotable.last + 1)
            missing -= held
        result.append(quotable)
    return tuple(q for q in result if not any(q is not other and q.text in other.text for other in result))


def _tells_nothing(text: str) -> bool:
    sound = Sound.of(text)
    return sound.is_aside or sound.is_aim or sound.is_minutiae


def _is_of_some(place: int, quotable: Quotable) -> bool:
    """Whether a sentence tells of the people asked about what came out, and the quotation does not speak of them."""
    own = range(quotable.first, quotable.last + 1)
    is_general = quotable.of_asked_people.isdisjoint(own)
    return is_general and place in quotable.of_asked_people and quotable.section in TELLING


def with_its_rest(quotable: Quotable) -> Quotable:
    """The quotation to the end of its passage, where that is near: readers miss what was cut off there more than they mind reading it.

    It stops before what tells nothing: talk about the literature, and how sure a figure is.
    """
    passage, last = quotable.candidate.passage, quotable.last
    if len(passage.sentences) - 1 - last > SHORT_REST:
        return quotable
    for sentence in passage.sentences[last + 1 :]:
        text = passage.text[sentence.start : sentence.end]
        if gives_orders(text) or _tells_nothing(text):
            break
        last += 1
    return _longer(quotable, last)


def _longer(quotable: Quotable, last: int) -> Quotable:
    """The quotation up to this sentence of its passage."""
    if last == quotable.last:
        return quotable
    passage = quotable.candidate.passage
    first, added, end = passage.sentences[quotable.first], passage.sentences[quotable.last + 1], passage.sentences[last]
    stems = quotable.stems | stem_set(passage.text[added.start : end.end])
    return replace(quotable, text=passage.text[first.start : end.end], last=last, stems=stems)


def _earlier(quotable: Quotable) -> Quotable:
    """The quotation from the sentence before it on."""
    passage, first = quotable.candidate.passage, quotable.first - 1
    start, end = passage.sentences[first].start, passage.sentences[quotable.last].end
    text = passage.text[start:end]
    return replace(quotable, text=text, first=first, stems=quotable.stems | stem_set(text))


def with_gaps_filled(chosen: Sequence[Quotable]) -> tuple[Quotable, ...]:
    """Those between which little of their passage is left out as one, at the place of the first of them."""
    result: list[Quotable] = []
    for quotable in chosen:
        place = next((i for i, q in enumerate(result) if _is_near(quotable, q)), None)
        if place is None:
            result.append(quotable)
        else:
            result[place] = result[place].joined(quotable)
    return tuple(result)


def _is_near(quotable: Quotable, other: Quotable) -> bool:
    if quotable.candidate is not other.candidate:
        return False
    before, after = sorted((quotable, other), key=lambda q: q.first)
    left_out = _texts_between(before, after)
    return 0 < len(left_out) <= SHORT_GAP and not any(map(gives_orders, left_out))


def _texts_between(before: Quotable, after: Quotable) -> list[str]:
    return _texts(before, before.last + 1, after.first)


def _texts(quotable: Quotable, first: int, end: int) -> list[str]:
    """Sentences of its passage."""
    passage = quotable.candidate.passage
    return [passage.text[s.start : s.end] for s in passage.sentences[first:end]]


def _may_join(quotable: Quotable, other: Quotable) -> bool:
    return quotable.is_beside(other) and quotable.parts + other.parts <= LONGEST


def is_same(first: Quotable, second: Quotable) -> bool:
    """Whether two sentences say the same: words within words, mostly the same words, or the same figures of one study."""
    if first.text in second.text or second.text in first.text:
        return True
    alike = jaccard(first.stems, second.stems)
    if first.study_id != second.study_id:
        return alike >= REPEATED
    if alike >= REPEATED_WITHIN_STUDY or len(first.decimals & second.decimals) >= SHARED_FIGURES:
        return True
    short, long = sorted((first, second), key=lambda q: len(q.stems))
    return not short.decimals and len(short.stems & long.stems) >= HELD_WITHIN_STUDY * len(short.stems)
