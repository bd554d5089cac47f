"""Tables of the corpus. Write to studies, passages and concepts by `curation`, to derived tables by `indexing`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField, VectorField

from corpus_app import actions, records
from corpus_app.appraisal import (
    EFFECT_FIELDS,
    RATIO_MEASURES,
    USUAL_LEVEL,
    BiasTool,
    CertaintyLevel,
    Effect,
    EffectMeasure,
    RiskOfBias,
    bias_from_json,
    effect_of,
)
from corpus_app.facets import facets_from_json, to_pairs

TEXT_SEARCH_CONFIG = "english"
# Up to here a question is compared with every vector: that takes less than 10 ms and misses nothing.
ANN_FROM = 20_000


def choices(values: Iterable[Any]) -> list[tuple[str, str]]:
    """Return model-field choices for a StrEnum: each value, and the value in words."""
    return [(value.value, value.value.replace("_", " ").capitalize()) for value in values]


def one_of(field: str, values: type[Any]) -> Q:
    return Q(**{f"{field}__in": [value.value for value in values]})


class SearchText(models.Func):
    """A text normalised for search: NFKD, without combining marks, zero-width characters and soft hyphens.

    PostgreSQL computes it, so it always matches the text.
    """

    template = (
        "regexp_replace(normalize(%(expressions)s, NFKD), "
        "'[\\u0300-\\u036F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F"
        "\\u202A-\\u202E\\u2060-\\u206F\\uFE00-\\uFE0F\\uFEFF]', '', 'g')"
    )
    output_field = models.TextField()


class WeightedLexemes(models.Func):
    """A tsvector of the normalised heading (weight A) and text (weight D)."""

    template = (
        f"(setweight(to_tsvector('{TEXT_SEARCH_CONFIG}', %(heading)s), 'A') || "
        f"setweight(to_tsvector('{TEXT_SEARCH_CONFIG}', %(text)s), 'D'))"
    )
    output_field = SearchVectorField()

    def __init__(self, heading: str, text: str) -> None:
        super().__init__(SearchText(F(heading)), SearchText(F(text)))

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        heading, text = self.source_expressions
        heading_sql, heading_params = compiler.compile(heading)
        text_sql, text_params = compiler.compile(text)
        return self.template % {"heading": heading_sql, "text": text_sql}, (*heading_params, *text_params)


class NameLexemes(models.Func):
    """A tsvector of texts in which things are named: signs are spaces, and figures are parted from letters."""

    template = (
        f"to_tsvector('{TEXT_SEARCH_CONFIG}', regexp_replace(regexp_replace(regexp_replace("
        f"{SearchText.template}, '[\\u0027\\u2019]', '', 'g'), '[^[:alnum:]]+', ' ', 'g'), "
        "'([0-9])(?=[[:alpha:]])|([[:alpha:]])(?=[0-9])', '\\1\\2 ', 'g'))"
    )
    arg_joiner = " || ' ' || "
    output_field = SearchVectorField()


class WordsHash(models.Func):
    """A hash over several text fields, which shows whether any of them has changed."""

    template = "md5(%(expressions)s)"
    arg_joiner = " || chr(10) || "
    output_field = models.CharField(max_length=32)


class CollectionQuerySet(models.QuerySet["Collection"]):
    def current(self) -> CollectionQuerySet:
        """Return the collections without those of which every study was withdrawn or archived."""
        out = Q(status__in=[records.Status.WITHDRAWN, records.Status.ARCHIVED])
        own = Study.objects.filter(collection=models.OuterRef("pk"))
        return self.exclude(models.Exists(own.filter(out)) & ~models.Exists(own.exclude(out)))


class Collection(models.Model):
    slug = models.SlugField(primary_key=True, max_length=60)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    keywords = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    position = models.PositiveIntegerField(default=0)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.name


class StudyQuerySet(models.QuerySet["Study"]):
    def published(self) -> StudyQuerySet:
        return self.filter(status=records.Status.PUBLISHED)

    def readable(self) -> StudyQuerySet:
        """Return the studies whose words readers may see: published, and archived ones, which old answers quote."""
        return self.filter(status__in=records.READABLE)

    def searchable(self) -> StudyQuerySet:
        """Return published rows that are not retracted: those that answers may use."""
        return self.published().exclude(notice=records.Notice.RETRACTED)

    def in_use(self) -> StudyQuerySet:
        """Return studies that are neither withdrawn, archived nor retracted: those worth a curator's work."""
        left = self.exclude(status__in=[records.Status.WITHDRAWN, records.Status.ARCHIVED])
        return left.exclude(notice=records.Notice.RETRACTED)

    def without_plain_words(self) -> StudyQuerySet:
        """Return studies in use that lack a takeaway, or the plain sentence of a finding."""
        unwritten = Finding.objects.filter(study=models.OuterRef("pk"), plain="")
        return self.in_use().filter(Q(takeaway="") | models.Exists(unwritten))

    def without_questions(self) -> StudyQuerySet:
        """Return studies in use for which no curator has written a question at any place."""
        parts = (model.objects.filter(study=models.OuterRef("pk")).exclude(asked_as="") for model in (Finding, Passage))
        return self.in_use().filter(*(~models.Exists(rows) for rows in parts), asked_as="")


