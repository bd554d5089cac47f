"""Stored answers, followed questions, feedback, gaps, golden questions, evaluation runs, proposals and safety replies.

Answers and approved replies are never changed; pages combine them with the present corpus.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import connection, models, transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from corpus_app import search
from qa_app.follow_models import AnswerChange as AnswerChange
from qa_app.follow_models import Delivery as Delivery
from qa_app.follow_models import FollowedQuestion as FollowedQuestion
from qa_app.follow_models import Follower as Follower
from qa_app.pipeline.question.safety import with_instead
from qa_app.pipeline.text import clean, words


class StoredPolicy(models.Model):
    """The numbers of a policy, stored once for all its answers."""

    label = models.CharField(primary_key=True, max_length=120, help_text="The preset's name and a hash of its figures.")
    values = models.JSONField()

    def __str__(self) -> str:
        return self.label


class StoredPassage(models.Model):
    """A passage as answers used it, stored once; its text survives edits and deletion."""

    digest = models.CharField(primary_key=True, max_length=22, help_text="Of all the other columns.")
    passage_id = models.BigIntegerField()
    passage_version = models.PositiveIntegerField()
    study_id = models.CharField(max_length=40)
    title = models.TextField()
    section = models.CharField(max_length=40)
    kind = models.CharField(max_length=20)
    text = models.TextField()

    def __str__(self) -> str:
        return f"{self.study_id}, passage {self.passage_id}, version {self.passage_version}"


class Answer(models.Model):
    """An answered (or declined) question.

    `payload` is its public part (docs/contract.md), packed; `storing.restore_payload` restores it.
    """

    id = models.CharField(primary_key=True, max_length=40, help_text="128 random bits, url-safe.")
    request_id = models.UUIDField(unique=True)
    question = models.TextField()
    mode = models.CharField(max_length=20)
    collection = models.CharField(max_length=60, null=True, blank=True)  # null: the whole corpus
    outcome = models.CharField(max_length=30)
    corpus_version = models.PositiveIntegerField()
    policy = models.ForeignKey(StoredPolicy, on_delete=models.PROTECT, related_name="+")
    payload = models.JSONField()
    drafts = models.JSONField(default=list, blank=True, help_text="As received from the writers, before verification.")
    engine = models.CharField(max_length=40, blank=True, help_text="The release of InForm that made it.")
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="followed_by")
    asked_key = models.CharField(
        max_length=64, blank=True, default="",
        help_text="Hash of the question as it was asked, apart from its filters; empty in older answers.",
    )  # fmt: skip
    candidates = ArrayField(
        models.CharField(max_length=40),
        default=list,
        blank=True,
        help_text="The studies that may bear on the question.",
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "id"]
        indexes = [
            models.Index(fields=["-created_at", "id"], name="answer_newest_first"),
            models.Index(fields=["asked_key"], name="answer_asked_key"),
        ]
        permissions = [("list_answer", "Can list questions publicly")]
        constraints = [
            models.CheckConstraint(condition=Q(mode__in=["beginner", "intermediate"]), name="answer_mode_known"),
            models.CheckConstraint(
                condition=Q(
                    outcome__in=[
                        "answered",
                        "partial",
                        "conflicting",
                        "insufficient_evidence",
                        "out_of_scope",
                        "guardrail",
                    ]
                ),
                name="answer_outcome_known",
            ),
        ]

    def __str__(self) -> str:
        return self.question[:80]

    def save(self, *args: Any, **options: Any) -> None:
        if not self._state.adding:
            raise TypeError("An answer is written once; ask again instead.")
        super().save(*args, **options)

    def get_absolute_url(self) -> str:
        return reverse("answer", args=[self.id])

    @property
    def meant(self) -> str:
        """Return the question; a follow-up as a full question."""
        understood_as: str | None = self.payload.get("understood_as")
        return understood_as or self.question


class Listing(models.Model):
    """A curator's approval to show a question to other readers; a withdrawn one stays as history."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="listings")
    question = models.TextField(help_text="As others are shown it: of a follow-up what it was understood as.")
    question_key = models.CharField(max_length=64, help_text="Hash of the question's words.")
    study_ids = ArrayField(models.CharField(max_length=40), help_text=_("The studies that the answer cites."))
    concept_ids = ArrayField(models.CharField(max_length=80), help_text="The concepts that the question names.")
    terms = ArrayField(models.CharField(max_length=100), help_text="Stems of the question's content words.")
    listed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )  # null: the person is gone
    listed_at = models.DateTimeField()
    taken_off_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    taken_off_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-listed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["answer"], condition=Q(taken_off_at=None), name="listing_once_at_a_time"),
            models.CheckConstraint(
                condition=Q(taken_off_by=None) | Q(taken_off_at__isnull=False), name="listing_taken_off_by_and_when"
            ),
        ]

    def __str__(self) -> str:
        return str(self.answer)


