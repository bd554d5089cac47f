"""Serializers of the desk's API: rows as curators see them, drafts included."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
)

from corpus_app import records
from corpus_app.api.shapes import BiasAssessment, EffectSize, Shape, choice, texts
from corpus_app.appraisal import CertaintyLevel
from corpus_app.models import BulkEdit, BulkEditItem, ImportItem, ImportJob, Passage, Study
from corpus_app.sources import Weight


class Words(CharField):
    """A text of the program, stored with the noun study, in the nouns of the site."""

    def to_representation(self, value: Any) -> str:
        return gettext(super().to_representation(value))


class DeskFinding(Shape):
    finding_id = IntegerField(source="pk")
    intervention = CharField()
    comparator = CharField()
    outcome = CharField()
    direction = choice(records.Direction)
    statement = CharField()
    plain = CharField(help_text="In one sentence of plain words; empty where nobody has written it.")
    lean = ChoiceField([value.value for value in records.Lean], allow_blank=True)
    unconfirmed = BooleanField(source="is_unconfirmed", help_text="Answers neither count nor quote it.")
    asked_as = texts("How readers ask for it.", source="questions")
    effect = EffectSize(allow_null=True, help_text="Its figures as numbers; null where nobody has entered them.")


class DeskPassage(Shape):
    passage_id = IntegerField(source="pk")
    version = IntegerField(help_text="Of its words. If-Match takes the study's version.")
    position = IntegerField()
    section = choice(records.Section)
    page = IntegerField(allow_null=True)
    kind = choice(records.PassageKind)
    source_heading = CharField(help_text="The headings above it in the source, outermost first; may be empty.")
    text = CharField()
    asked_as = texts("Questions that it answers.", source="questions")


class OneDeskPassage(DeskPassage):
    study_id = CharField(source="study.study_id")
    study_version = IntegerField(source="study.version", help_text="What If-Match takes.")


class ListedDeskStudy(Shape):
    study_id = CharField()
    version = IntegerField(help_text="Rises with every change; If-Match takes it.")
    status = choice(records.Status)
    notice = choice(records.Notice)
    title = CharField()
    year = IntegerField(allow_null=True)
    design = CharField(help_text="The design of the study, or the kind of source as this corpus names it.")
    collection = CharField(source="collection_id", help_text="Slug of its collection.")
    updated_at = DateTimeField()


class DeskWeeks(Shape):
    shortest = FloatField(source="duration_weeks_min", allow_null=True)
    longest = FloatField(source="duration_weeks_max", allow_null=True)


class DeskStudy(ListedDeskStudy):
    status_reason = CharField()
    notice_reason = CharField()
    state_changed_at = DateTimeField(allow_null=True)
    created_at = DateTimeField()
    authors = texts()
    journal = CharField(allow_null=True)
    doi = CharField(allow_null=True)
    pmid = CharField(allow_null=True)
    url = CharField(allow_null=True)
    peer_reviewed = BooleanField()
    population = CharField()
    training_status = choice(records.TrainingStatus)
    age_group = choice(records.AgeGroup)
    sex = choice(records.Sex)
    facets = DictField(child=texts(), help_text="Values of the other facets that this corpus declares, by facet.")
    included_studies = IntegerField(source="n_studies", allow_null=True)
    participants = IntegerField(source="n_participants", allow_null=True)
    weeks = DeskWeeks(source="*")
    takeaway = CharField()
    asked_as = texts("Questions that it answers as a whole.", source="questions")
    licence = CharField()
    curator_notes = CharField()
    labels = texts("Curators' words to sort studies by.")
    source_ref = IntegerField(allow_null=True)
    concepts = serializers.SerializerMethodField(help_text="Ids, in the curator's order.")
    findings = serializers.SerializerMethodField()
    risk_of_bias = BiasAssessment(source="bias", allow_null=True)
    passages = serializers.SerializerMethodField(help_text="In their order.")

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_concepts(self, study: Study) -> list[str]:
        return list(study.studyconcept_set.order_by("position").values_list("concept_id", flat=True))

    @extend_schema_field(DeskFinding(many=True))
    def get_findings(self, study: Study) -> Any:
        return DeskFinding(study.findings.order_by("position", "pk"), many=True).data

    @extend_schema_field(DeskPassage(many=True))
    def get_passages(self, study: Study) -> Any:
        return DeskPassage(Passage.objects.filter(study=study).order_by("position", "pk"), many=True).data


class DeskCertainty(Shape):
    certainty_id = IntegerField(source="pk")
    intervention = CharField(source="intervention_id", help_text="A concept's id.")
    outcome = CharField(source="outcome_id", help_text="A concept's id.")
    age_group = choice(records.AgeGroup, allow_blank=True, help_text="Empty: people of all ages.")
    training_status = choice(records.TrainingStatus, allow_blank=True, help_text="Empty: of any training.")
    sex = choice(records.Sex, allow_blank=True, help_text="Empty: of both sexes.")
    facets = DictField(child=texts(), help_text="Values of other facets that it is about, by facet.")
    level = choice(CertaintyLevel)
    reasons = texts("Why, in words for readers.", source="reason_lines")


class Comment(Shape):
    comment_id = IntegerField(source="pk")
    at = DateTimeField()
    by = CharField(source="author_name")
    text = CharField()


@extend_schema_field({"type": "object", "additionalProperties": True})
class Detail(serializers.JSONField):
    """Details of an event; its action determines the keys."""


class Event(Shape):
    event_id = IntegerField(source="pk")
    at = DateTimeField()
    by = CharField(source="actor_name", help_text="Who did it; a command's name where nobody was signed in.")
    action = CharField(help_text="As `create_study`, `revise_passage`, `publish`.")
    reason = CharField()
    passage_id = IntegerField(source="passage_key", allow_null=True)
    detail = Detail()
    corpus_version = IntegerField(
        source="corpus_version_id", allow_null=True, help_text="Null where readers could notice nothing of it."
    )


@extend_schema_field({"type": "object", "additionalProperties": {"type": "integer"}})
class Counts(serializers.DictField):
    """Numbers by name."""


class ListedImport(Shape):
    import_id = IntegerField(source="pk")
    file_name = CharField()
    asked_by = CharField(source="asked_by_name")
    asked_at = DateTimeField()
    status = ChoiceField(
        choices=ImportJob.Status.values,
        help_text="`previewed` waits to be confirmed; `done` and `failed` have ended.",
    )
    done = IntegerField(help_text="How far it is.")
    total = IntegerField()


class Import(ListedImport):
    sha256 = CharField(source="content_hash", help_text="Of the file as it came.")
    format = CharField(help_text="What the file was read as; empty before it is read.")
    finished_at = DateTimeField(allow_null=True)
    error = Words(help_text="Why it failed.")
    effects = serializers.SerializerMethodField(help_text="How many items there are of each effect.")
    outcomes = serializers.SerializerMethodField(help_text="What came of them, once it is done.")
    problems = serializers.SerializerMethodField(help_text="How many were found in the file.")
    published = serializers.SerializerMethodField(help_text="Ids of studies that it published.")
    not_published = serializers.SerializerMethodField(help_text="Why nothing was published though it was asked for.")

    @extend_schema_field(Counts)
    def get_effects(self, job: Any) -> dict[str, int]:
        return {effect.value: n for effect, n in job.effects.items()}

    @extend_schema_field(Counts)
    def get_outcomes(self, job: ImportJob) -> dict[str, int]:
        return {outcome: n for outcome, n in job.report.get("outcomes", {}).items() if outcome}

    def get_problems(self, job: ImportJob) -> int:
        return int(job.report.get("problems", 0))

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_published(self, job: ImportJob) -> list[str]:
        return list(job.report.get("published", []))

    def get_not_published(self, job: ImportJob) -> str:
        return str(job.report.get("not_published", ""))


class DeskBulkEdit(Shape):
    bulk_edit_id = IntegerField(source="pk")
    title = CharField(source="*", help_text="As the history names it.")
    asked_by = CharField(source="asked_by_name")
    asked_at = DateTimeField()
    status = ChoiceField(
        choices=BulkEdit.Status.values,
        help_text="`previewed` waits to be confirmed; `done`, `cancelled` and `failed` have ended.",
    )
    done = IntegerField(help_text="How far it is.")
    total = IntegerField()
    changes = Detail(help_text="What changes, by field.")
    reason = CharField()
    undoes = IntegerField(source="undoes_id", allow_null=True, help_text="Id of the bulk edit that it undoes.")
    undoes_import = IntegerField(
        source="undoes_import_id", allow_null=True, help_text="Id of the import that it undoes."
    )
    finished_at = DateTimeField(allow_null=True)
    error = Words(help_text="Why it failed.")
    outcomes = serializers.SerializerMethodField(help_text="What came of the studies, once they are reached.")

    @extend_schema_field(Counts)
    def get_outcomes(self, edit: BulkEdit) -> dict[str, int]:
        return dict(edit.report.get("outcomes", {}))


class Changed(Shape):
    field = CharField()
    before = CharField()
    after = CharField()


class DeskBulkEditItem(Shape):
    study_id = CharField(source="study_key")
    differences = Changed(many=True, help_text="Before it is confirmed: what would change.")
    refusal = Words(help_text="Before it is confirmed: why the study would stay as it is; else empty.")
    outcome = ChoiceField(choices=["", *BulkEditItem.Outcome.values])
    outcome_reason = Words()


class FileProblem(Shape):
    file = CharField()
    line = IntegerField(allow_null=True)
    field = CharField(help_text="Empty where the whole record or file is meant.")
    reason = Words(help_text="What to correct.")
    weight = choice(Weight)


class Item(Shape):
    item_id = IntegerField(source="pk")
    line = IntegerField(allow_null=True)
    kind = ChoiceField(choices=ImportItem.Kind.values)
    study_id = CharField(source="study_key")
    title = CharField()
    effect = ChoiceField(
        choices=ImportItem.Effect.values,
        help_text="What it would do. Only `new`, `changes`, `joins` and `alike` can be brought in; `joins` fills "
        "and adds to `other_id`. Of a list that was looked up, `not_found` and `failed` say so of an identifier.",
    )
    other_id = CharField(source="other_key", help_text="The study that it doubles or resembles.")
    note = Words(help_text="What was found of it, where it was looked up.")
    doubt = Words(help_text="Why it is not chosen unless somebody does; empty where nothing speaks against it.")
    passages = IntegerField(source="n_passages", help_text="Of `joins`: those that it adds.")
    broken = IntegerField(
        source="n_blocking", help_text="Places in its text that look broken and stand in the way of publishing."
    )
    chosen = BooleanField()
    differences = Changed(many=True, help_text="Before it is confirmed: how the study here would differ.")
    problems = FileProblem(many=True, help_text="Of its line.")
    outcome = ChoiceField(choices=["", *ImportItem.Outcome.values])
    outcome_reason = Words()
