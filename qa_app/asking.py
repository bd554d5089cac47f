"""The door for questions: ask one, or read an answer again beside the present corpus."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import IntegrityError, connection
from django.utils import timezone
from django.utils.translation import gettext_noop as N_

from corpus_app import search
from corpus_app.records import Notice, PassageState, Status, StudyState
from qa_app import answering, contexts, engines, evaluation, finding, storing, workings
from qa_app.backends.rationed import Allowance, ModelQuotaUsedUp
from qa_app.backends.time_limit import limited
from qa_app.contexts import ExpiredContext, Opened, UnknownContext, WrittenPart
from qa_app.evaluation import BadGolden
from qa_app.evaluation import worse as worse_than
from qa_app.examples import shown as fitting_examples
from qa_app.models import Answer, Feedback, question_key
from qa_app.payload import Payload, in_contract_order
from qa_app.pipeline.citations import with_markers
from qa_app.pipeline.policy import BadPolicy, Policy
from qa_app.pipeline.policy import named as named_policy
from qa_app.pipeline.policy import read as read_policy
from qa_app.pipeline.ports import OutOfTime
from qa_app.pipeline.question import follow_up
from qa_app.pipeline.records import InsufficientEvidence, Mode, Outcome, Question
from qa_app.pipeline.text import clean
from qa_app.renewing import Changes, changes_between

LONGEST_QUESTION = 2_000  # characters
LONGEST_FEEDBACK = 1_000
MOST_FEEDBACK = 50  # of an answer in a day, from new browsers
MOST_PASSAGES = 12  # of evidence that a question may be answered from, and their studies
MOST_STUDIES = 12
MOST_STEPS_BACK = 5  # of follow-ups that named nothing and found no answer
MOST_FOUND = 50  # passages of a search: what fusion hands on
WRITERS = ("auto", "extractive", "llm")
STANCES = ("favours", "no_difference", "against", "unclear")
WITHDRAWN = "A source was withdrawn."
NAMELESS: Payload = {
    "title": WITHDRAWN, "authors": [], "year": None, "journal": None, "doi": None, "url": None, "population": "",
}  # fmt: skip
__all__ = [
    "Allowance", "BadFeedback", "BadGolden", "BadInput", "BadPolicy", "BadQuestion", "ExpiredContext", "InsufficientEvidence", "ModelQuotaUsedUp", "OutOfTime", "UnknownContext", "ask", "ask_again", "beside_present_corpus", "check", "evaluate_golden", "examples", "feedback_reasons", "find_answer", "find_changes", "find_feedback", "find_passages", "front_page", "give_feedback", "how_it_works", "offered_collections", "open_context", "worse_than", "write_part",
]  # fmt: skip
NOT_DECODED = "\ufffd"  # what a form holds in place of bytes that are not UTF-8
snapshot = search.snapshot  # what is read inside is all of one moment
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadInput(ValueError):
    """What cannot be taken: which field, a short code, and what to do, in words for a reader."""

    def __init__(self, field: str, code: str, words: str, **figures: int | str) -> None:
        """`words` may be translated by a page; `figures` are what they leave open, as `%(name)s`."""
        self.field, self.code, self.words, self.figures = field, code, words, figures
        told = {name: f"{figure:,}" if isinstance(figure, int) else figure for name, figure in figures.items()}
        self.detail = words % told if told else words
        super().__init__(self.detail)


class BadQuestion(BadInput):
    """A question that cannot be asked."""


class BadFeedback(BadInput):
    """Feedback that cannot be kept."""


def ask(
    *,
    question: str,
    mode: str | None = None,
    collection: str | None = None,
    writer: str = "auto",
    parent: str | None = None,
    now: datetime | None = None,
    preset: str | None = None,
    most_passages: object = None,
    most_studies: object = None,
    keeps_evidence: bool = False,
    allowance: Allowance | None = None,
) -> Payload:
    """Answers a question and keeps the answer. Raises BadQuestion, before any model runs, BadPolicy, ModelQuotaUsedUp, OutOfTime.

    A question that follows another (`parent`) keeps its mode and collection, unless told otherwise, and its subject.
    A `preset` (with figures changed in it, see `policy.read`) takes the place of the site's own policy. `most_passages` and
    `most_studies` change how much evidence is read for this question. With `keeps_evidence` the evidence stays open under
    the answer's request id, so that `write_part` can write from it again. An `allowance` says whether a model may write;
    where it may not, the extractive writer does, unless the model was asked for by name.
    """
    policy = answering.POLICY if preset is None else read_policy(preset)
    policy = _with_budget(policy, most_passages=most_passages, most_studies=most_studies)
    checked = check(question=question, mode=mode, collection=collection, writer=writer, parent=parent)
    now = now or timezone.now()
    answer = contexts.answer if keeps_evidence else answering.answer
    with limited() as limit:
        try:
            return answer(
                checked, writer=writer, parent=parent, now=now, policy=policy, allowance=allowance, limit=limit
            )
        except IntegrityError:
            # A source was deleted between reading and storing: once more, without it.
            return answer(
                checked, writer=writer, parent=parent, now=now, policy=policy, allowance=allowance, limit=limit
            )


def _with_budget(policy: Policy, *, most_passages: object, most_studies: object) -> Policy:
    """The policy with these figures in it; None leaves one as it is. Raises BadQuestion."""
    if most_passages is None and most_studies is None:
        return policy
    return replace(
        policy,
        evidence_passages=_budget("most_passages", most_passages, policy.evidence_passages, MOST_PASSAGES),
        cited_studies=_budget("most_studies", most_studies, policy.cited_studies, MOST_STUDIES),
    )


def _budget(field: str, wanted: object, usual: int, most: int) -> int:
    if wanted is None:
        return usual
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= most:
        raise BadQuestion(field, "out_of_range", f"Send a whole number from 1 to {most}.")
    return wanted


def ask_again(answer_id: str, *, now: datetime | None = None, allowance: Allowance | None = None) -> Payload | None:
    """Asks an answer's question once more, of the corpus as it is now; None where there is no such answer.

    In its collection, while there is one, and following the same answer. Raises BadQuestion, OutOfTime.
    """
    row = Answer.objects.filter(pk=answer_id).first() if _storable(answer_id) else None
    if row is None:
        return None
    kept = row.collection if row.collection in {c.slug for c in search.collections()} else None
    parent = row.parent_id if row.payload.get("understood_as") else None  # asked by itself, it followed nothing
    return ask(question=row.question, mode=row.mode, collection=kept, parent=parent, now=now, allowance=allowance)


def have_one_engine(*answer_ids: str) -> bool:
    """Tell whether one engine made all of these stored answers."""
    return Answer.objects.filter(pk__in=answer_ids).values("engine").distinct().count() <= 1


def find_changes(payload: Payload, since: str) -> Changes | None:
    """What an answer says otherwise than an earlier one; None unless that one is there and answers the same question."""
    before = find_answer(since) if since != payload["id"] else None
    if before is None or _asked(before) != _asked(payload):
        return None
    return changes_between(before, payload)


def _asked(body: Payload) -> str:
    """The same for answers to the same question."""
    return question_key(body.get("understood_as") or body["question"])


def find_passages(
    *, question: str, mode: str = Mode.BEGINNER.value, collection: str | None = None, limit: object = 20
) -> Payload:
    """The passages nearest to a question, without an answer. Raises BadQuestion, before any model runs, and OutOfTime."""
    checked = check(question=question, mode=mode, collection=collection, writer="auto", parent=None)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_FOUND:
        raise BadQuestion("limit", "unknown", f"Send a whole number from 1 to {MOST_FOUND}.")
    with limited() as time_limit:
        return finding.find(checked, limit=limit, time_limit=time_limit)


def open_context(
    *, question: str, mode: str = Mode.BEGINNER.value, collection: str | None = None, now: datetime | None = None
) -> Opened:
    """Searches and freezes the evidence of a question, for its parts to be written one by one. Raises BadQuestion."""
    checked = check(question=question, mode=mode, collection=collection, writer="auto", parent=None)
    return contexts.open_context(checked, now=now or timezone.now())


def write_part(
    request_id: str,
    part: contexts.Part,
    *,
    writer: str = "auto",
    now: datetime | None = None,
    allowance: Allowance | None = None,
) -> WrittenPart:
    """Summary or answer from frozen evidence.

    Raises UnknownContext, ExpiredContext, InsufficientEvidence, ModelQuotaUsedUp, OutOfTime.
    """
    now = now or timezone.now()
    with limited() as limit:
        return contexts.write_part(request_id, part, writer=writer, now=now, allowance=allowance, limit=limit)


def check(*, question: object, mode: object, collection: object, writer: object, parent: object) -> Question:
    """The question, fit to be searched; what a follow-up leaves unsaid is its parent's. Raises BadQuestion."""
    text = _checked_text(question)
    before = _find_parent(parent)
    if mode is None:
        mode = before.mode if before else Mode.BEGINNER.value
    if mode not in [m.value for m in Mode]:
        modes = " or ".join(m.value for m in Mode)
        raise BadQuestion("mode", "unknown", N_("Choose a mode: %(modes)s."), modes=modes)
    if writer not in WRITERS:
        raise BadQuestion("writer", "unknown", f"Choose a writer: {', '.join(WRITERS)}.")
    chosen = before.collection if collection is None and before else collection
    slugs = [c.slug for c in search.collections()] if chosen is not None else []
    if collection is not None and collection not in slugs:
        raise BadQuestion(
            "collection",
            "unknown",
            N_("There is no such collection. Choose one of %(slugs)s, or none."),
            slugs=", ".join(slugs),
        )
    if collection is None and chosen in slugs:
        collection = chosen
    asked = _searchable(text)
    meant = _meant(asked, before) if before else None
    return Question(
        text=text,
        searched=_searchable(meant) if meant else asked,
        mode=Mode(mode),
        collection=collection if isinstance(collection, str) else None,
        understood_as=meant,
    )