class AnswerSentence(models.Model):
    """A sentence of a stored answer."""

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="sentences")
    part = models.CharField(max_length=10, choices=[(part, part) for part in ("headline", "summary", "answer")])
    position = models.PositiveIntegerField()
    text = models.TextField()
    kind = models.CharField(max_length=20)
    verdict = models.CharField(max_length=20)

    class Meta:
        ordering = ["answer", "part", "position"]
        constraints = [models.UniqueConstraint(fields=["answer", "part", "position"], name="answer_sentence_once")]

    def __str__(self) -> str:
        return self.text


class AnswerCitation(models.Model):
    """A quoted span of a passage; the quotation survives edits of the passage."""

    sentence = models.ForeignKey(AnswerSentence, on_delete=models.CASCADE, related_name="citations")
    index = models.PositiveIntegerField()
    study = models.ForeignKey(
        "corpus_app.Study", to_field="study_id", on_delete=models.SET_NULL, null=True, related_name="+"
    )
    study_key = models.CharField(max_length=40, db_index=True)
    passage = models.ForeignKey("corpus_app.Passage", on_delete=models.SET_NULL, null=True, related_name="+")
    passage_key = models.BigIntegerField()
    passage_version = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        ordering = ["sentence", "index", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="citation_span_not_empty"),
            models.CheckConstraint(condition=Q(index__gte=1), name="citation_index_from_one"),
        ]

    def __str__(self) -> str:
        return f"[{self.index}] {self.quote}"


class EvidenceContext(models.Model):
    """Evidence frozen for a while, so that summary and answer can be requested separately."""

    request_id = models.UUIDField(primary_key=True, editable=False)
    question = models.TextField()
    outcome = models.CharField(
        max_length=30, help_text="`answered` where there is evidence to write from, else the refusal."
    )
    message = models.TextField(blank=True)
    evidence = models.JSONField(null=True, help_text="What is written from; null for a refusal.")
    corpus_version = models.PositiveIntegerField()
    policy = models.JSONField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.question[:80]


class SentQuestionQuerySet(models.QuerySet["SentQuestion"]):
    KEPT_FOR = timedelta(hours=24)  # how long an idempotency key is valid

    def forget(self, now: datetime) -> None:
        """Free the idempotency keys of the day before; delete rows that no client can list."""
        old = self.filter(sent_at__lte=now - self.KEPT_FOR, idempotency_key__isnull=False)
        old.filter(Q(is_listed=False) | Q(answer=None)).delete()
        old.update(idempotency_key=None, idempotency_digest="")


