"""What the API says of questions and answers, for the schema: docs/contract.md, field by field.

They describe; payloads are sent as they are stored. A test holds real payloads against them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema_field
from rest_framework import serializers
from rest_framework.fields import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    DictField,
    FloatField,
    IntegerField,
    ListField,
)

from qa_app.answers import asking

if TYPE_CHECKING:  # generic for the type checker alone
    Shape = serializers.Serializer[Any]
else:
    Shape = serializers.Serializer

MODES = ("beginner", "intermediate")
OUTCOMES = ("answered", "partial", "conflicting", "insufficient_evidence", "out_of_scope", "guardrail")
CODES = ("RAG_NO_ANSWER", "OUT_OF_SCOPE", "GUARDRAIL")
NOTICES = ("none", "corrected", "expression_of_concern", "retracted")
SEARCHED = ("collection", "global", "collection_then_global")
LEVELS = ("low", "medium", "high")
VERDICTS = ("yes", "no", "no_clear_difference", "depends", "number", "list", "explanation")


@extend_schema_field({"type": "object", "additionalProperties": {"type": ["number", "null"]}})
class Numbers(serializers.DictField):
    """Figures by name."""


@extend_schema_field(
    {
        "type": "object",
        "properties": {
            "from": {"type": "integer", "description": "The first year."},
            "to": {"type": "integer", "description": "The last year."},
            "collection": {"type": "array", "items": {"type": "string"}},
            "design": {"type": "array", "items": {"type": "string"}},
        },
        "additionalProperties": {"type": "array", "items": {"type": "string"}},
    }
)
class Filters(serializers.DictField):
    """Filters on studies, named as those of `/studies`; facets of the corpus by their names."""


@extend_schema_field({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2})
class Span(serializers.ListField):
    """Start and end in code points, end exclusive."""


def texts(help_text: str = "", *, required: bool = True) -> ListField:
    return ListField(child=CharField(), help_text=help_text, required=required)


def numbers(help_text: str = "") -> ListField:
    return ListField(child=IntegerField(), help_text=help_text)


class AnswerRequest(Shape):
    question = CharField(max_length=asking.MAX_QUESTION_LENGTH, help_text="1 to 2,000 characters after trimming.")
    mode = ChoiceField(
        choices=MODES, required=False, allow_null=True, help_text="Whom to write for; `beginner` where it is left out."
    )
    collection = CharField(required=False, allow_null=True, help_text="Slug of the collection to search first.")
    writer = ChoiceField(
        choices=asking.WRITERS, required=False, allow_null=True, help_text="`auto` where it is left out."
    )
    parent = CharField(  # type: ignore[assignment]
        required=False, allow_null=True, help_text="Id of an answer that this one follows."
    )
    filters = Filters(
        required=False,
        allow_null=True,
        help_text="Only studies that fit may answer; those of the parent where left out.",
    )


class SearchRequest(Shape):
    question = CharField(max_length=asking.MAX_QUESTION_LENGTH)
    mode = ChoiceField(choices=MODES, required=False, allow_null=True)
    collection = CharField(required=False, allow_null=True)
    limit = IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=asking.MAX_SEARCH_RESULTS,
        help_text="20 where it is left out.",
    )


SEARCH_PARAMETERS = [
    OpenApiParameter(
        "q",
        {"type": "string", "minLength": 1, "maxLength": asking.MAX_QUESTION_LENGTH},
        required=True,
        description="The question. In a body (POST) it stands in no proxy's log.",
        examples=[OpenApiExample("A question", value="How much shade do city streets need?")],
    ),
    OpenApiParameter("mode", str, enum=MODES),
    OpenApiParameter("collection", str, description="Slug of the collection to search first."),
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": asking.MAX_SEARCH_RESULTS, "default": 20},
        description="How many passages.",
    ),
]  # fmt: skip


class Scope(Shape):
    collection = CharField(allow_null=True, help_text="Detected or chosen.")
    searched = ChoiceField(choices=SEARCHED)
    detail = CharField(allow_null=True)


class Support(Shape):
    study_id = CharField(required=False)
    study_ids = ListField(
        child=CharField(), required=False, help_text="The studies counted, for a question about the corpus."
    )
    passage_id = IntegerField(required=False)
    passage_version = IntegerField(required=False)
    start = IntegerField(required=False)
    end = IntegerField(required=False)
    quote = CharField(required=False, help_text="The passage's text from start to end.")
    finding_ids = ListField(
        child=IntegerField(), required=False, help_text="For a counted sentence, in the place of a span."
    )


class Sentence(Shape):
    text = CharField(help_text="Without markers.")
    attribution = CharField(
        allow_null=True,
        required=False,
        help_text="Who says it, where the sentence does not name its study, or is about others than the "
        "question, who are told with it; stands before it.",
    )
    citations = numbers("Indexes of citations.")
    verdict = ChoiceField(choices=("verbatim", "supported", "weak", "counted"))
    support_level = ChoiceField(choices=LEVELS)
    kind = ChoiceField(choices=("quote", "near_quote", "paraphrase", "count"))
    paragraph = IntegerField()
    support = Support(many=True)


class Headline(Shape):
    text = CharField(help_text="One line that answers.")
    verdict = ChoiceField(
        choices=VERDICTS, allow_null=True, help_text="Null where the direction of the question is not certain."
    )
    studies_for = IntegerField(
        allow_null=True, help_text="Studies of the whole corpus that agree; null where their findings are not mapped."
    )
    studies_against = IntegerField(allow_null=True, help_text="Studies that found otherwise.")
    studies_without_difference = IntegerField(allow_null=True)
    citations = numbers("Indexes of citations.")
    kind = ChoiceField(choices=("quote", "count"))
    support = Support(many=True)


class StrengthReason(Shape):
    code = CharField()
    text = CharField()


class EvidenceStrength(Shape):
    level = ChoiceField(choices=("high", "moderate", "low", "very_low"))
    reasons = StrengthReason(many=True)


class NearQuestion(Shape):
    question = CharField()
    url = CharField(help_text="The ask page with this question in the box.")
    study_id = CharField(required=False, help_text="A study that answers it; missing in older answers.")


class Part(Shape):
    text = CharField(allow_blank=True, help_text="With markers, as [1].")
    sentences = Sentence(many=True)


# Shared with `legacy_shapes`.


class Named(Shape):
    index = IntegerField(min_value=1, help_text="By first appearance.")
    study_id = CharField()
    title = CharField()


class Source(Named):
    authors = texts()
    year = IntegerField(allow_null=True)
    journal = CharField(allow_null=True)
    url = CharField(allow_null=True)
    notice = ChoiceField(choices=NOTICES)


class Found(Shape):
    rank = IntegerField(min_value=1)
    study_id = CharField()
    title = CharField()
    section = CharField()
    text = CharField()
    distance = FloatField(allow_null=True, help_text="1 - cosine.")
    confidence = IntegerField(
        allow_null=True, help_text="0 to 100: the calibrated chance that its study answers the question."
    )
    keyword_hits = IntegerField()
    highlights = ListField(child=Span(), help_text="Start and end of the question's words in the text.")


class Citation(Source):
    doi = CharField(allow_null=True)
    design = CharField()
    peer_reviewed = BooleanField()
    population = CharField()
    status = ChoiceField(choices=("published", "withdrawn", "archived"))


class Confidence(Shape):
    score = IntegerField(min_value=0, max_value=100)
    label = ChoiceField(choices=LEVELS)  # type: ignore[assignment]
    reasons = texts()
    calibration = CharField(help_text="The version of the fitted model.")


@extend_schema_field({"type": ["number", "string", "null"]})
class Value(serializers.Field):  # type: ignore[type-arg]
    """A number, or words where the step has none."""


class Because(Shape):
    step = CharField()
    effect = CharField()
    value = Value()


class Evidence(Found):
    passage_id = IntegerField()
    passage_version = IntegerField()
    kind = ChoiceField(
        choices=("summary", "excerpt", "table", "plain"),
        help_text="summary: curator's words; excerpt: source's words; table: rows of a table of the source; plain: "
        "curator's plain words for a finding or study.",
    )
    score = FloatField(help_text="Orders the passages of this question only.")
    lexical_score = FloatField(help_text="BM25.")
    dense_score = FloatField(allow_null=True, help_text="Cosine.")
    because = Because(many=True, help_text="What put it where it is.")


class LeftOut(Shape):
    what = ChoiceField(choices=("passage", "sentence"))
    reason = CharField()
    detail = CharField(allow_null=True, allow_blank=True)
    passage_id = IntegerField(required=False, allow_null=True)
    study_id = CharField(required=False, allow_null=True)
    text = CharField(required=False)


class Stance(Shape):
    study_id = CharField()
    finding_id = IntegerField()
    statement = CharField()
    stance = CharField(
        required=False, help_text="Of the finding alone: its study may be mixed. Absent from answers before this field."
    )
    is_turned = BooleanField(
        required=False, help_text="It states the two sides the other way round. Absent from answers before this field."
    )


class Stances(Shape):
    population = CharField()
    favours = Stance(many=True)
    no_difference = Stance(many=True)
    against = Stance(many=True)
    unclear = Stance(many=True)


class Agreement(Shape):
    outcome_concept = CharField()
    outcome_name = CharField()
    subject_concept = CharField(allow_null=True)
    intervention = CharField(
        required=False, help_text="What a benefit is one of, in words. Absent from answers before this field."
    )
    comparator = CharField(
        required=False, help_text="Empty where the studies differ in it. Absent from answers before this field."
    )
    favours = Stance(many=True)
    no_difference = Stance(many=True)
    against = Stance(many=True)
    unclear = Stance(many=True)
    by_population = Stances(many=True)


class Definition(Shape):
    id = CharField()
    name = CharField()
    definition = CharField()
    is_asked = BooleanField(
        required=False, help_text="Its meaning is what was asked. Absent from answers stored before this field."
    )


class Topic(Shape):
    id = CharField()
    name = CharField()


class Correction(Shape):
    typed = CharField()
    searched = CharField()


class Population(Shape):
    age_groups = texts()
    training = texts()
    sexes = texts()


class NamedSource(Shape):
    author = CharField(allow_null=True)
    year = IntegerField(allow_null=True)
    doi = CharField(allow_null=True)
    pmid = CharField(allow_null=True)
    title = CharField(allow_null=True)


class Understood(Shape):
    subject = CharField(
        allow_null=True,
        help_text="What it is about, in English: compost and harvest in raised beds. Null where it names no concept.",
    )
    ask = CharField(allow_null=True, help_text="The question apart from its story.")
    intent = CharField(allow_null=True, help_text="yes_no, which, how_many, how, why, what, list or claim.")
    intervention = texts("Ids of concepts.")
    comparator = texts("Ids of concepts.")
    outcome = texts("Ids of concepts.")
    language = CharField(allow_null=True, help_text="ISO 639-1 code.")
    sources = NamedSource(many=True, help_text="Publications that the question names.")
    intents = texts()
    concepts = texts()
    unstudied = texts("Concepts that it names and no published study is about.", required=False)
    terms = texts("Stems.")
    core = CharField(
        required=False,
        allow_null=True,
        help_text="What it asks, where a story stands around it.",
    )
    corrections = Correction(many=True)
    population = Population()
    facets = DictField(child=texts(), help_text="Values of declared facets that it names, by facet.")
    numbers = texts("With their units.")
    asks_for_figures = BooleanField()
    signals = Numbers(help_text="Raw figures that decide whether it is answered.")


class Leg(Shape):
    ok = BooleanField()
    candidates = IntegerField()
    error = CharField(allow_null=True)


class Legs(Shape):
    lexical = Leg()
    dense = Leg()
    linked = Leg()


class Pool(Shape):
    found = IntegerField()
    ranked = IntegerField()


@extend_schema_field({"type": ["integer", "object"], "additionalProperties": True})
class Tokens(serializers.Field):  # type: ignore[type-arg]
    """The tokens of all attempts."""


class Generator(Shape):
    name = ChoiceField(choices=("extractive", "llm", "counted"))
    version = CharField()
    model = CharField(allow_null=True)
    prompt = CharField(allow_null=True)
    fallback_from = CharField(allow_null=True)
    fallback_reason = CharField(allow_null=True)
    tokens = Tokens(allow_null=True)
    cost = FloatField(allow_null=True)


class Guardrail(Shape):
    route = CharField()
    version = IntegerField(allow_null=True, help_text="Of the reviewed words; null for the built-in ones.")


class Notice(Shape):
    study_id = CharField(allow_null=True)
    kind = ChoiceField(choices=(*NOTICES[1:], "withdrawn", "archived", "passage_changed", "newer_corpus"))
    at = DateTimeField(allow_null=True)
    passage_id = IntegerField(required=False)
    gone = BooleanField(required=False)
    corpus_version = IntegerField(required=False)


@extend_schema_field({"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 2, "maxItems": 2})
class Pair(serializers.ListField):
    """A name and what belongs to it."""


class Overview(Shape):
    wish = ChoiceField(choices=("corpus", "count", "list", "newest", "oldest", "growth"))
    total = IntegerField()
    filters = ListField(child=Pair(), help_text="Facets of the corpus page, and values.")
    years = ListField(child=Pair(), help_text="Each with its number of studies.")
    designs = ListField(child=Pair(), help_text="Each with its number of studies.")


class Answer(Shape):
    id = CharField(help_text="128 random bits or more, url-safe.")
    url = CharField(help_text="Its page on this site.")
    request_id = CharField(help_text="Of the evidence that it was written from.")
    question = CharField()
    understood_as = CharField(allow_null=True, help_text="A follow-up with its subject named, as it was searched for.")
    mode = ChoiceField(choices=MODES)
    parent = CharField(allow_null=True)  # type: ignore[assignment]
    filters = Filters(help_text="Only studies that fit were asked; empty: all. A count of the corpus has none.")
    scope = Scope()
    collection = CharField(allow_null=True)
    outcome = ChoiceField(choices=OUTCOMES)
    code = ChoiceField(choices=CODES, allow_null=True)
    message = CharField(
        allow_null=True, help_text="What a reader is told when there is no answer, or which part is missing."
    )
    guardrail = Guardrail(allow_null=True)
    headline = Headline(allow_null=True, help_text="The answer in one line; null for a refusal.")
    summary = Part()
    answer = Part()
    citations = Citation(many=True)
    confidence = Confidence(
        allow_null=True,
        help_text="The calibrated chance that the answer leads with a study that answers the question. Null for "
        "every outcome that is no answer, and where answers are only counted (`overview`).",
    )
    evidence_strength = EvidenceStrength(
        allow_null=True,
        help_text="How far the cited studies can be relied on, apart from how well they match the question.",
    )
    missing = texts("Parts of the question that nothing cited speaks of.")
    near_questions = NearQuestion(many=True, help_text="Questions near this one that the corpus answers.")
    evidence = Evidence(many=True, help_text="The context in rank order.")
    left_out = LeftOut(many=True)
    definitions = Definition(many=True)
    overview = Overview(allow_null=True, help_text="For a question about the corpus itself, answered by counting.")
    agreement = Agreement(allow_null=True)
    target_sections = texts()
    understood = Understood()
    also_searched = texts()
    related_topics = Topic(many=True)
    legs = Legs()
    pool = Pool()
    generator = Generator()
    corpus_version = IntegerField()
    site_hash = CharField(
        allow_null=True, help_text="Of the site file in force; null: there was none, or the answer is older than this."
    )
    policy = CharField()
    encoder = CharField()
    notices = Notice(many=True, help_text="What has become of its sources since.")
    timings_ms = Numbers(help_text="Null for a stage that did not run, or is part of another.")
    created_at = DateTimeField()


class Declined(Shape):
    route = CharField()
    message = CharField(help_text="The fixed, reviewed reply.")


class SearchScope(Shape):
    collection = CharField(allow_null=True)
    searched = ChoiceField(choices=SEARCHED, allow_null=True)


class Search(Shape):
    question = CharField()
    mode = ChoiceField(choices=MODES)
    collection = CharField(allow_null=True)
    scope = SearchScope()
    declined = Declined(
        allow_null=True,
        help_text="A question that is not answered from studies: an emergency, a diagnosis, drugs. There are no "
        "passages then.",
    )
    passages = Evidence(many=True, help_text="The best first.")
    pool = Pool()
    legs = Legs(help_text="How each half of the search went.")
    target_sections = texts()
    also_searched = texts()
    related_topics = Topic(many=True)
    corpus_version = IntegerField()
    policy = CharField()
    encoder = CharField()
    timings_ms = Numbers()


ASKED = OpenApiExample("A question", value={"question": "How much shade do city streets need?"}, request_only=True)
ASKED_FULLY = OpenApiExample(
    "With every field",
    value={
        "question": "How much shade do older adults need?", "mode": "intermediate", "collection": "city-trees",
        "writer": "extractive", "parent": None, "filters": {"from": 2015, "design": ["systematic_review"]},
    },
    request_only=True,
)  # fmt: skip

STREAM_EXAMPLE = OpenApiExample(
    "The end of a stream",
    value='event: stage\nid: 0f0e….1.0\ndata: {"name":"scope","ms":0.4}\n\n'
    'event: done\nid: 0f0e….9.4\ndata: {"id":"k3W…"}\n\n',
    response_only=True,
    media_type="text/event-stream",
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID", str, OpenApiParameter.HEADER, description="Of the last event received, to go on after it."
)


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _data(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


EVENTS = {
    "stage": _data(name={"type": "string"}, ms={"type": "number"}),
    "retrieval": _data(
        understood_as={"type": ["string", "null"]},
        subject={"type": ["string", "null"]},
        evidence={"type": "array", "items": _ref("Evidence")},
        also_searched={"type": "array", "items": {"type": "string"}},
    ),
    "headline": {"allOf": [_ref("Headline"), _data(sources={"type": "array", "items": _ref("Citation")})]},
    "sentence": {
        "allOf": [
            _ref("Sentence"),
            _data(
                part={"type": "string", "enum": ["summary", "answer"]},
                index={"type": "integer"},
                sources={"type": "array", "items": _ref("Citation")},
            ),
        ]
    },
    "done": _ref("Answer"),
    "error": _ref("Problem"),
}  # fmt: skip
