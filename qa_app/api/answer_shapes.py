"""Serializers and schema parts for lists of answers, replays, feedback and files."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework.fields import BooleanField, CharField, ChoiceField, DateTimeField, IntegerField, ListField

from qa_app.answers import exporting
from qa_app.api import shapes
from qa_app.api.shapes import Shape, texts
from qa_app.feedback import ratings


class OwnAnswer(Shape):
    id = CharField()
    url = CharField()
    question = CharField()
    mode = ChoiceField(choices=shapes.MODES)
    collection = CharField(allow_null=True)
    outcome = ChoiceField(choices=shapes.OUTCOMES)
    corpus_version = IntegerField()
    created_at = DateTimeField()


class OwnAnswers(Shape):
    items = OwnAnswer(many=True, help_text="Newest first.")
    next = CharField(allow_null=True, help_text="Where the next page is; null on the last one.")


@extend_schema_field({"type": "array", "items": {"type": "string"}})
class Lines(ListField):
    """Lines that are gone (-) and new (+)."""


class Replay(Shape):
    id = CharField()
    is_same = BooleanField(help_text="To the byte, but for times.")
    changed = texts("What is not as it was: engine, corpus, encoder. Empty where the bytes must be the same.")
    differences = Lines(allow_null=True, help_text="Line by line; null where a source was withdrawn since.")


class FeedbackRequest(Shape):
    helpful = BooleanField()
    reasons = ListField(
        child=ChoiceField(choices=[code for code, _ in ratings.feedback_reasons()]), required=False, allow_null=True
    )
    words = CharField(required=False, allow_null=True, allow_blank=True, max_length=ratings.MAX_FEEDBACK_LENGTH)
    amends = CharField(required=False, allow_null=True, help_text="Id of the feedback that this takes the place of.")


class FeedbackGiven(Shape):
    id = CharField(help_text="Send it as `amends` to change what was said.")
    answer = CharField()
    helpful = BooleanField()
    reasons = texts()
    words = CharField(allow_blank=True)
    given_at = DateTimeField()


PAGES = [
    OpenApiParameter("cursor", str, description="From `next` or `previous`."),
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", {"type": "string", "pattern": "^[!-~]{1,255}$"}, location=OpenApiParameter.HEADER,
    description="The same key and question give the same answer again for a day (200).",
)  # fmt: skip
FORMAT = OpenApiParameter("format", str, enum=list(exporting.FORMS), description="A file instead of JSON.")
FORMAT_NEEDED = OpenApiParameter("format", str, enum=list(exporting.FORMS), required=True)
_SOURCES = {"type": "array", "items": {"type": "object", "additionalProperties": True}}
_TYPES = [form.content_type.partition(";")[0] for form in exporting.FORMS.values()]
FILES: dict[Any, Any] = {
    (200, kind): OpenApiResponse(
        _SOURCES if kind.endswith("+json") else OpenApiTypes.STR, description="The answer in this form."
    )
    for kind in _TYPES
}  # fmt: skip
BUNDLE: dict[Any, Any] = {
    (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, description="Check it with the verify.py in it.")
}
CONFLICT: dict[Any, Any] = {(409, "application/problem+json"): OpenApiTypes.OBJECT}
REUSED: dict[Any, Any] = CONFLICT | {(422, "application/problem+json"): OpenApiTypes.OBJECT}
JUDGED = OpenApiExample(
    "Hard to read", value={"helpful": False, "reasons": ["hard"], "words": "Too many figures."}, request_only=True
)