class SentQuestion(models.Model):
    """A question of an API client, with its idempotency key, which expires after a day.

    Without an API key only questions with an idempotency key are stored, for that day.
    """

    client = models.CharField(max_length=64, help_text="A key's id, or the keyed hash of an address.")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    idempotency_digest = models.CharField(max_length=64, blank=True, help_text="Hash of what was asked.")
    answer = models.ForeignKey(
        Answer, on_delete=models.CASCADE, null=True, related_name="sent_questions"
    )  # null: being made
    is_listed = models.BooleanField(help_text="Whether the client can list it as its own.")
    sent_at = models.DateTimeField()

    objects = SentQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["-sent_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["client", "idempotency_key"], name="sent_question_once")]
        indexes = [
            models.Index(fields=["client", "-sent_at", "-id"], name="sent_question_newest_first"),
            models.Index(fields=["sent_at"], condition=Q(idempotency_key__isnull=False), name="sent_question_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.client}, {self.sent_at:%Y-%m-%d %H:%M}"


class FeedbackQuerySet(models.QuerySet["Feedback"]):
    VISITORS_KEPT_FOR = timedelta(days=90)

    def forget_visitors(self, now: datetime) -> None:
        """Empty the visitors of old ratings; together they count as one visitor from then on."""
        self.filter(given_at__lte=now - self.VISITORS_KEPT_FOR).exclude(visitor="").update(visitor="")


class Feedback(models.Model):
    """A reader's rating of an answer. Anybody may give it, so it contains no name and no address."""

    class Reason(models.TextChoices):
        CLEAR = "clear", gettext_lazy("clear and to the point")
        NEW = "new", gettext_lazy("told me something new")
        NOT_ANSWERED = "not_answered", gettext_lazy("does not answer my question")
        WRONG = "wrong", gettext_lazy("says something wrong")
        INCOMPLETE = "incomplete", gettext_lazy("leaves out something important")
        HARD = "hard", gettext_lazy("hard to understand")
        OUTDATED = "outdated", gettext_lazy("newer evidence exists")

    answer = models.ForeignKey(Answer, on_delete=models.CASCADE, related_name="feedback")
    is_helpful = models.BooleanField()
    reasons = models.JSONField(default=list, blank=True, help_text="Codes from the list of reasons.")
    words = models.TextField(max_length=1_000, blank=True)
    visitor = models.CharField(
        max_length=40, blank=True, editable=False,
        help_text="Keyed hash of the month and the client, to count each visitor once; emptied after 90 days.",
    )  # fmt: skip
    given_at = models.DateTimeField()

    objects = FeedbackQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "feedback"
        ordering = ["-given_at", "-id"]

    def __str__(self) -> str:
        return f"{'helpful' if self.is_helpful else 'not helpful'}: {self.answer}"


class GapQuerySet(models.QuerySet["Gap"]):
    def file(self, answer: Answer, *, missing: list[str]) -> None:
        """Count an unanswered, or partly unanswered, question."""
        values: dict[str, Any] = {
            "key": question_key(answer.meant),
            "collection": answer.collection or "",
            "question": answer.meant,
            "outcome": answer.outcome,
            "missing": json.dumps(missing),
            "answer": answer.pk,
            "asked_at": answer.created_at,
        }
        with connection.cursor() as cursor:
            cursor.execute(_FILE_GAP, values)

    def reopen(self, leader: Gap) -> None:
        """Reopen a closed gap that is asked about again; note and assignee stay."""
        self.filter(pk=leader.pk, status=Gap.Status.CLOSED).update(status=Gap.Status.OPEN)


# One statement, since every refusal waits for it. As in `reopen`, the group's leader is reopened.
_FILE_GAP = """
    WITH filed AS (
        INSERT INTO qa_app_gap AS gap
            (key, collection, question, outcome, missing, asked,
             first_asked_at, last_asked_at, last_answer_id, status, note, encoder)
        VALUES (%(key)s, %(collection)s, %(question)s, %(outcome)s, %(missing)s, 1,
                %(asked_at)s, %(asked_at)s, %(answer)s, 'open', '', '')
        ON CONFLICT (key, collection) DO UPDATE SET
            asked = gap.asked + 1,
            outcome = excluded.outcome,
            missing = excluded.missing,
            last_answer_id = excluded.last_answer_id,
            last_asked_at = greatest(gap.last_asked_at, excluded.last_asked_at),
            status = CASE WHEN gap.leader_id IS NULL THEN 'open' ELSE gap.status END
        RETURNING leader_id
    )
    UPDATE qa_app_gap AS leader SET status = 'open' FROM filed
    WHERE leader.id = filed.leader_id AND leader.status = 'closed'
"""


class Gap(models.Model):
    """A question that the corpus does not answer, or not fully, counted in these words."""

    class Status(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"

    key = models.CharField(max_length=64, help_text="Hash of the question's words, without case and punctuation.")
    collection = models.CharField(max_length=60, blank=True)  # empty: the whole corpus
    question = models.TextField(help_text="As it was first asked.")
    outcome = models.CharField(max_length=30, help_text="What came of it the last time.")
    missing = models.JSONField(default=list, help_text="Words of the question that the nearest passages do not hold.")
    asked = models.PositiveIntegerField(default=0)
    first_asked_at = models.DateTimeField()
    last_asked_at = models.DateTimeField()
    last_answer = models.ForeignKey(Answer, on_delete=models.SET_NULL, null=True, related_name="+")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    note = models.TextField(max_length=2_000, blank=True)
    vector = VectorField(null=True, blank=True, editable=False)
    encoder = models.CharField(max_length=200, blank=True, editable=False)
    leader = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="followers",
        help_text="The first question that meant the same; null for the first one itself.",
    )  # fmt: skip
    asked_again_version = models.PositiveIntegerField(null=True, blank=True, editable=False)
    result = models.ForeignKey(
        Answer, on_delete=models.SET_NULL, null=True, blank=True, editable=False, related_name="+",
        help_text="What it got when it was asked again with newer evidence.",
    )  # fmt: skip

    objects = GapQuerySet.as_manager()

    class Meta:
        ordering = ["-asked", "-last_asked_at"]
        constraints = [models.UniqueConstraint(fields=["key", "collection"], name="gap_once")]

    def __str__(self) -> str:
        return self.question[:80]


class GoldenQuestion(models.Model):
    """A curator's test question with its expected sources, see corpus/golden_README.md."""

    key = models.CharField(
        max_length=60, unique=True, help_text="Its id in the file that it came from, such as lay-001."
    )
    question = models.TextField(max_length=2_000)
    mode = models.CharField(max_length=20, choices=[("beginner", "Beginner"), ("intermediate", "Intermediate")])
    kind = models.CharField(max_length=40)
    collection = models.CharField(max_length=60, null=True, blank=True)
    relevant = models.JSONField(
        default=dict, blank=True, help_text=_("Study ids and their grade: 2 answers it, 1 bears on it.")
    )
    answer_points = models.JSONField(default=list, blank=True)
    sections = models.JSONField(default=list, blank=True)
    note = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return f"{self.key}: {self.question}"[:100]

    def as_row(self) -> dict[str, Any]:
        """Return the question as a row of a golden file."""
        return {
            "id": self.key,
            "question": self.question,
            "mode": self.mode,
            "kind": self.kind,
            "collection": self.collection,
            "relevant": self.relevant,
            "answer_points": self.answer_points,
            "sections": self.sections,
            "note": self.note,
        }


class EvaluationRun(models.Model):
    """A background run of all active golden questions, with figures and a result for each question."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    beat_at = models.DateTimeField(null=True, blank=True, help_text="When the worker last gave a sign.")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    corpus_version = models.PositiveIntegerField(null=True, blank=True)
    policy = models.CharField(max_length=80, blank=True)
    engine = models.CharField(max_length=40, blank=True)
    figures = models.JSONField(default=dict, blank=True)
    results = models.JSONField(default=list, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        asked_at = date_format(timezone.localtime(self.asked_at), "DATETIME_FORMAT")
        return f"{asked_at}, corpus version {self.corpus_version or '?'}"


class Proposal(models.Model):
    """A change that ratings, gaps and golden questions suggest; a curator accepts or declines it.

    Its evidence names answers, gaps and golden questions by key: their words are read where they are stored.
    """

    class Kind(models.TextChoices):
        QUESTION = "question", "Curated question"
        ALIAS = "alias", "Alias of a concept"
        POLICY = "policy", "Figure of the policy"

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting to be measured"
        OPEN = "open", "To be decided"
        ACCEPTED = "accepted", "Accepted"
        DECLINED = "declined", "Declined"

    UNDECIDED = (Status.WAITING, Status.OPEN)

    kind = models.CharField(max_length=10, choices=Kind)
    target = models.CharField(max_length=80, help_text=_("A study, a concept, or the name of a figure."))
    finding_id = models.BigIntegerField(null=True, blank=True, help_text="The finding that the question belongs to.")
    text = models.TextField(max_length=2_000, help_text="What is to be added, or the figure's new value.")
    evidence = models.JSONField(default=list, help_text="Source, key and counts of each question behind it.")
    weight = models.PositiveIntegerField(help_text="Visitors, wordings and golden questions behind it.")
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    proposed_at = models.DateTimeField()
    run = models.ForeignKey(
        EvaluationRun, on_delete=models.SET_NULL, null=True, related_name="+", help_text="The figures before it."
    )
    figures = models.JSONField(default=dict, help_text="Before and after, on each half of the golden questions.")
    changes = models.JSONField(default=list, help_text="The golden questions that come out differently.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.TextField(max_length=2_000, blank=True)
    accepted_as = models.TextField(blank=True, help_text="What was added, where the curator worded it otherwise.")
    declined_weight = models.PositiveIntegerField(default=0, help_text="Its weight when it was declined the last time.")

    class Meta:
        ordering = ["-weight", "pk"]
        permissions = [("decide_proposal", "Can accept or decline a proposal")]
        constraints = [
            models.UniqueConstraint(fields=["kind", "target", "text"], name="proposal_once"),
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "open"]) | Q(decided_at__isnull=False), name="proposal_decided_when"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} of {self.target}: {self.text}"[:120]


def question_key(question: str) -> str:
    """Return a hash that ignores case, punctuation and spaces."""
    return hashlib.sha256(" ".join(words(clean(question))).encode()).hexdigest()


class ModelSpend(models.Model):
    """A day's use of the language model by all processes."""

    day = models.DateField(primary_key=True)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(
        max_digits=16, decimal_places=6, default=Decimal(0), help_text="Spent and set aside, in the unit of the prices."
    )

    class Meta:
        ordering = ["-day"]
        constraints = [models.CheckConstraint(condition=Q(cost__gte=0), name="model_spend_not_negative")]

    def __str__(self) -> str:
        return f"{self.day}: {self.cost} for {self.tokens} tokens"


class SafetyReplyQuerySet(models.QuerySet["SafetyReply"]):
    def find_approved(self, route: str) -> SafetyReply | None:
        """Return the reply that readers see; None where the built-in one applies."""
        return self.filter(route=route, status=SafetyReply.Status.APPROVED).first()

    def draft(self, *, route: str, text: str, instead: str, by: User, now: datetime) -> SafetyReply:
        """Create a new version of a route's reply, hidden from readers until it is approved."""
        with transaction.atomic():
            newest = self.select_for_update().filter(route=route).order_by("-version").first()
            version = newest.version + 1 if newest else 1
            return self.create(route=route, version=version, text=text, instead=instead, written_by=by, written_at=now)


class SafetyReply(models.Model):
    """A version of the fixed reply to a kind of question. Only drafts can be edited."""

    class Status(models.TextChoices):
        DRAFT = "draft"
        APPROVED = "approved"
        REPLACED = "replaced"

    route = models.CharField(max_length=40, help_text="Kind of question that gets this reply.")
    version = models.PositiveIntegerField()
    text = models.TextField(
        max_length=2_000, help_text="What the reader is told. No advice for one person, and no doses."
    )
    instead = models.TextField(
        "what the site can do instead", max_length=1_000, blank=True, help_text="A paragraph of its own."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    written_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )  # null: built in, or the person is gone
    written_at = models.DateTimeField()
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    objects = SafetyReplyQuerySet.as_manager()

    class Meta:
        verbose_name = "safety reply"
        verbose_name_plural = "safety replies"
        ordering = ["route", "-version"]
        permissions = [("approve_safetyreply", "Can approve a safety reply")]
        constraints = [
            models.UniqueConstraint(fields=["route", "version"], name="safety_reply_version_once"),
            models.UniqueConstraint(fields=["route"], condition=Q(status="approved"), name="safety_reply_one_approved"),
            models.CheckConstraint(
                condition=Q(status="draft", reviewed_at=None)
                | Q(status__in=["approved", "replaced"], reviewed_at__isnull=False),
                name="safety_reply_reviewed_unless_draft",
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="safety_reply_version_from_one"),
            models.CheckConstraint(condition=~Q(text=""), name="safety_reply_says_something"),
        ]

    def __str__(self) -> str:
        return f"{self.get_route_display()}, version {self.version}"

    def save(self, *args: Any, **options: Any) -> None:
        if not self._state.adding and not SafetyReply.objects.filter(pk=self.pk, status=self.Status.DRAFT).exists():
            raise TypeError("An approved reply stays as it was; save a new version instead.")
        super().save(*args, **options)

    def get_route_display(self) -> str:
        """Return the route's name for readers."""
        return self.route.replace("_", " ").capitalize()

    @property
    def message(self) -> str:
        return with_instead(self.text, self.instead)

    @property
    def is_draft(self) -> bool:
        return self.status == self.Status.DRAFT

    @property
    def is_built_in(self) -> bool:
        """Tell whether a migration wrote it: nobody did, and it was approved in the same moment."""
        return self.written_by_id is None and self.reviewed_by_id is None and self.written_at == self.reviewed_at

    def obstacle_to_approval(self, by: User) -> str | None:
        """Return why this person cannot approve the draft, as a message; None where they can."""
        if not self.is_draft:
            return "It was approved before. Save it as a new version to use its words again."
        if self.written_by_id == by.pk and not by.is_superuser:
            return "You wrote it: another curator has to read and approve it."
        return None

    def approve(self, *, by: User, now: datetime, seen: datetime | None) -> None:
        """Publish this draft in place of the approved version; `seen` is the `written_at` that the curator read.

        Raises ValidationError, also when the text was edited since.
        """
        with transaction.atomic():
            siblings = SafetyReply.objects.select_for_update().filter(route=self.route)
            draft = {reply.pk: reply for reply in siblings.order_by("pk")}[self.pk]
            if obstacle := draft.obstacle_to_approval(by):
                raise ValidationError(obstacle)
            if draft.written_at != seen:
                raise ValidationError("Somebody has edited it since you opened this page. Read it again.")
            siblings.filter(status=self.Status.APPROVED).update(status=self.Status.REPLACED)
            siblings.filter(pk=self.pk).update(status=self.Status.APPROVED, reviewed_by=by, reviewed_at=now)
        self.refresh_from_db()


class CorpusCalibration(models.Model):
    """Figures that fit the estimates to a corpus without labels; the newest that came to an end is in force."""

    SHIPPED_SHARE = 0.5  # of studies with curated texts: above it, the models as shipped fit

    corpus_version = models.PositiveIntegerField(default=0)
    passages = models.PositiveIntegerField(default=0, help_text="Searchable passages at that time.")
    models_version = models.CharField(max_length=80, blank=True, help_text="The models whose estimates it scales.")
    questions = models.PositiveIntegerField(default=0, help_text="Made questions that it was fitted on.")
    auroc = models.FloatField(
        default=0.0, help_text="How well the estimates tell made questions with and without their source."
    )
    figures = models.JSONField(default=dict, help_text="Slopes and offsets of the logits.")
    bins = models.JSONField(default=list, help_text="Made questions by their chance that the first study answers.")
    at = models.DateTimeField(auto_now_add=True)
    is_under_way = models.BooleanField(default=False)
    beat_at = models.DateTimeField(null=True, blank=True, help_text="When the worker last gave a sign.")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True, help_text="Why nothing was fitted.")

    def __str__(self) -> str:
        return f"version {self.corpus_version}, {self.questions} questions"

    @classmethod
    def newest(cls) -> CorpusCalibration | None:
        """Return the row in force; None where there is none."""
        return cls.objects.filter(is_under_way=False, error="").order_by("-pk").first()

    @classmethod
    def is_newer_than(cls, moment: datetime) -> bool:
        """Return whether the row in force may have come into force after this moment."""
        newest = cls.newest()
        return newest is not None and (newest.beat_at or newest.at) >= moment

    @classmethod
    def is_missing(cls) -> bool:
        """Return whether nothing is fitted to this corpus, and most of it is not what the shipped models fit."""
        return search.curated_share() <= cls.SHIPPED_SHARE and cls.newest() is None