class Study(models.Model):
    """A study with its bibliography, population, state and notice; its passages and findings belong to it."""

    study_id = models.CharField(
        _("study id"),
        max_length=40,
        unique=True,
        validators=[
            RegexValidator(r"^[A-Za-z0-9][A-Za-z0-9._-]*$", "Use letters, digits, dot, dash and underscore only.")
        ],
        help_text=_("The study's own stable name, such as S018. It stands in addresses and exports."),
    )
    title = models.CharField(max_length=1000)
    authors = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    year = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1800), MaxValueValidator(2100)]
    )
    journal = models.CharField(max_length=500, null=True, blank=True)
    doi = models.CharField("DOI", max_length=300, null=True, blank=True)
    pmid = models.CharField("PMID", max_length=20, null=True, blank=True)
    url = models.URLField("URL", max_length=1000, null=True, blank=True)
    design = models.CharField(max_length=40)
    peer_reviewed = models.BooleanField(default=True)
    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="studies")

    population = models.TextField(blank=True, help_text="Who was studied, in words.")
    training_status = models.CharField(
        max_length=40, choices=choices(records.TrainingStatus), default=records.TrainingStatus.NOT_REPORTED.value
    )
    age_group = models.CharField(
        max_length=40, choices=choices(records.AgeGroup), default=records.AgeGroup.NOT_REPORTED.value
    )
    sex = models.CharField(max_length=40, choices=choices(records.Sex), default=records.Sex.NOT_REPORTED.value)
    facets = models.JSONField(
        default=dict, blank=True, help_text="Values of the facets that the corpus declares, by key: lists of values."
    )
    n_studies = models.PositiveIntegerField(_("included studies"), null=True, blank=True)
    n_participants = models.PositiveIntegerField("participants", null=True, blank=True)
    duration_weeks_min = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])
    duration_weeks_max = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])
    concepts: models.ManyToManyField[Concept, StudyConcept] = models.ManyToManyField(
        "Concept", through="StudyConcept", related_name="studies"
    )

    takeaway = models.TextField(
        blank=True,
        help_text=_("What the study as a whole tells a reader: a sentence or two of plain words, quoted in answers."),
    )
    asked_as = models.TextField(
        blank=True,
        help_text=_(
            "Questions that the study as a whole answers, one a line. Readers’ questions are compared with these."
        ),
    )

    risk_of_bias = models.JSONField(
        null=True, blank=True, help_text="One assessment by RoB 2, ROBINS-I or another tool; null: none."
    )

    licence = models.CharField(max_length=200, blank=True)
    curator_notes = models.TextField(blank=True)
    labels = ArrayField(
        models.CharField(max_length=records.LABEL_LETTERS),
        default=list,
        blank=True,
        help_text=_("The curators' own words to sort studies by. Readers never see them."),
    )
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The curator who works on it.",
    )
    status = models.CharField(max_length=20, choices=choices(records.Status), default=records.Status.DRAFT.value)
    status_reason = models.TextField(blank=True)
    notice = models.CharField(max_length=30, choices=choices(records.Notice), default=records.Notice.NONE.value)
    notice_reason = models.TextField(blank=True)
    state_changed_at = models.DateTimeField(null=True, blank=True, help_text="When status or notice last changed.")

    derived_numbers = models.JSONField(
        default=list,
        blank=True,
        help_text=_("Numbers in the text that were computed from the study's figures, as written."),
    )
    source_ref = models.PositiveIntegerField(null=True, blank=True)
    empty_keys = ArrayField(
        models.CharField(max_length=40),
        default=list,
        blank=True,
        help_text="Keys that the imported file held without a value; an export gives them back.",
    )
    import_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the last imported draft.")
    indexed_by = models.CharField(
        max_length=250,
        blank=True,
        editable=False,
        db_collation="C",
        help_text="Space of the vectors that no passage or short text lacks; empty: they are looked for.",
    )

    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        ordering = ["study_id"]
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        indexes = [
            GinIndex(fields=["labels"], name="study_labels"),
            models.Index(fields=["status", "indexed_by", "id"], name="study_to_index"),
            models.Index(Lower("study_id"), name="study_by_low_id"),
        ]
        permissions = [
            ("publish_study", "Can publish and withdraw studies"),
            ("set_notice_study", "Can set a study's notice"),
            ("review_study", "Can publish what somebody else handed over for review"),
        ]
        constraints = [
            models.UniqueConstraint(
                Lower("doi"), name="study_doi_unique", violation_error_message=_("Another study has this DOI.")
            ),
            models.UniqueConstraint(fields=["pmid"], name="study_pmid_unique"),
            models.CheckConstraint(condition=one_of("status", records.Status), name="study_status_known"),
            models.CheckConstraint(condition=one_of("notice", records.Notice), name="study_notice_known"),
            models.CheckConstraint(
                condition=one_of("training_status", records.TrainingStatus), name="study_training_known"
            ),
            models.CheckConstraint(condition=one_of("age_group", records.AgeGroup), name="study_age_group_known"),
            models.CheckConstraint(condition=one_of("sex", records.Sex), name="study_sex_known"),
            models.CheckConstraint(
                condition=Q(duration_weeks_min__isnull=True)
                | Q(duration_weeks_max__isnull=True)
                | Q(duration_weeks_min__lte=F("duration_weeks_max")),
                name="study_duration_in_order",
                violation_error_message="The shortest duration is longer than the longest.",
            ),
            models.CheckConstraint(
                condition=~Q(title="") & ~Q(doi="") & ~Q(pmid="") & ~Q(url="") & ~Q(journal=""),
                name="study_absent_is_null",
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="study_version_positive"),
            models.CheckConstraint(
                condition=Q(risk_of_bias__isnull=True)
                | (Q(risk_of_bias__has_key="tool") & one_of("risk_of_bias__tool", BiasTool)),
                name="study_bias_tool_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("study", args=[self.study_id])

    @property
    def questions(self) -> list[str]:
        """Return the curated questions about the whole study."""
        return records.question_lines(self.asked_as)

    @property
    def bias(self) -> RiskOfBias | None:
        return bias_from_json(self.risk_of_bias)

    @property
    def is_searchable(self) -> bool:
        return self.status == records.Status.PUBLISHED and self.notice != records.Notice.RETRACTED


class PassageQuerySet(models.QuerySet["Passage"]):
    def searchable(self) -> PassageQuerySet:
        return self.filter(study__status=records.Status.PUBLISHED).exclude(study__notice=records.Notice.RETRACTED)


class OrdinaryPassages(models.Manager["Passage"]):
    """Passages without plain sentences, which are derived from a study's takeaway and its findings."""

    def get_queryset(self) -> PassageQuerySet:
        return PassageQuerySet(self.model, using=self._db).exclude(kind=records.PassageKind.PLAIN)

    def searchable(self) -> PassageQuerySet:
        return self.get_queryset().searchable()


class Passage(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    section = models.CharField(max_length=40, choices=choices(records.Section))
    page = models.PositiveIntegerField(null=True, blank=True)
    heading = models.CharField(max_length=1000, blank=True, help_text=_("The study's title, repeated for weighting."))
    text = models.TextField()
    kind = models.CharField(
        max_length=20, choices=choices(records.ORDINARY_KINDS), default=records.PassageKind.SUMMARY.value
    )
    finding = models.ForeignKey(
        "Finding",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        help_text="Of a plain sentence: the finding that it tells.",
    )
    source_heading = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        help_text="The headings above it in the source, outermost first: Results > Table 4.",
    )
    cited_works = models.JSONField(
        default=list,
        blank=True,
        editable=False,
        help_text="Works that the source cites here, by their place in the text; its marks are left out of the text.",
    )
    asked_as = models.TextField(
        blank=True,
        help_text="Questions that this passage answers, one a line. Readers’ questions are compared with these.",
    )
    version = models.PositiveIntegerField(default=1)
    content_hash = models.CharField(
        max_length=64, editable=False, help_text="SHA-256 of heading and text; see passages.content_hash."
    )
    text_changed_at = models.DateTimeField(null=True, blank=True, editable=False)
    index_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    index_error = models.TextField(blank=True, editable=False, help_text="Why the passage could not be indexed.")
    lexemes = models.GeneratedField(
        expression=WeightedLexemes("heading", "text"), output_field=SearchVectorField(), db_persist=True
    )

    objects = OrdinaryPassages()
    with_plain = models.Manager.from_queryset(PassageQuerySet)()

    class Meta:
        ordering = ["study", "position"]
        indexes = [GinIndex(fields=["lexemes"], name="passage_lexemes")]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "position"], name="passage_position_unique", deferrable=models.Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=one_of("section", records.Section), name="passage_section_known"),
            models.CheckConstraint(condition=one_of("kind", records.PassageKind), name="passage_kind_known"),
            models.CheckConstraint(condition=~Q(text=""), name="passage_text_present"),
            models.CheckConstraint(
                condition=Q(finding__isnull=True) | Q(kind=records.PassageKind.PLAIN.value),
                name="passage_of_finding_is_plain",
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="passage_version_positive"),
        ]

    def __str__(self) -> str:
        if self.kind == records.PassageKind.PLAIN:
            return f"{self.study.study_id} plain sentence"
        return f"{self.study.study_id} {self.section} {self.position + 1}"

    @property
    def questions(self) -> list[str]:
        """Return the curated questions that the passage answers."""
        return records.question_lines(self.asked_as)


