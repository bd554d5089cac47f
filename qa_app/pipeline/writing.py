"""Write and verify drafts, one writer after another, until every part has a verified sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qa_app.pipeline import verification
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import NotFound, Policy
from qa_app.pipeline.ports import Writer, WriterFailed
from qa_app.pipeline.records import (
    Attempt,
    Draft,
    Evidence,
    Generator,
    InsufficientEvidence,
    LeftOut,
    Sentence,
)
from qa_app.pipeline.reporting import SentenceReporter

Verified = tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]
"""The result of verifying a draft: accepted sentences, and rejected ones with the reason."""

PARTS = ("summary", "answer")
NOT_FOUND = "not_found"
"""The failure of a writer that found no answer in the passages."""


@dataclass(frozen=True)
class Written:
    """A draft after verification."""

    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    rejected: tuple[LeftOut, ...]
    generator: Generator
    attempts: tuple[Attempt, ...] = ()

    @property
    def is_doubted(self) -> bool:
        """Tell whether a model found no answer in the passages, twice."""
        return not_found_twice(self.attempts)

    def has_parts(self, parts: Sequence[str]) -> bool:
        return all(getattr(self, part) for part in parts)


def not_found_twice(attempts: Sequence[Attempt]) -> bool:
    """Tell whether two attempts found no answer in the passages."""
    return sum(attempt.failure == NOT_FOUND for attempt in attempts) > 1


def write(
    writers: Sequence[Writer], evidence: Evidence, policy: Policy, clock: Clock, parts: Sequence[str] = PARTS
) -> Written:
    """Return the first draft with a verified sentence in each part, else the last draft with any.

    Rejected sentences of earlier attempts are included. A writer whose server failed is not asked a second time. Each
    sentence is reported once it is final. Raises InsufficientEvidence with the attempts when no sentence could be
    verified, or a model found no answer twice and the policy then refuses.
    """
    reporter = SentenceReporter(evidence, clock.progress)
    attempts: list[Attempt] = []
    rejected: list[LeftOut] = []
    given_up: set[str] = set()
    reason = message = ""
    last: Written | None = None
    for writer in writers:
        if writer.name in given_up:
            continue
        before = tuple(rejected)
        try:
            last = _attempt(writer, evidence, policy, clock, reporter, is_last=writer is writers[-1])
        except WriterFailed as failure:
            failed = failure.generator or Generator(writer.name, "")
            attempts.append(Attempt(failed, Draft(received=failure.received), failure.reason))
            reason, message = reason or failure.reason, str(failure)
            if policy.not_found is NotFound.REFUSE and not_found_twice(attempts):
                raise InsufficientEvidence(message, tuple(attempts)) from failure
            if failure.is_final:
                given_up.add(writer.name)
            continue
        attempts += last.attempts
        rejected += [entry for entry in last.rejected if entry not in before]  # two attempts may fail alike
        if last.has_parts(parts):
            break
        reason = reason or "unverified"
    if last is None or not (last.summary or last.answer):
        raise InsufficientEvidence(message or "No sentence of the draft could be verified.", tuple(attempts))
    reporter.report(last.summary, last.answer)
    return replace(
        last,
        rejected=tuple(rejected),
        generator=_generator(last.generator, attempts, reason),
        attempts=tuple(attempts),
    )


def _attempt(
    writer: Writer, evidence: Evidence, policy: Policy, clock: Clock, reporter: SentenceReporter, *, is_last: bool
) -> Written:
    with clock("answer"):
        draft, generator = writer.write(evidence, policy)
    clock.spent |= draft.timings_ms
    summary: list[Verified] = []
    answer: list[Verified] = []
    with clock("verify"):
        for results_of_part, drafted in ((summary, draft.summary), (answer, draft.answer)):
            for sentence in drafted:
                results_of_part.append(verification.verify([sentence], evidence, policy=policy))
                short, long = _distinct_sentences(summary), _distinct_sentences(answer)
                if is_last or (short and long):  # no later attempt can replace the draft
                    reporter.report(short, long)
    results = [*summary, *answer]
    return Written(
        summary=_distinct_sentences(summary),
        answer=_distinct_sentences(answer),
        rejected=(*draft.dropped, *(entry for _, left_out in results for entry in left_out)),
        generator=generator,
        attempts=(Attempt(generator, draft, verdicts=tuple(_verdict(*result) for result in results)),),
    )


def _distinct_sentences(results: Iterable[Verified]) -> tuple[Sentence, ...]:
    """Return the accepted sentences, each text once: a quotation may replace a paraphrase and occur twice."""
    first: dict[str, Sentence] = {}
    for sentence in (sentence for accepted, _ in results for sentence in accepted):
        first.setdefault(sentence.text, sentence)
    return tuple(first.values())


def _verdict(accepted: tuple[Sentence, ...], rejected: tuple[LeftOut, ...]) -> str:
    return accepted[0].verdict.value if accepted else rejected[0].reason.value


def with_costs(generator: Generator, attempts: Sequence[Attempt]) -> Generator:
    """Return the generator with tokens and cost of all attempts."""
    tokens = [attempt.generator.tokens for attempt in attempts if attempt.generator.tokens is not None]
    costs = [attempt.generator.cost for attempt in attempts if attempt.generator.cost is not None]
    return replace(generator, tokens=sum(tokens) if tokens else None, cost=round(sum(costs), 6) if costs else None)


def _generator(wrote: Generator, attempts: Sequence[Attempt], reason: str) -> Generator:
    """Return the writer with the costs of all attempts, and after a fallback the first writer and its failure."""
    wrote, first = with_costs(wrote, attempts), attempts[0].generator.name
    return wrote if wrote.name == first else replace(wrote, fallback_from=first, fallback_reason=reason)