def _searchable(text: str) -> str:
    return clean(text)[:LONGEST_QUESTION]  # one character may become eighteen: no model sees more than was allowed


def _find_parent(parent: object) -> Answer | None:
    if parent is None:
        return None
    row = Answer.objects.filter(pk=parent).first() if isinstance(parent, str) and _storable(parent) else None
    if row is None:
        raise BadQuestion("parent", "unknown", N_("There is no answer with this id to follow."))
    return row


def _meant(asked: str, before: Answer) -> str | None:
    """What a follow-up means; None where it stands alone, and where its own words get a fixed reply as they are."""
    if answering.is_declined(asked):
        return None
    before = _with_a_subject(before)
    subject = follow_up.standalone(clean(before.question), before.payload.get("understood_as"))
    return answering.follow(asked, subject)


def _with_a_subject(before: Answer) -> Answer:
    """Return the answer before; where its question named nothing and found no answer, the one that it followed."""
    for _ in range(MOST_STEPS_BACK):
        is_joined = before.parent_id is None or before.payload.get("understood_as") is not None
        if is_joined or Outcome(before.outcome).is_answer or not answering.is_fragment(clean(before.question)):
            break
        before = before.parent or before
    return before


def _checked_text(question: object) -> str:
    if not isinstance(question, str):
        raise BadQuestion("question", "not_text", N_("Send the question as text."))
    if len(question) > 4 * LONGEST_QUESTION or len(text := question.strip()) > LONGEST_QUESTION:
        raise BadQuestion(
            "question",
            "too_long",
            N_("The question is longer than %(most)s characters. Please shorten it."),
            most=LONGEST_QUESTION,
        )
    if not _storable(text) or NOT_DECODED in text:
        raise BadQuestion(
            "question", "not_text", N_("The question holds characters that are not text. Please type it again.")
        )
    if not clean(text):
        raise BadQuestion("question", "blank", N_("Please type a question."))
    return text