class PassageSentence(models.Model):
    """A sentence of a passage: its code points `start` to `end`, and its vector once indexed."""

    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="sentences")
    position = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    role = models.CharField(
        max_length=20,
        blank=True,
        default="",
        help_text="Background, objective, method, result or conclusion; empty: unknown.",
    )
    self_containedness = models.FloatField(
        null=True, blank=True, help_text="From 0 to 1: how well the sentence is understood by itself; empty: unknown."
    )
    encoder = models.CharField(max_length=200, blank=True)
    vector = VectorField(null=True, blank=True)
    kept_encoder = models.CharField(max_length=200, blank=True, default="")
    kept_vector = VectorField(null=True, blank=True, help_text="Of the encoder before: while another one takes over.")

    class Meta:
        ordering = ["passage", "position"]
        constraints = [
            models.UniqueConstraint(fields=["passage", "position"], name="sentence_position_unique"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="sentence_not_empty"),
            models.CheckConstraint(
                condition=Q(vector__isnull=True, encoder="") | (Q(vector__isnull=False) & ~Q(encoder="")),
                name="sentence_vector_has_encoder",
            ),
            models.CheckConstraint(
                condition=Q(kept_vector__isnull=True, kept_encoder="")
                | (Q(kept_vector__isnull=False) & ~Q(kept_encoder="")),
                name="sentence_kept_vector_has_encoder",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.passage_id}:{self.start}-{self.end}"


class PassageVector(models.Model):
    """A passage's vector, in a table of its own that dense retrieval scans.

    Its numbers have 16 bits: memory limits the scan, and a cosine is off by some hundred-thousandths only.
    """

    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="vectors")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="+")
    encoder = models.CharField(max_length=200)
    content_hash = models.CharField(max_length=64)
    searchable = models.BooleanField(default=False)
    vector = HalfVectorField()

    class Meta:
        permissions = [("manage_vectors", "Can have passages embedded again and change the encoder")]
        constraints = [models.UniqueConstraint(fields=["passage", "encoder"], name="vector_once_per_encoder")]

    def __str__(self) -> str:
        return f"{self.passage_id} {self.encoder}"

    @staticmethod
    def ann_index(encoder: str, collection: str | None = None) -> str:
        """Return the name of the approximate index of an encoder's searchable vectors, for one collection or all."""
        digest = hashlib.sha256(f"{encoder}/{collection or ''}".encode()).hexdigest()
        return f"vector_ann_{digest[:16]}"


