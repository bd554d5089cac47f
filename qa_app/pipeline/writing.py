"""Writing: one draft after another, until one of them holds. What every attempt gave, and what became of it, is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from qa_app.pipeline import verification
from qa_app.pipeline.clock import Clock
from qa_app.pipeline.policy import Policy
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
from qa_app.pipeline.telling import Telling

Judgement = tuple[tuple[Sentence, ...], tuple[LeftOut, ...]]
"""What became of a drafted sentence: kept, or left out."""

PARTS = ("summary", "answer")


@dataclass(frozen=True)
class Written:
    """A draft after verification."""

    summary: tuple[Sentence, ...]
    answer: tuple[Sentence, ...]
    fallen: tuple[LeftOut, ...]
    generator: Generator
    attempts: tuple[Attempt, ...] = ()

    def holds(self, parts: Sequence[str]) -> bool:
        return all(getattr(self, part) for part in parts)


class NothingWritten(InsufficientEvidence):
    """No writer gave a sentence that holds; `attempts` say why."""

    def __init__(self, message: str, attempts: tuple[Attempt, ...]) -> None:
        super().__init__(message)
        self.attempts = attempts


def write(
    writers: Sequence[Writer], evidence: Evidence, policy: Policy, clock: Clock, parts: Sequence[str] = PARTS
) -> Written:
    """What the first writer gave whose parts, summary and answer, hold all; what fell on the way stays with it.

    A writer whose server failed is not asked a second time. Whoever watches is told of each sentence as soon as nothing can
    take it back. Raises NothingWritten.
    """
    telling = Telling(evidence, clock.progress)
    attempts: list[Attempt] = []
    fallen: list[LeftOut] = []
    given_up: set[str] = set()
    reason = message = ""
    last: Written | None = None
    for writer in writers:
        if writer.name in given_up:
            continue
        before = tuple(fallen)
        try:
            last = _attempt(writer, evidence, policy, clock, telling, is_last=writer is writers[-1])
        except WriterFailed as failure:
            failed = failure.generator or Generator(writer.name, "")
            attempts.append(Attempt(failed, Draft(received=failure.received), failure.reason))
            reason, message = reason or failure.reason, str(failure)
            if failure.is_final:
                given_up.add(writer.name)
            continue
        attempts += last.attempts
        fallen += [entry for entry in last.fallen if entry not in before]  # an attempt may fail as the one before it
        if last.holds(parts):
            break
        reason = reason or "unverified"
    if last is None or not (last.summary or last.answer):
        raise NothingWritten(message or "No sentence of the draft could be verified.", tuple(attempts))
    telling.tell(last.summary, last.answer)
    return replace(
        last,
        fallen=tuple(fallen),
        generator=_generator(last.generator, attempts, reason),
        attempts=tuple(attempts),
    )


def _attempt(
    writer: Writer, evidence: Evidence, policy: Policy, clock: Clock, telling: Telling, *, is_last: bool
) -> Written:
    with clock("answer"):
        draft, generator = writer.write(evidence, policy)
    clock.spent |= draft.timings_ms
    summary: list[Judgement] = []
    answer: list[Judgement] = []
    with clock("verify"):
        for verdicts, drafted in ((summary, draft.summary), (answer, draft.answer)):
            for sentence in drafted:
                verdicts.append(verification.verify([sentence], evidence, policy=policy))
                short, long = _kept(summary), _kept(answer)
                if is_last or (short and long):  # the draft holds, or nobody writes after it
                    telling.tell(short, long)
    judged = [*summary, *answer]
    return Written(
        summary=_kept(summary),
        answer=_kept(answer),
        fallen=(*draft.dropped, *(entry for _, fallen in judged for entry in fallen)),
        generator=generator,
        attempts=(Attempt(generator, draft, verdicts=tuple(_verdict(*result) for result in judged)),),
    )


def _kept(judged: Iterable[Judgement]) -> tuple[Sentence, ...]:
    """Each text once: a quote may have taken the place of a paraphrase that stands beside it."""
    first: dict[str, Sentence] = {}
    for sentence in (sentence for kept, _ in judged for sentence in kept):
        first.setdefault(sentence.text, sentence)
    return tuple(first.values())


def _verdict(kept: tuple[Sentence, ...], fallen: tuple[LeftOut, ...]) -> str:
    return kept[0].verdict.value if kept else fallen[0].reason.value


def _generator(wrote: Generator, attempts: Sequence[Attempt], reason: str) -> Generator:
    """Who wrote, with what all attempts together took; who was to write, if it was another, and why it did not."""
    tokens = [attempt.generator.tokens for attempt in attempts if attempt.generator.tokens is not None]
    costs = [attempt.generator.cost for attempt in attempts if attempt.generator.cost is not None]
    wrote = replace(wrote, tokens=sum(tokens) if tokens else None, cost=round(sum(costs), 6) if costs else None)
    first = attempts[0].generator.name
    return wrote if wrote.name == first else replace(wrote, fallback_from=first, fallback_reason=reason)