def _storable(text: str) -> bool:
    return "\0" not in text and _SURROGATE.search(text) is None


def give_feedback(
    answer_id: str,
    *,
    is_helpful: object,
    reasons: object = (),
    said: object = "",
    amends: int | None = None,
    now: datetime | None = None,
) -> Feedback | None:
    """Keeps what a reader thought of an answer; None where there is no such answer. Raises BadFeedback.

    `amends` is the key of what the same reader has said of it before, which this takes the place of.
    """
    if not isinstance(is_helpful, bool):
        raise BadFeedback("helpful", "not_boolean", N_("Say whether the answer helped: true or false."))
    known = list(Feedback.Reason.values)
    if not isinstance(reasons, list | tuple) or any(reason not in known for reason in reasons):
        raise BadFeedback(
            "reasons", "unknown", N_("Choose reasons from this list, or none: %(known)s."), known=", ".join(known)
        )
    if not isinstance(said, str) or not _storable(said) or NOT_DECODED in said:
        raise BadFeedback("words", "not_text", N_("Send your words as text."))
    if len(said.strip()) > LONGEST_FEEDBACK:
        raise BadFeedback("words", "too_long", N_("Please say it in %(most)s characters."), most=LONGEST_FEEDBACK)
    answer = Answer.objects.filter(pk=answer_id).first() if _storable(answer_id) else None
    if answer is None:
        return None
    now = now or timezone.now()
    given = Feedback.objects.filter(pk=amends, answer=answer).first() if amends else None
    if given is None:
        if Feedback.objects.filter(answer=answer, given_at__gt=now - timedelta(days=1)).count() >= MOST_FEEDBACK:
            raise BadFeedback("answer", "too_many", N_("Many readers have told us about this answer today. Thank you."))
        given = Feedback(answer=answer)
    given.is_helpful = is_helpful
    given.reasons = [reason for reason in known if reason in reasons]
    given.words = said.strip()
    given.given_at = now
    given.save()
    return given


