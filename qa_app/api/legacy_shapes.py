"""Serializers of the predecessor systems' endpoints, see docs/legacy.md."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample
from rest_framework.fields import (
    BooleanField,
    CharField,
    ChoiceField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
)

from qa_app.answers import asking
from qa_app.api import shapes
from qa_app.api.shapes import Shape, texts

WRITES = "true: a language model, where one is set up; false: quotations only; left out: who the site has set up."


class LegacyQuestion(Shape):
    query = CharField(max_length=asking.MAX_QUESTION_LENGTH)
    mode = ChoiceField(
        choices=shapes.MODES, required=False, allow_null=True, help_text="`beginner` where it is left out."
    )
    collection = CharField(required=False, allow_null=True, help_text="Slug of the collection to search first.")
    use_llm = BooleanField(required=False, allow_null=True, help_text=WRITES)
    top_k_passages = IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=asking.MAX_PASSAGES,
        help_text="12 where it is left out.",
    )
    max_studies = IntegerField(
        required=False, allow_null=True, min_value=1, max_value=asking.MAX_STUDIES, help_text="5 where it is left out."
    )


class LegacyPartRequest(Shape):
    request_id = CharField(help_text="As /api/unified-search gave it.")
    query = CharField(required=False, allow_null=True, help_text="Not read: the id stands for it.")
    selected_chunks = ListField(
        child=DictField(), required=False, allow_null=True, help_text="Not read; an empty list is refused."
    )
    use_llm = BooleanField(required=False, allow_null=True, help_text=WRITES)


class LegacyConfidence(Shape):
    value = IntegerField(min_value=0, max_value=100)
    label = ChoiceField(choices=shapes.LEVELS)  # type: ignore[assignment]


class LegacyNamed(shapes.Named):
    pass


class LegacyCitation(shapes.Source):
    pmidOrDoi = CharField(allow_null=True)


class LegacyChunk(Shape):
    id = IntegerField()
    title = CharField()
    pmidOrDoi = CharField(allow_null=True)
    section = CharField()
    text = CharField()


class LegacyPassage(shapes.Found):
    id = IntegerField()


class LegacyJudged(Shape):
    query = CharField()
    confidence = LegacyConfidence(allow_null=True, help_text="Null where there is no answer.")
    sources_used = texts("Ids of the studies cited.")
    top_passages = LegacyPassage(
        many=True, help_text="The first five; beside a refusal the nearest, which are no answer."
    )
    outcome = ChoiceField(choices=shapes.OUTCOMES)
    code = ChoiceField(choices=shapes.CODES, allow_null=True)
    message = CharField(allow_null=True)
    answer_id = CharField()
    url = CharField()


class LegacyAnswer(LegacyJudged):
    mode = ChoiceField(choices=shapes.MODES)
    answer = CharField(help_text="Summary and answer in one, with markers.")
    backend = ChoiceField(choices=("extractive", "llm"))
    citations = LegacyNamed(many=True)
    studies = shapes.Citation(many=True)


class LegacySearch(LegacyJudged):
    success = BooleanField()
    request_id = CharField(help_text="Live for a quarter of an hour.")
    summary = CharField()
    answer = CharField()
    citations = LegacyCitation(many=True)
    retrieval_latency_ms = FloatField()
    summary_latency_ms = FloatField()
    answer_latency_ms = FloatField()
    total_chunks = IntegerField()
    chunks_used_summary = IntegerField()
    chunks_used_answer = IntegerField()
    selected_chunks = LegacyChunk(many=True)


class LegacyPart(Shape):
    success = BooleanField()
    request_id = CharField()
    query = CharField()
    citations = LegacyCitation(many=True, help_text="Numbered within the part.")
    total_chunks = IntegerField()
    selected_chunks = LegacyChunk(many=True)
    sources_used = texts()
    top_passages = LegacyPassage(many=True)
    code = CharField(allow_null=True)
    backend = ChoiceField(choices=("extractive", "llm"))
    summary = CharField(required=False, help_text="From /api/quick-summary.")
    summary_latency_ms = FloatField(required=False)
    chunks_used_summary = IntegerField(required=False)
    answer = CharField(required=False, help_text="From /api/detailed-answer.")
    answer_latency_ms = FloatField(required=False)
    chunks_used_answer = IntegerField(required=False)


class LegacyError(Shape):
    field = CharField(allow_blank=True)
    code = CharField()
    detail = CharField()


class LegacyFailure(Shape):
    success = BooleanField(help_text="false")
    error = CharField(help_text="What to do.")
    code = CharField(help_text="As `INVALID`, `REQUEST_EXPIRED`, `RAG_NO_ANSWER`.")
    errors = LegacyError(many=True)  # type: ignore[assignment]
    request_id = CharField(required=False)
    summary = CharField(required=False, help_text="The sentence for too little evidence.")
    answer = CharField(required=False, help_text="The same.")
    citations = ListField(child=DictField(), required=False)
    total_chunks = IntegerField(required=False)


REFUSED: dict[int, Any] = dict.fromkeys((400, 401, 403, 404, 405, 406, 413, 415, 429, 503), LegacyFailure)
REFUSED_PART: dict[int, Any] = REFUSED | dict.fromkeys((410, 422), LegacyFailure)
ASKED = OpenApiExample("A question", value={"query": "How much shade do city streets need?"}, request_only=True)
PART_ASKED = OpenApiExample("A part", value={"request_id": "577914d7-71cc-435c-b6a6-32dfbda37880"}, request_only=True)