class PassageTerm(models.Model):
    """A posting of BM25: a lexeme of a searchable passage, with its frequency and the passage's length.

    Each passage also has a row of the empty lexeme: they give the number of passages and their mean length.
    """

    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="terms", db_index=False)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="+", db_index=False)
    lexeme = models.TextField()
    frequency = models.FloatField(help_text="Occurrences in the text, those in the heading weighted.")
    length = models.FloatField(help_text="The sum of the passage's frequencies, repeated here for the scan.")

    class Meta:
        indexes = [
            models.Index(
                fields=["lexeme", "passage"], include=["collection", "frequency", "length"], name="term_by_lexeme"
            ),
        ]
        constraints = [models.UniqueConstraint(fields=["passage", "lexeme"], name="term_once_per_passage")]

    def __str__(self) -> str:
        return f"{self.lexeme} {self.passage_id}"


class StudyWord(models.Model):
    """A word of a published study's passages, authors or title, or six words in a row of its title.

    Questions are read with these: whether a word is known, and which studies are named. Words of passages are those of
    studies that answers may use.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="words", db_index=False)
    field = models.CharField(max_length=10, choices=choices(records.WordField))
    word = models.TextField(db_collation="C")
    passages = models.PositiveIntegerField(default=0, help_text="Passages that contain it; 0 outside passages.")

    class Meta:
        indexes = [models.Index(fields=["word", "field", "study"], include=["passages"], name="study_by_word")]
        constraints = [models.UniqueConstraint(fields=["study", "field", "word"], name="word_once_per_study")]

    def __str__(self) -> str:
        return f"{self.word} {self.study_id}"


class Concept(models.Model):
    concept_id = models.SlugField(primary_key=True, max_length=80)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    definition = models.TextField(blank=True)
    wanted = models.CharField(
        max_length=10,
        choices=choices(records.Wanted),
        default=records.Wanted.NEITHER.value,
        help_text=_(
            "Of an outcome: whether more of it is a benefit (strength) or less (body fat). "
            "Says where studies stand that found a rise or a fall."
        ),
    )
    collections = models.ManyToManyField(Collection, through="ConceptCollection", related_name="concepts")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "concept_id"]
        constraints = [models.CheckConstraint(condition=one_of("wanted", records.Wanted), name="concept_wanted_known")]

    def __str__(self) -> str:
        return self.name


class ConceptCollection(models.Model):
    concept = models.ForeignKey(Concept, on_delete=models.CASCADE)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["concept", "position"]
        constraints = [models.UniqueConstraint(fields=["concept", "collection"], name="concept_collection_once")]

    def __str__(self) -> str:
        return f"{self.concept_id} in {self.collection_id}"


class ConceptAlias(models.Model):
    concept = models.ForeignKey(Concept, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=200)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["concept", "position"]
        verbose_name_plural = "concept aliases"
        constraints = [
            models.UniqueConstraint(
                Lower("name"), name="alias_names_one_concept", violation_error_message="Another concept has this alias."
            )
        ]

    def __str__(self) -> str:
        return self.name


class ConceptRelation(models.Model):
    source = models.ForeignKey(Concept, on_delete=models.CASCADE, related_name="relations_out")
    relation = models.CharField(max_length=40)
    target = models.ForeignKey(Concept, on_delete=models.CASCADE, related_name="relations_in")
    studies = models.ManyToManyField(Study, through="ConceptRelationStudy", related_name="relations")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["source", "relation", "target"], name="relation_once"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="relation_not_to_itself"),
        ]

    def __str__(self) -> str:
        return f"{self.source_id} {self.relation} {self.target_id}"


class ConceptRelationStudy(models.Model):
    relation = models.ForeignKey(ConceptRelation, on_delete=models.CASCADE)
    study = models.ForeignKey(Study, on_delete=models.CASCADE)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["relation", "position"]
        constraints = [models.UniqueConstraint(fields=["relation", "study"], name="relation_study_once")]

    def __str__(self) -> str:
        return f"{self.relation_id} {self.study_id}"


class StudyConcept(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE)
    concept = models.ForeignKey(Concept, on_delete=models.PROTECT)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "concept"], name="study_concept_once")]

    def __str__(self) -> str:
        return f"{self.study_id} {self.concept_id}"


class Finding(models.Model):
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="findings")
    position = models.PositiveIntegerField()
    intervention = models.TextField()
    comparator = models.TextField(blank=True)
    outcome = models.TextField()
    direction = models.CharField(max_length=30, choices=choices(records.Direction))
    statement = models.TextField()
    asked_as = models.TextField(
        blank=True,
        help_text="How readers ask for it, one question a line, in everyday words too. "
        "Their questions are compared with these.",
    )
    plain = models.TextField(
        "plain sentence",
        blank=True,
        help_text="The finding in one sentence of plain words, as it answers a reader’s question. "
        "It is quoted in answers.",
    )
    lean = models.CharField(
        max_length=30,
        choices=choices(records.Lean),
        blank=True,
        help_text="Whether the intervention clearly helped, or what was asked clearly rose. "
        "Never shown without the plain sentence.",
    )
    is_unconfirmed = models.BooleanField(
        "unconfirmed",
        default=False,
        help_text="Its figures stand in no passage: answers neither count nor quote it until this is taken away.",
    )
    effect_measure = models.CharField(
        "effect", max_length=40, choices=choices(EffectMeasure), blank=True, help_text="Empty: no figures are given."
    )
    effect_value = models.FloatField("value", null=True, blank=True)
    effect_lower = models.FloatField("lower bound", null=True, blank=True)
    effect_upper = models.FloatField("upper bound", null=True, blank=True)
    effect_level = models.FloatField("level", default=USUAL_LEVEL, help_text="Of the interval, in percent.")
    effect_unit = models.CharField("unit", max_length=40, blank=True, help_text="Of a mean difference, such as kg.")
    compared_lexemes = models.GeneratedField(
        expression=NameLexemes("intervention", "comparator"),
        output_field=SearchVectorField(),
        db_persist=True,
    )
    outcome_lexemes = models.GeneratedField(
        expression=NameLexemes("outcome"), output_field=SearchVectorField(), db_persist=True
    )

    class Meta:
        ordering = ["study", "position"]
        indexes = [
            GinIndex(fields=["compared_lexemes"], name="finding_compared"),
            GinIndex(fields=["outcome_lexemes"], name="finding_outcome"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "position"], name="finding_position_unique", deferrable=models.Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=one_of("direction", records.Direction), name="finding_direction_known"),
            models.CheckConstraint(condition=Q(lean="") | one_of("lean", records.Lean), name="finding_lean_known"),
            models.CheckConstraint(
                condition=Q(effect_measure="", effect_value__isnull=True, effect_lower__isnull=True)
                | (one_of("effect_measure", EffectMeasure) & Q(effect_value__isnull=False)),
                name="finding_effect_has_measure_and_value",
                violation_error_message="An effect has a measure and a value.",
            ),
            models.CheckConstraint(
                condition=Q(effect_lower__isnull=True, effect_upper__isnull=True)
                | Q(
                    effect_lower__isnull=False,
                    effect_upper__isnull=False,
                    effect_lower__lte=F("effect_value"),
                    effect_upper__gte=F("effect_value"),
                ),
                name="finding_effect_in_interval",
                violation_error_message="The interval of an effect has two bounds in order, and its value between.",
            ),
            models.CheckConstraint(
                condition=~Q(effect_measure__in=sorted(RATIO_MEASURES))
                | (Q(effect_value__gt=0) & (Q(effect_lower__isnull=True) | Q(effect_lower__gt=0))),
                name="finding_ratio_positive",
                violation_error_message="A ratio and its bounds are greater than 0.",
            ),
            models.CheckConstraint(
                condition=Q(effect_measure=EffectMeasure.MEAN_DIFFERENCE.value) & ~Q(effect_unit="")
                | ~Q(effect_measure=EffectMeasure.MEAN_DIFFERENCE.value) & Q(effect_unit=""),
                name="finding_unit_of_mean_difference",
                violation_error_message="A mean difference has a unit; other effects have none.",
            ),
            models.CheckConstraint(
                condition=Q(effect_level__gt=0, effect_level__lt=100),
                name="finding_effect_level_percent",
                violation_error_message="The level of an interval lies between 0 and 100 percent.",
            ),
        ]

    def __str__(self) -> str:
        return self.statement

    @property
    def questions(self) -> list[str]:
        """Return the curated questions about the finding."""
        return records.question_lines(self.asked_as)

    @property
    def effect(self) -> Effect | None:
        return effect_of(*(getattr(self, name) for name in EFFECT_FIELDS))


class OutcomeCertainty(models.Model):
    """The curators' judgement of the evidence for an intervention, an outcome and, where named, certain people."""

    intervention = models.ForeignKey(Concept, on_delete=models.PROTECT, related_name="+")
    outcome = models.ForeignKey(Concept, on_delete=models.PROTECT, related_name="+")
    age_group = models.CharField(
        max_length=40,
        choices=[("", "All ages"), *choices(records.ASKED_AGES)],
        blank=True,
        help_text="People that it is about.",
    )
    training_status = models.CharField(
        max_length=40, choices=[("", "Any training"), *choices(records.ASKED_TRAINING)], blank=True
    )
    sex = models.CharField(max_length=40, choices=[("", "Both sexes"), *choices(records.ASKED_SEXES)], blank=True)
    facets = models.JSONField(default=dict, blank=True, help_text="Values of other facets that it is about, by key.")
    level = models.CharField("certainty", max_length=20, choices=choices(CertaintyLevel))
    reasons = models.TextField(help_text="Why, one reason a line, in words for readers: answers show them.")
    position = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["position", "id"]
        verbose_name = "certainty"
        verbose_name_plural = "certainties"
        constraints = [
            models.UniqueConstraint(
                fields=["intervention", "outcome", "age_group", "training_status", "sex", "facets"],
                name="certainty_once",
                violation_error_message="The certainty of this intervention, outcome and facets is judged already.",
            ),
            models.CheckConstraint(condition=one_of("level", CertaintyLevel), name="certainty_level_known"),
            models.CheckConstraint(condition=~Q(intervention=F("outcome")), name="certainty_of_two_concepts"),
            models.CheckConstraint(condition=~Q(reasons=""), name="certainty_has_reasons"),
        ]

    def __str__(self) -> str:
        people = (self.age_group, self.training_status, self.sex)
        others = to_pairs(facets_from_json(self.facets))
        return ", ".join([f"{self.intervention_id} on {self.outcome_id}", *filter(None, people), *others])

    @property
    def reason_lines(self) -> list[str]:
        return self.reasons.splitlines()