def find_feedback(answer_id: str, key: int) -> Feedback | None:
    """What a reader said of this answer, by its key."""
    return Feedback.objects.filter(pk=key, answer=answer_id).first()


def feedback_reasons() -> list[tuple[str, str]]:
    """Codes and words of what may be said for or against an answer."""
    return [(code, str(words)) for code, words in Feedback.Reason.choices]


def writer() -> dict[str, str | None]:
    """Who writes by default: `name`, and of a language model its `model` and its `circuit` (closed, open, half_open)."""
    server = answering.model_server()
    if server is None:
        return {"name": "extractive", "model": None, "circuit": None}
    return {"name": "llm", "model": server.model, "circuit": server.breaker.state}


def calibration_trouble() -> str | None:
    """Why fitted models cannot be used, and more is refused meanwhile; None where all is well."""
    return engines.model_trouble()


def examples() -> list[str]:
    """Questions to show what can be asked: the present corpus is about them."""
    return list(fitting_examples())


def front_page() -> dict[str, Any]:
    """Figures of the corpus: `studies`, `passages`, `collections` with their counts, `corpus_version`."""
    return search.corpus_figures()


def offered_collections() -> dict[str, Any]:
    """`collections` that a question can be asked of: slug, name and description, without counts."""
    rows = search.collections()
    return {"collections": [{"slug": c.slug, "name": c.name, "description": c.description} for c in rows]}


def how_it_works() -> dict[str, Any]:
    """What steers answers at this moment, see `workings.describe`; with it the fixed limits and who writes."""
    return workings.describe() | {
        "writer": writer(),
        "longest_question": LONGEST_QUESTION,
        "calibration_trouble": calibration_trouble(),
    }


def evaluate_golden(
    path: Path, *, on_progress: Callable[[int], None], preset: str | None = None, changes: Iterable[str] = ()
) -> dict[str, Any]:
    """Figures of the running system on a file of golden questions. Raises BadGolden naming the line, and BadPolicy.

    Without a preset, of the site's own policy.
    """
    policy = answering.POLICY if preset is None and not changes else named_policy(preset or "default", changes)
    golden = evaluation.read_golden(path)
    return evaluation.report(evaluation.evaluate(golden, policy=policy, on_progress=on_progress), policy)


def find_answer(answer_id: str) -> Payload | None:
    """The answer as it was given, marked with what has become of its sources; None where there is none.

    Of a study that has left the public only "A source was withdrawn." remains.
    """
    if not _storable(answer_id):
        return None
    with search.snapshot():
        found = Answer.objects.filter(pk=answer_id).order_by().values_list("payload", flat=True)
        return next((_beside(storing.whole(stored)) for stored in found), None)


def find_by_request(request_id: uuid.UUID) -> Payload | None:
    """The same, by the id of its evidence, which a stream knows before the answer is there."""
    row = Answer.objects.filter(request_id=request_id).first()
    return None if row is None else beside_present_corpus(storing.whole(row.payload))


def beside_present_corpus(stored: Payload) -> Payload:
    """A stored payload with `notices` filled, citations' status and notice as they are now, and withdrawn words hidden.

    All of one moment: a retraction marks every place of an answer at once.
    """
    with search.snapshot():
        return _beside(deepcopy(stored))


def _beside(body: Payload) -> Payload:
    cited = {c["study_id"] for c in body["citations"]}
    used = cited | {e["study_id"] for e in body["evidence"]}
    named = used | _counted(body) | {o.get("study_id") for o in body["left_out"]} - {None}
    quoted = _passages_used(body)
    studies, passages = search.states(named, quoted)
    hidden = {s for s in named if s not in studies or studies[s].status is not Status.PUBLISHED}
    hidden |= _deleted(body, used - cited, {quoted[pk][0] for pk in passages})
    _hide(body, hidden)
    for citation in body["citations"]:
        state = studies.get(citation["study_id"])
        if citation["study_id"] in hidden:
            citation |= NAMELESS
        citation["status"] = (Status.WITHDRAWN if citation["study_id"] in hidden else Status.PUBLISHED).value
        citation["notice"] = state.notice.value if state else Notice.NONE.value
    body["notices"] = [
        *_study_notices(sorted(used), studies, hidden),
        *_passage_notices(quoted, passages, hidden),
        *_newer_corpus(body["corpus_version"]),
    ]
    return in_contract_order(body)


