"""Serializers of gaps, golden questions and evaluation runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import BooleanField, CharField, ChoiceField, DateTimeField, IntegerField

from qa_app import models
from qa_app.api.shapes import MODES, OUTCOMES, Shape, texts
from qa_app.feedback import gaps


class ListedGap(Shape):
    gap_id = IntegerField(source="pk")
    version = serializers.SerializerMethodField(help_text="What If-Match takes.")
    question = CharField(help_text="As it was first asked.")
    collection = CharField(help_text="The one that was asked; empty for the whole corpus.")
    outcome = ChoiceField(choices=OUTCOMES, help_text="What came of it the last time.")
    asked = IntegerField(source="demanded", help_text="How often, in whatever words.")
    status = ChoiceField(choices=models.Gap.Status.values)
    assigned_to = CharField(source="assigned_to.username", default=None, allow_null=True)
    note = CharField()
    first_asked_at = DateTimeField()
    last_asked_at = DateTimeField()

    def get_version(self, gap: models.Gap) -> str:
        return gaps.version_of(gap)


class AskedAs(Shape):
    question = CharField()
    asked = IntegerField()


class Nearest(Shape):
    study_id = CharField()
    title = CharField()
    section = CharField()
    text = CharField()


class Gap(ListedGap):
    asked_as = serializers.SerializerMethodField(help_text="The words it was asked in.")
    missing = texts("Words of the question that the nearest passages do not hold.")
    nearest = serializers.SerializerMethodField(help_text="The evidence that comes nearest.")
    search_string = serializers.SerializerMethodField(help_text="For a literature search.")
    answered_by = CharField(source="result_id", allow_null=True, help_text="The answer it got when it was asked again.")
    asked_again_version = IntegerField(allow_null=True, help_text="The corpus version that was last asked.")

    @extend_schema_field(AskedAs(many=True))
    def get_asked_as(self, gap: models.Gap) -> Any:
        return AskedAs(gaps.list_members(gap), many=True).data

    @extend_schema_field(Nearest(many=True))
    def get_nearest(self, gap: models.Gap) -> Any:
        return Nearest(gaps.nearest(gap.last_answer), many=True).data

    def get_search_string(self, gap: models.Gap) -> str:
        return gaps.search_string(gap)


class GapBody(Shape):
    status = ChoiceField(choices=models.Gap.Status.values, required=False)
    assigned_to = CharField(required=False, allow_null=True, help_text="A username at the desk, or null for nobody.")
    note = CharField(required=False, allow_blank=True, max_length=2_000)


@extend_schema_field({"type": "object", "additionalProperties": {"type": "integer", "enum": [1, 2]}})
class Grades(serializers.JSONField):
    """Grades by study id."""


@extend_schema_field({"type": "array", "items": {}})
class Rows(serializers.JSONField):
    """Rows in the format of a golden file."""


class GoldenQuestion(Shape):
    key = CharField()
    question = CharField()
    mode = ChoiceField(choices=MODES)
    kind = CharField()
    collection = CharField(allow_null=True)
    relevant = Grades(help_text="2 answers it, 1 bears on it.")
    answer_points = Rows()
    sections = Rows()
    note = CharField()
    is_active = BooleanField()


class ListedRun(Shape):
    run_id = IntegerField(source="pk")
    status = ChoiceField(choices=models.EvaluationRun.Status.values)
    asked_at = DateTimeField()
    asked_by = CharField(source="asked_by.username", default=None, allow_null=True)
    finished_at = DateTimeField(allow_null=True)
    done = IntegerField(help_text="Questions asked so far.")
    total = IntegerField()
    passing = serializers.SerializerMethodField(
        help_text="Questions that came out as they should; null before it is done."
    )
    corpus_version = IntegerField(allow_null=True)
    policy = CharField()

    @extend_schema_field({"type": ["integer", "null"]})
    def get_passing(self, run: models.EvaluationRun) -> int | None:
        return sum(bool(row["passes"]) for row in run.results) if run.status == "done" else None


@extend_schema_field({"type": "object", "additionalProperties": True})
class Figures(serializers.JSONField):
    """Nested figures by name."""


class Result(Shape):
    id = CharField(help_text="The golden question's key.")
    question = CharField()
    outcome = ChoiceField(choices=OUTCOMES)
    cited = texts("Ids of studies.")
    passes = BooleanField()


class Run(ListedRun):
    engine = CharField()
    error = CharField()
    figures = Figures()
    results = Result(many=True)