class StudyComment(models.Model):
    """A comment by a curator on a study, which readers never see."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    author_name = models.CharField(max_length=200)
    at = models.DateTimeField()
    text = models.TextField(max_length=4_000)

    class Meta:
        ordering = ["study", "id"]
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="comment_says_something")]

    def __str__(self) -> str:
        return self.text[:80]


class PassageCheck(models.Model):
    """The stored result of the text-quality gate for a passage, so that publishing need not check it again."""

    passage = models.OneToOneField(Passage, on_delete=models.CASCADE, related_name="check_of_text")
    content_hash = models.CharField(max_length=64, help_text="The passage's content hash when it was checked.")
    gate = models.CharField(max_length=16, help_text="Which edition of the gate looked.")
    findings = models.JSONField(default=list)
    n_open = models.PositiveIntegerField(
        default=0, help_text="Findings that stand in the way of publishing and are not waived."
    )

    class Meta:
        indexes = [models.Index(fields=["passage"], condition=Q(n_open__gt=0), name="check_open")]

    def __str__(self) -> str:
        return f"{self.passage_id}: {self.n_open}"


class QualityWaiver(models.Model):
    """A curator's reason to accept a fault that the gate found; void when the passage's text changes."""

    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="waivers")
    kind = models.CharField(max_length=40)
    words = models.TextField(help_text="What the gate pointed at.")
    words_hash = models.CharField(max_length=64, help_text="SHA-256 of the passage's text and of the place in it.")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    by_name = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        ordering = ["passage", "id"]
        constraints = [
            models.UniqueConstraint(fields=["passage", "kind", "words_hash"], name="waiver_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


class Job(models.Model):
    """Work that somebody asked for and a worker does in the background; its row holds the progress."""

    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_by_name = models.CharField("asked by", max_length=200)
    asked_at = models.DateTimeField()
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True, help_text="When a worker last gave a sign of life.")
    finished_at = models.DateTimeField(null=True, blank=True)
    report = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, editable=False, help_text="Turns that began since the last progress."
    )

    class Meta:
        abstract = True


class ImportJob(Job):
    """An import of a file: parsed, previewed, confirmed, applied. A worker can resume it."""

    class Status(models.TextChoices):
        WAITING = "waiting", "Waiting to be read"
        READING = "reading", "Being read"
        PREVIEWED = "previewed", "Waiting for you to choose"
        CONFIRMED = "confirmed", "Waiting to be carried out"
        RUNNING = "running", "Being carried out"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    class Way(models.TextChoices):
        FILE = "file", "file"
        TEXT = "text", "pasted text"
        LOOKUP = "lookup", "look-up"
        ZOTERO = "zotero", "Zotero"

    way = models.CharField(max_length=10, choices=Way.choices, default=Way.FILE)
    file_name = models.CharField(max_length=300)
    content = models.BinaryField(help_text="The bytes as they came.")
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the bytes.")
    format = models.CharField(max_length=60, blank=True)
    options = models.JSONField(default=dict, blank=True)
    status = models.CharField(max_length=20, choices=Status.choices, default=Status.WAITING)
    problems = models.JSONField(default=list, blank=True, help_text="What was found in the file, by line.")

    class Meta:
        ordering = ["-id"]
        verbose_name = "import"
        indexes = [
            models.Index(
                fields=["id"],
                condition=Q(status__in=["waiting", "reading", "confirmed", "running"]),
                name="import_to_do",
            )
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def minutes_left(self) -> int | None:
        """Return how many minutes the present step should still take at its last rate; None when that is unknown."""
        rate = self.report.get("rate")
        return round((self.total - self.done) / rate / 60) if rate else None


class ImportItem(models.Model):
    """A study, notice or set of passages in an import, with its effect, choice and outcome."""

    class Kind(models.TextChoices):
        STUDY = "study", "study"
        PASSAGES = "passages", "passages"
        NOTICE = "notice", "notice"
        IDENTIFIER = "identifier", "identifier"
        ROW = "row", "row of a spreadsheet"

    class Effect(models.TextChoices):
        NEW = "new", "new"
        CHANGES = "changes", "changes"
        JOINS = "joins", "joins"
        SAME = "same", "same"
        DUPLICATE = "duplicate", "duplicate"
        ALIKE = "alike", "alike"
        CONFLICT = "conflict", "changed here since"
        UNMATCHED = "unmatched", _("for no study here")
        NOT_FOUND = "not_found", "not found"
        FAILED = "failed", "failed"

    class Outcome(models.TextChoices):
        CREATED = "created", "created"
        UPDATED = "updated", "changed"
        UNCHANGED = "unchanged", "unchanged"
        REFUSED = "refused", "refused"
        LEFT = "left", "left out"

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    study_key = models.CharField(max_length=40)
    title = models.CharField(max_length=1000, blank=True)
    line = models.PositiveIntegerField(null=True, blank=True)
    draft = models.JSONField()
    effect = models.CharField(max_length=10, choices=Effect.choices)
    other_key = models.CharField(max_length=40, blank=True, help_text=_("The study that it doubles or resembles."))
    note = models.TextField(blank=True, help_text="What was found of it.")
    doubt = models.TextField(blank=True, help_text="Why it is not chosen unless a curator does.")
    taken = models.JSONField(default=list, blank=True, help_text="Fields whose stored values it replaces as it joins.")
    n_passages = models.PositiveIntegerField(default=0)
    n_blocking = models.PositiveIntegerField(default=0, help_text="Findings of the gate that stand in the way.")
    chosen = models.BooleanField(default=False)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    outcome_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["job", "position"]
        constraints = [models.UniqueConstraint(fields=["job", "position"], name="import_item_once")]

    def __str__(self) -> str:
        return f"{self.study_key} {self.title}".strip()


class DistinctStudies(models.Model):
    """Two studies that a curator has told apart; ids, because one may still wait in an import."""

    first = models.CharField(max_length=40, help_text="The smaller of the two ids.")
    second = models.CharField(max_length=40)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    by_name = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="distinct_studies_once")]

    def __str__(self) -> str:
        return f"{self.first}, {self.second}"


class ZoteroLibrary(models.Model):
    """A Zotero library that one curator has connected; its key is stored encrypted."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="zotero_libraries")
    library = models.CharField(max_length=60, help_text="As Zotero's addresses name it: users/123 or groups/456.")
    encrypted_key = models.TextField()
    versions = models.JSONField(default=dict, help_text="The library version last fetched, by collection.")

    class Meta:
        ordering = ["library"]
        constraints = [models.UniqueConstraint(fields=["owner", "library"], name="zotero_library_once")]

    def __str__(self) -> str:
        return self.library


