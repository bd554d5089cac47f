"""Serializers of the public API, which also describe the values of `records` in the schema."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    FloatField,
    IntegerField,
    ListField,
)

from corpus_app import appraisal, records, search
from corpus_app.facets import facets_to_json
from corpus_app.public import changes
from corpus_app.templatetags.corpus_words import web_address

if TYPE_CHECKING:  # generic for the type checker alone
    Serializer = serializers.Serializer[Any]
else:
    Serializer = serializers.Serializer


# The docstring of a shape would be published in the schema, so its remarks are comments.


class Shape(Serializer):
    # Read only; `only` leaves the other fields out.

    def __init__(self, *arguments: Any, only: Collection[str] | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if only is not None:
            for name in set(self.fields) - set(only):
                self.fields.pop(name)


def choice(values: type[Any], **options: Any) -> ChoiceField:
    return ChoiceField(choices=[value.value for value in values], **options)


def texts(help_text: str = "", **options: Any) -> ListField:
    return ListField(child=CharField(), help_text=help_text, **options)


class Piece(Shape):
    text = CharField()
    marked = BooleanField(help_text="Whether it is one of the words asked for.")


FACET_VALUES = {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}


class Study(Shape):
    study_id = CharField(help_text="The study's stable name, such as S018.")
    title = CharField()
    authors = texts()
    year = IntegerField(allow_null=True)
    journal = CharField(allow_null=True)
    doi = CharField(allow_null=True)
    url = serializers.SerializerMethodField(help_text="Where the study can be read; http or https.")
    design = CharField(help_text="The design of the study, or the kind of source as this corpus names it.")
    peer_reviewed = BooleanField()
    collection = CharField(help_text="Slug of its collection.")
    population = CharField(help_text="Who was studied, in words.")
    training_status = choice(records.TrainingStatus)
    age_group = choice(records.AgeGroup)
    sex = choice(records.Sex)
    facets = serializers.SerializerMethodField(help_text="Values of the facets that this corpus declares, by facet.")
    concepts = texts("Ids of what it is about, in the curator's order.")
    notice = choice(records.Notice, help_text="A retracted study can be read here, and is used for no answer.")
    page = serializers.SerializerMethodField(help_text="Its page on this site.")

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_url(self, study: records.Study) -> str | None:
        return web_address(study.url) or None

    @extend_schema_field(FACET_VALUES)
    def get_facets(self, study: records.Study) -> dict[str, list[str]]:
        return {key: list(study.values_of(key)) for key in search.site().facets}

    def get_page(self, study: records.Study) -> str:
        return f"/studies/{study.study_id}/"


class ListedStudy(Study):
    excerpt = Piece(many=True, help_text="With `q`: a stretch of its best passage that has the words, else empty.")

    def to_representation(self, instance: Any) -> Any:  # a `browsing.StudyResult`
        return super().to_representation(WithExtras(instance.study, excerpt=instance.excerpt))


class WithExtras:
    """A value with additional attributes."""

    def __init__(self, value: object, **more: object) -> None:
        self._value, self._more = value, more

    def __getattr__(self, name: str) -> Any:
        return self._more[name] if name in self._more else getattr(self._value, name)


class EffectSize(Shape):
    measure = choice(appraisal.EffectMeasure)
    value = FloatField()
    lower = FloatField(allow_null=True, help_text="Lower bound of the interval.")
    upper = FloatField(allow_null=True, help_text="Upper bound of the interval.")
    level = FloatField(help_text="Of the interval, in percent.")
    unit = CharField(help_text="Of a mean difference; empty for other measures.")


class JudgedDomain(Shape):
    domain = choice(appraisal.BiasDomain)
    judgement = choice(appraisal.BiasJudgement)
    reason = CharField()


class BiasAssessment(Shape):
    tool = choice(appraisal.BiasTool, help_text="RoB 2 for randomised trials, ROBINS-I for others, or another.")
    domains = JudgedDomain(many=True)
    overall = choice(appraisal.BiasJudgement, allow_null=True, help_text="As stated; null: the worst domain decides.")
    judgement = choice(appraisal.BiasJudgement, help_text="The overall judgement that counts.")
    reason = CharField(help_text="Of the overall judgement.")


class Finding(Shape):
    finding_id = IntegerField()
    intervention = CharField()
    comparator = CharField()
    outcome = CharField()
    direction = choice(records.Direction)
    statement = CharField()
    effect = EffectSize(allow_null=True, help_text="Its figures as numbers, where a curator has entered them.")


class Change(Shape):
    kind = ChoiceField(choices=list(changes.KINDS))
    at = DateTimeField()
    corpus_version = IntegerField(source="version")
    studies = serializers.SerializerMethodField(help_text="Ids of those still published; none of withdrawn ones.")
    count = IntegerField(help_text="How many studies it happened to.")

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_studies(self, change: changes.Change) -> list[str]:
        return [study.study_id for study in change.studies]


class Weeks(Shape):
    shortest = FloatField(allow_null=True)
    longest = FloatField(allow_null=True)


class StudyInFull(Study):
    included_studies = IntegerField(allow_null=True, help_text="Of a review.")
    participants = IntegerField(allow_null=True)
    weeks = Weeks(help_text="How long it lasted, or what it included.")
    findings = Finding(many=True)
    risk_of_bias = BiasAssessment(allow_null=True, help_text="As a curator judged it; null where nobody has.")
    passages = ListField(child=IntegerField(), help_text="Ids of its passages, in their order.")
    history = Change(many=True, help_text="What happened to it while it was public, newest first.")
    cited_by = IntegerField(allow_null=True, help_text="Stored answers that quote it.")


class Passage(Shape):
    passage_id = IntegerField()
    version = IntegerField(help_text="Rises with every edit; an answer's quote names the version it was taken from.")
    study_id = CharField(source="study.study_id")
    position = IntegerField()
    section = choice(records.Section)
    page = IntegerField(allow_null=True)
    kind = choice(
        records.PassageKind,
        help_text="summary: the curator's words; excerpt: the source's words; table: rows of its tables, one a line.",
    )
    source_heading = CharField(help_text="The headings above it in the source, outermost first; may be empty.")
    text = CharField()


class PassageInFull(Passage):
    sentences = serializers.SerializerMethodField(
        help_text="Start and end of each sentence, in code points of the text, end exclusive."
    )
    study = Study()

    @extend_schema_field(
        {"type": "array", "items": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}
    )
    def get_sentences(self, passage: records.Passage) -> list[list[int]]:
        return [[sentence.start, sentence.end] for sentence in passage.sentences]


class Concept(Shape):
    concept_id = CharField(source="concept.concept_id")
    name = CharField(source="concept.name")
    kind = CharField(source="concept.kind")
    aliases = texts("Other words for it.", source="concept.aliases")
    definition = CharField(source="concept.definition")
    wanted = serializers.ChoiceField(
        choices=[value.value for value in records.Wanted],
        source="concept.wanted",
        help_text="Of an outcome: whether more of it counts as a benefit, or less.",
    )
    collections = texts("Slugs of the collections it belongs to.", source="concept.collections")
    studies = IntegerField(help_text="Published studies about it.")
    page = serializers.SerializerMethodField(help_text="Its page on this site.")

    def get_page(self, topic: Any) -> str:
        return f"/topics/{topic.concept.concept_id}/"


class Link(Shape):
    relation = CharField()
    outward = BooleanField(help_text="Whether it goes from this concept to the neighbour.")


class Neighbour(Shape):
    concept_id = CharField(source="topic.concept.concept_id")
    name = CharField(source="topic.concept.name")
    links = Link(many=True)
    behind = IntegerField(help_text="Published studies behind these relations, each relation's counted.")


class ConceptInFull(Concept):
    neighbours = Neighbour(many=True, help_text="Related concepts, those with the most studies behind them first.")
    study_ids = ListField(child=CharField(), help_text="Published studies about it, the newest first.")


class JudgedCertainty(Shape):
    intervention = CharField(help_text="A concept's id.")
    outcome = CharField(help_text="A concept's id.")
    age_group = choice(records.AgeGroup, allow_null=True, help_text="Null: people of all ages.")
    training_status = choice(records.TrainingStatus, allow_null=True, help_text="Null: of any training.")
    sex = choice(records.Sex, allow_null=True, help_text="Null: of both sexes.")
    facets = serializers.SerializerMethodField(help_text="Values of other facets that it is about, by facet.")
    level = choice(appraisal.CertaintyLevel)
    reasons = texts("Why, in words for readers.")

    class Meta:
        ref_name = "Certainty"

    def get_facets(self, judged: records.Certainty) -> dict[str, list[str]]:
        return facets_to_json(judged.facets)


class Collection_(Shape):
    slug = CharField()
    name = CharField()
    description = CharField()
    studies = IntegerField(help_text="Published studies in it.")

    class Meta:
        ref_name = "Collection"


class NamedValue(Shape):
    value = CharField()
    label = CharField()  # type: ignore[assignment]  # no label of a form


class Facet(Shape):
    name = CharField(help_text="The parameter by which studies are filtered.")
    label = CharField()  # type: ignore[assignment]  # no label of a form
    values = NamedValue(many=True)


class CorpusState(Shape):
    corpus_version = IntegerField(help_text="Rises with every change that a reader could notice.")
    changed_at = DateTimeField(allow_null=True)
    studies = IntegerField(help_text="Published studies.")
    passages = IntegerField(help_text="Passages that questions are answered from.")
    sha256 = CharField(help_text="Over what these passages say: two corpora with one digest read alike.")
    encoder = CharField(help_text="What questions and passages are compared by.")
    facets = Facet(many=True, help_text="The facets that this corpus declares.")


class Changes(Shape):
    items = Change(many=True, help_text="Oldest first.")
    since = IntegerField(help_text="The version asked from.")
    upto = IntegerField(help_text="The last version looked at: ask from here the next time.")
    next = CharField(allow_null=True, help_text="Where more of them are; null when these are all.")