def _counted(body: Payload) -> set[str]:
    """Studies that a sentence about the corpus itself counts, cited or not."""
    return {study_id for span in _support(body) for study_id in span.get("study_ids", ())}


def _support(body: Payload) -> Iterator[Payload]:
    """Yield every span and count behind the headline, then behind the sentences."""
    told = [body["headline"]] if body["headline"] else []
    for row in (*told, *(s for part in ("summary", "answer") for s in body[part]["sentences"])):
        yield from row["support"]


def _deleted(body: Payload, shown: set[str], remaining: set[str]) -> set[str]:
    """Studies that were deleted since, also where another one has taken their name.

    A citation of a deleted study has lost its link; one that was only shown has no passage left of those that were.
    """
    with connection.cursor() as cursor:
        cursor.execute(_UNLINKED, [body["id"]])
        return {study_id for (study_id,) in cursor.fetchall()} | (shown - remaining)


_UNLINKED = """
    SELECT c.study_key FROM qa_app_answercitation c JOIN qa_app_answersentence s ON s.id = c.sentence_id
    WHERE s.answer_id = %s AND c.study_id IS NULL
"""


def _passages_used(body: Payload) -> dict[int, tuple[str, int]]:
    """Study and version of every passage that is quoted or shown, those quoted first."""
    used: dict[int, tuple[str, int]] = {}
    for row in (*(span for span in _support(body) if "finding_ids" not in span), *body["evidence"]):
        used.setdefault(row["passage_id"], (row["study_id"], row["passage_version"]))
    return used


def _hide(body: Payload, hidden: set[str]) -> None:
    """Takes every word of the hidden studies out of a payload."""
    if not hidden:
        return
    if (headline := body["headline"]) and any(span.get("study_id") in hidden for span in headline["support"]):
        counts = dict.fromkeys(("studies_for", "studies_against", "studies_without_difference"))
        headline |= {"text": WITHDRAWN, "verdict": None, "support": []} | counts
    for name in ("summary", "answer"):
        sentences = body[name]["sentences"]
        for sentence in sentences:
            if any(span.get("study_id") in hidden for span in sentence["support"]):
                sentence |= {"text": WITHDRAWN, "attribution": None, "support": []}
            for span in sentence["support"]:
                if "study_ids" in span:  # a count stays as it was; which studies it counted is told of the public ones
                    span["study_ids"] = [study_id for study_id in span["study_ids"] if study_id not in hidden]
        body[name]["text"] = with_markers((s["text"], s["citations"], s["paragraph"]) for s in sentences)
    if agreement := body.get("agreement"):
        _hide_stances(agreement, hidden)
        for split in agreement["by_population"]:
            _hide_stances(split, hidden)
        agreement["by_population"] = [s for s in agreement["by_population"] if any(s[name] for name in STANCES)]
    body["evidence"] = [entry for entry in body["evidence"] if entry["study_id"] not in hidden]
    body["left_out"] = [
        entry for entry in body["left_out"] if entry["what"] == "passage" and entry["study_id"] not in hidden
    ]


def _hide_stances(stances: Payload, hidden: set[str]) -> None:
    for name in STANCES:
        stances[name] = [row for row in stances[name] if row["study_id"] not in hidden]


def _study_notices(used: list[str], studies: dict[str, StudyState], hidden: set[str]) -> list[Payload]:
    notices = []
    for study_id in used:
        state = studies.get(study_id)
        if study_id in hidden:
            notices.append({"study_id": study_id, "kind": "withdrawn", "at": state.changed_at if state else None})
        elif state and state.notice is not Notice.NONE:
            notices.append({"study_id": study_id, "kind": state.notice.value, "at": state.changed_at})
    return notices


def _passage_notices(
    quoted: dict[int, tuple[str, int]], passages: dict[int, PassageState], hidden: set[str]
) -> list[Payload]:
    """One notice for each passage that was edited or removed since the answer used it."""
    notices = []
    for passage_id, (study_id, version) in quoted.items():
        state = passages.get(passage_id)
        if study_id in hidden or (state is not None and state.version == version):
            continue
        notices.append(
            {
                "study_id": study_id,
                "kind": "passage_changed",
                "passage_id": passage_id,
                "gone": state is None,
                "at": state.changed_at if state else None,
            }
        )
    return notices


def _newer_corpus(version: int) -> list[Payload]:
    now = search.corpus_version()
    return [{"study_id": None, "kind": "newer_corpus", "at": None, "corpus_version": now}] if now > version else []