class SavedFilter(models.Model):
    """A filter of the list of studies under a name, for one curator or for the whole desk."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    query = models.CharField(
        "filter", max_length=2_000, help_text="What stands after the question mark in the address of the list."
    )
    is_shared = models.BooleanField("shared with the desk", default=False)

    class Meta:
        ordering = ["name", "pk"]
        default_permissions = ()  # whoever may see studies has filters of their own

    def __str__(self) -> str:
        return self.name


class BulkEdit(Job):
    """One act on many studies: chosen, previewed, confirmed, carried out in the background, undone in one act."""

    class Status(models.TextChoices):
        CHOSEN = "chosen", "Waiting for what to change"
        PREVIEWED = "previewed", "Waiting to be confirmed"
        CONFIRMED = "confirmed", "Waiting to be carried out"
        RUNNING = "running", "Being carried out"
        DONE = "done", "Done"
        CANCELLED = "cancelled", "Cancelled"
        FAILED = "failed", "Failed"

    status = models.CharField(max_length=20, choices=Status.choices, default=Status.CHOSEN)
    changes = models.JSONField(default=dict, blank=True, help_text="What changes, by field.")
    reason = models.TextField(blank=True)
    undoes = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="undone_by", help_text="What it undoes."
    )
    undoes_import = models.ForeignKey(
        ImportJob,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="undone_by",
        help_text="What it undoes.",
    )

    class Meta:
        ordering = ["-id"]
        verbose_name = "bulk edit"
        indexes = [
            models.Index(fields=["id"], condition=Q(status__in=["confirmed", "running"]), name="bulk_edit_to_do")
        ]

    def __str__(self) -> str:
        studies = f"{self.total:,} {_('study') if self.total == 1 else _('studies')}"
        if undone := self.changes.get("undone"):
            return f"{studies} put back: {undone}"
        if "merged_into" in self.changes:
            return f"Merge: {studies}"
        if status := self.changes.get("status"):
            return f"{actions.label(status)}: {studies}"
        fields = ", ".join(field.replace("_", " ") for field in sorted(self.changes))
        return f"{fields.capitalize()}: {studies}" if fields else f"{studies} chosen"


class BulkEditItem(models.Model):
    """A study of a bulk edit, with the version that the preview showed and what came of it."""

    class Outcome(models.TextChoices):
        CHANGED = "changed", "changed"
        UNCHANGED = "unchanged", "unchanged"
        REFUSED = "refused", "refused"

    bulk_edit = models.ForeignKey(BulkEdit, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    study_key = models.CharField(max_length=40)
    version = models.PositiveIntegerField(null=True, blank=True, help_text=_("The study's version in the preview."))
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    outcome_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["bulk_edit", "position"]
        constraints = [models.UniqueConstraint(fields=["bulk_edit", "position"], name="bulk_edit_item_once")]

    def __str__(self) -> str:
        return self.study_key


class ShortLexemes(models.Func):
    """A tsvector of a normalised text without a heading."""

    template = f"to_tsvector('{TEXT_SEARCH_CONFIG}', %(expressions)s)"
    output_field = SearchVectorField()


class StudyText(models.Model):
    """A short text of a study that questions are compared with, derived and immutable: new text means a new row."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="texts")
    kind = models.CharField(max_length=20, choices=choices(records.TextKind))
    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, null=True, blank=True, related_name="texts")
    passage = models.ForeignKey(
        Passage,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="texts",
        help_text="The passage that a question belongs to, or that quotes the plain sentence.",
    )
    position = models.PositiveIntegerField(help_text=_("Its place among the texts of its study."))
    text = models.TextField()
    lexemes = models.GeneratedField(
        expression=ShortLexemes(SearchText("text")), output_field=SearchVectorField(), db_persist=True
    )
    index_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    index_error = models.TextField(blank=True, editable=False, help_text="Why the text could not be indexed.")

    class Meta:
        ordering = ["study", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "position"], name="study_text_position_unique", deferrable=models.Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=one_of("kind", records.TextKind), name="study_text_kind_known"),
        ]

    def __str__(self) -> str:
        return self.text


class StudyTextVector(models.Model):
    """The vector of a short text, with 16-bit numbers as for passages."""

    text = models.ForeignKey(StudyText, on_delete=models.CASCADE, related_name="vectors", db_index=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+")
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20, choices=choices(records.TextKind))
    encoder = models.CharField(max_length=200)
    searchable = models.BooleanField(default=False)
    vector = HalfVectorField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["text", "encoder"], name="text_vector_once_per_encoder")]

    def __str__(self) -> str:
        return f"{self.text_id} {self.encoder}"

    @staticmethod
    def ann_index(encoder: str, kind: str) -> str:
        """Return the name of the approximate index of an encoder's searchable vectors of one kind."""
        return f"text_ann_{hashlib.sha256(f'{encoder}/{kind}'.encode()).hexdigest()[:16]}"


class StudyTextTerm(models.Model):
    """A posting of BM25 among short texts of one kind, like `PassageTerm`."""

    text = models.ForeignKey(StudyText, on_delete=models.CASCADE, related_name="terms", db_index=False)
    study = models.ForeignKey(  # goes with its text
        Study, on_delete=models.DO_NOTHING, related_name="+", db_index=False, db_constraint=False
    )
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=20, choices=choices(records.TextKind))
    lexeme = models.TextField()
    frequency = models.FloatField()
    length = models.FloatField(help_text="The sum of the text's frequencies, repeated here for the scan.")

    class Meta:
        indexes = [
            models.Index(
                fields=["lexeme", "kind", "text"],
                include=["study", "collection", "frequency", "length"],
                name="text_term_by_lexeme",
            ),
        ]
        constraints = [models.UniqueConstraint(fields=["text", "lexeme"], name="text_term_once_per_text")]

    def __str__(self) -> str:
        return f"{self.lexeme} {self.text_id}"


class ApproximateIndex(models.Model):
    """An HNSW index of vectors, with the length of its candidate list that reaches the recall."""

    name = models.CharField(primary_key=True, max_length=63, help_text="Of the index in the database.")
    encoder = models.CharField(max_length=250, help_text="Of short texts: the space of their vectors.")
    collection = models.CharField(max_length=60, blank=True, help_text="Empty: all collections.")
    kind = models.CharField(max_length=20, blank=True, choices=choices(records.TextKind), help_text="Empty: passages.")
    dimensions = models.PositiveSmallIntegerField()
    vectors = models.PositiveIntegerField(help_text="When the recall was measured.")
    ef_search = models.PositiveSmallIntegerField(null=True, help_text="Null: it is not built yet.")
    recall = models.FloatField(null=True, help_text="The mean share of the 20 nearest texts that are found.")
    measured_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["encoder", "kind", "collection"]
        default_permissions = ()
        verbose_name_plural = "approximate indexes"

    def __str__(self) -> str:
        kind = self.get_kind_display() if self.kind else "Passage"
        return f"{kind}, {self.collection}" if self.collection else str(kind)

    @property
    def percent_found(self) -> str:
        return f"{100 * (self.recall or 0.0):.1f}"


class IndexBatch(models.Model):
    """A batch of passages or short texts that a worker embeds, or embedded lately."""

    worker = models.CharField(max_length=200, help_text="Machine, process and thread.")
    studies = ArrayField(models.BigIntegerField(), help_text="Primary keys: other workers leave them alone meanwhile.")
    passages = models.PositiveIntegerField(help_text="0: short texts.")
    claimed_at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        ordering = ["pk"]
        default_permissions = ()
        verbose_name_plural = "index batches"

    def __str__(self) -> str:
        return f"{self.worker}: {self.passages}"


class TermStatistics(models.Model):
    """A change of a lexeme's statistics among texts of one kind; their sum is what BM25 needs of the lexeme.

    Triggers on the postings write a row for each lexeme that a statement changes, so writers never wait for each other.
    The row of the empty lexeme gives the number of texts and their lengths.
    """

    kind = models.CharField(max_length=20, choices=[("passage", "Passage"), *choices(records.TextKind)])
    lexeme = models.TextField()
    texts = models.BigIntegerField(help_text="Texts with the lexeme that were added, less those removed.")
    total_length = models.FloatField(help_text="The lengths of those added, less those removed.")
    max_frequency = models.FloatField(help_text="The highest frequency of the lexeme among them.")
    min_length = models.FloatField(help_text="The length of the shortest of them.")

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["lexeme", "kind"], name="statistics_by_lexeme")]

    def __str__(self) -> str:
        return f"{self.kind} {self.lexeme}"


class CorpusLexicon(models.Model):
    """A word list for the corpus's subject, with the content of the file of this name in its folder `lexicon`."""

    name = models.SlugField(unique=True, max_length=60)
    content = models.TextField(help_text="TOML.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "corpus lexica"

    def __str__(self) -> str:
        return self.name


class EncoderChoice(models.Model):
    """The encoder that was chosen at the desk; at most one row, and none while INFORM_ENCODER decides."""

    name = models.CharField(max_length=200)
    keeps = models.CharField(max_length=200, blank=True, help_text="The encoder whose vectors are kept.")
    configured = models.CharField(max_length=200, help_text="INFORM_ENCODER at that time.")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="encoder_choice_once")]

    def __str__(self) -> str:
        return self.name


class CorpusVersion(models.Model):
    """A version number that rises with every change visible to readers."""

    number = models.PositiveIntegerField(primary_key=True)
    at = models.DateTimeField()
    summary = models.CharField(max_length=300)

    class Meta:
        ordering = ["-number"]

    def __str__(self) -> str:
        return f"{self.number}: {self.summary}"


class CorpusEvent(models.Model):
    """An entry of the audit log: actor, action, time. Entries of a deleted study remain, without its text."""

    at = models.DateTimeField()
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    actor_name = models.CharField(
        max_length=200, help_text="As it was then; the command's name where nobody was signed in."
    )
    action = models.CharField(max_length=40)
    study_key = models.CharField(max_length=40, blank=True, db_index=True)
    passage_key = models.BigIntegerField(null=True, blank=True)
    detail = models.JSONField(default=dict, blank=True)
    reason = models.TextField(blank=True)
    corpus_version = models.ForeignKey(
        CorpusVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="events"
    )
    import_job = models.ForeignKey(
        ImportJob,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="events",
        help_text="Whose part it is.",
    )
    bulk_edit = models.ForeignKey(
        BulkEdit, on_delete=models.SET_NULL, null=True, blank=True, related_name="events", help_text="Whose part it is."
    )

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["action", "-id"], name="event_by_action")]

    def __str__(self) -> str:
        at = date_format(timezone.localtime(self.at), "DATETIME_FORMAT")
        return ", ".join(filter(None, (at, self.actor_name, str(_(actions.label(self.action))), self.study_key)))
