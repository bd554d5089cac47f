"""Request bodies of the desk's API: fields of exactly their JSON type, and no unknown fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import ListField

from corpus_app import appraisal, curation, records, search
from corpus_app.appraisal import Effect, bias_from_json, bias_to_json
from corpus_app.curation import changing
from corpus_app.facets import certainty_fault, facets_from_json
from corpus_app.models import Collection, Concept
from corpus_app.sources import CertaintyDraft, FindingDraft

if TYPE_CHECKING:  # generic for the type checker alone
    Serializer = serializers.Serializer[Any]
else:
    Serializer = serializers.Serializer

MAX_ITEMS = 500  # authors, concepts, findings or passages in one body
MAX_INTEGER = 2_147_483_647


class Body(Serializer):
    # Refuses fields that it does not have.

    def to_internal_value(self, data: Any) -> Any:
        unknown = [name[:100] for name in data if name not in self.fields][:20] if isinstance(data, Mapping) else ()
        if unknown:
            known = f"the fields are {', '.join(self.fields)}" if self.fields else "nothing is asked for here"
            advice = ErrorDetail(f"Leave it out; {known}.", "unknown_field")
            raise serializers.ValidationError({name: [advice] for name in unknown})
        if self.root is not self and isinstance(data, Mapping):  # a nested body is complete even in a partial update
            missing = [name for name, field in self.fields.items() if field.required and name not in data]
            if missing:
                raise serializers.ValidationError(
                    {name: [ErrorDetail("Send this field.", "required")] for name in missing}
                )
        return super().to_internal_value(data)


class Text(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Whole(serializers.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**({"min_value": 0, "max_value": MAX_INTEGER} | options))

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return int(data)


class Number(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return float(data)


class Truth(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class Choice(serializers.ChoiceField):
    def __init__(self, values: Iterable[Any], **options: Any) -> None:
        super().__init__(choices=[value.value for value in values], **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=str(data)[:100])
        return str(super().to_internal_value(data))


class SourceKind(Text):
    """A design of studies, or a kind of source that the corpus declares."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, **options)

    def to_internal_value(self, data: Any) -> str:
        name = str(super().to_internal_value(data))
        if not search.site().is_design(name):
            raise serializers.ValidationError(
                f"There is no kind of source {name}; known: {', '.join(search.site().designs)}."
            )
        return name


class WeeksBody(Body):
    shortest = Number(required=False, allow_null=True, min_value=0, max_value=100_000)
    longest = Number(required=False, allow_null=True, min_value=0, max_value=100_000)


class EffectBody(Body):
    measure = Choice(appraisal.EffectMeasure)
    value = Number()
    lower = Number(required=False, allow_null=True)
    upper = Number(required=False, allow_null=True)
    level = Number(required=False, help_text="Of the interval, in percent; 95 where it is left out.")
    unit = Text(max_length=40, required=False, allow_blank=True, help_text="Of a mean difference, and of no other.")

    def to_internal_value(self, data: Any) -> Effect:
        values = super().to_internal_value(data)
        return _or_refuse(lambda: Effect(**{**values, "measure": appraisal.EffectMeasure(values["measure"])}))


class DomainBody(Body):
    domain = Choice(appraisal.BiasDomain)
    judgement = Choice(appraisal.BiasJudgement)
    reason = Text(max_length=5_000, required=False, allow_blank=True, help_text="Needed unless it is low.")


class BiasBody(Body):
    tool = Choice(appraisal.BiasTool)
    domains = DomainBody(many=True, required=False, max_length=len(appraisal.BiasDomain))  # type: ignore[call-arg]
    overall = Choice(
        appraisal.BiasJudgement, required=False, allow_null=True,
        help_text="Left out or null: the worst of the domains.",
    )  # fmt: skip
    reason = Text(max_length=5_000, required=False, allow_blank=True, help_text="Of the overall judgement.")

    def to_internal_value(self, data: Any) -> dict[str, Any] | None:
        values = super().to_internal_value(data)
        return bias_to_json(_or_refuse(lambda: bias_from_json(values)))


class FindingBody(Body):
    intervention = Text(max_length=1_000)
    comparator = Text(max_length=1_000, allow_blank=True)
    outcome = Text(max_length=1_000)
    direction = Choice(records.Direction)
    statement = Text(max_length=5_000)
    asked_as = ListField(
        child=Text(max_length=records.QUESTION_LETTERS),
        max_length=MAX_ITEMS,
        required=False,
        help_text="How readers ask for it, a question each; left out, those of the finding that says the same stay.",
    )
    plain = Text(
        max_length=1_000, required=False, allow_blank=True,
        help_text="The finding in one sentence of plain words, which answers quote; left out, it stays as it is.",
    )  # fmt: skip
    lean = Choice(
        records.Lean, required=False, allow_null=True,
        help_text="Whether the intervention clearly helped, or what was asked clearly rose.",
    )  # fmt: skip
    unconfirmed = Truth(
        required=False, source="is_unconfirmed",
        help_text="Its figures stand in no passage: answers neither count nor quote it. Confirm it with its source.",
    )  # fmt: skip
    effect = EffectBody(
        required=False, allow_null=True,
        help_text="Its figures as numbers; left out, they stay, null takes them away.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "effect" in attrs:
            attrs["is_without_effect"] = attrs["effect"] is None
        return _check_texts(_join_questions(attrs))


class PassageBody(Body):
    section = Choice(records.Section)
    text = Text(max_length=60_000)
    page = Whole(required=False, allow_null=True)
    kind = Choice(
        records.ORDINARY_KINDS, required=False,
        help_text="summary: the curator's words; excerpt: the source's words; table: rows of its tables, one a line.",
    )  # fmt: skip
    asked_as = ListField(
        child=Text(max_length=records.QUESTION_LETTERS), max_length=MAX_ITEMS, required=False,
        help_text="Questions that it answers, as readers ask them.",
    )  # fmt: skip

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return _check_texts(_join_questions(attrs))


class OnePassageBody(PassageBody):
    stands_because = Text(
        required=False, max_length=1_000,
        help_text="Why words that look broken may stand in a published study; else they are refused with 422.",
    )  # fmt: skip


class StudyBody(Body):
    title = Text(max_length=1_000)
    authors = ListField(
        child=Text(max_length=200), max_length=MAX_ITEMS, required=False, help_text="Each as Family AB."
    )
    year = Whole(required=False, allow_null=True)
    journal = Text(required=False, allow_null=True, max_length=500)
    doi = Text(required=False, allow_null=True, max_length=300)
    pmid = Text(required=False, allow_null=True, max_length=20)
    url = Text(required=False, allow_null=True, max_length=1_000)
    design = SourceKind()
    peer_reviewed = Truth(required=False)
    collection = Text(help_text="Slug of its collection.")
    population = Text(required=False, allow_blank=True, max_length=5_000, help_text="Who was studied, in words.")
    training_status = Choice(records.TrainingStatus, required=False)
    age_group = Choice(records.AgeGroup, required=False)
    sex = Choice(records.Sex, required=False)
    facets = serializers.DictField(
        child=ListField(child=Text(max_length=40), max_length=MAX_ITEMS), required=False,
        help_text="Values of the other facets that this corpus declares, by facet; all of them.",
    )  # fmt: skip
    included_studies = Whole(required=False, allow_null=True, source="n_studies", help_text="Of a review.")
    participants = Whole(required=False, allow_null=True, source="n_participants")
    weeks = WeeksBody(required=False, help_text="How long it lasted, or what it included.")
    takeaway = Text(
        required=False, allow_blank=True, max_length=2_000,
        help_text="What it tells a reader as a whole, in a sentence or two of plain words, which answers quote.",
    )  # fmt: skip
    asked_as = ListField(
        child=Text(max_length=records.QUESTION_LETTERS), max_length=MAX_ITEMS, required=False,
        help_text="Questions that it answers as a whole, as readers ask them.",
    )  # fmt: skip
    risk_of_bias = BiasBody(required=False, allow_null=True, help_text="One assessment; null takes it away.")
    licence = Text(required=False, allow_blank=True, max_length=200)
    curator_notes = Text(required=False, allow_blank=True, max_length=20_000, help_text="Readers never see them.")
    labels = ListField(
        child=Text(max_length=records.LABEL_LETTERS), max_length=MAX_ITEMS, required=False,
        help_text="Curators' words to sort studies by. Readers never see them.",
    )  # fmt: skip
    source_ref = Whole(required=False, allow_null=True, help_text="Its row in the source list.")
    concepts = ListField(
        child=Text(max_length=80),
        max_length=MAX_ITEMS,
        required=False,
        help_text="Ids, in the order wanted; all of them.",
    )
    findings = FindingBody(
        many=True, required=False, max_length=MAX_ITEMS, help_text="All of them, in the order wanted."
    )  # type: ignore[call-arg]

    def validate_authors(self, authors: list[str]) -> list[str]:
        return curation.clean_authors(authors)

    def validate_doi(self, doi: str | None) -> str | None:
        return curation.clean_doi(doi)

    def validate_pmid(self, pmid: str | None) -> str | None:
        return curation.clean_pmid(pmid)

    def validate_url(self, url: str | None) -> str | None:
        return curation.clean_url(url)

    def validate_collection(self, slug: str) -> Collection:
        return _existing_collection(slug)

    def validate_concepts(self, ids: list[str]) -> list[str]:
        present = set(Concept.objects.filter(pk__in=ids).values_list("pk", flat=True))
        if unknown := [concept_id for concept_id in ids if concept_id not in present]:
            raise serializers.ValidationError(f"There is no concept {unknown[0][:80]}.", "unknown")
        return ids

    def validate_findings(self, rows: list[dict[str, Any]]) -> tuple[FindingDraft, ...]:
        return tuple(
            FindingDraft(
                **{
                    **row,
                    "direction": records.Direction(row["direction"]),
                    "lean": records.Lean(row["lean"]) if row.get("lean") else None,
                }
            )
            for row in rows
        )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = _join_questions(attrs)
        weeks = attrs.pop("weeks", {})
        names = {"shortest": "duration_weeks_min", "longest": "duration_weeks_max"}
        return attrs | {names[name]: value for name, value in weeks.items()}


class CertaintyBody(Body):
    intervention = Text(max_length=80, help_text="A concept's id.")
    outcome = Text(max_length=80, help_text="A concept's id.")
    age_group = Choice(records.ASKED_AGES, required=False, allow_null=True, help_text="Left out: people of all ages.")
    training_status = Choice(
        records.ASKED_TRAINING, required=False, allow_null=True, help_text="Left out: of any training."
    )
    sex = Choice(records.ASKED_SEXES, required=False, allow_null=True, help_text="Left out: of both sexes.")
    facets = serializers.DictField(
        child=Text(max_length=40), required=False, help_text="The value of each other facet that it is about, by facet."
    )
    level = Choice(appraisal.CertaintyLevel)
    reasons = ListField(
        child=Text(max_length=1_000), min_length=1, max_length=20, help_text="Why, for readers: answers show them."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the draft of the judgement. Raises ValidationError for unknown or equal concepts."""
        for name in ("intervention", "outcome"):
            if not Concept.objects.filter(pk=attrs[name]).exists():
                raise serializers.ValidationError({name: [ErrorDetail("There is no concept with this id.", "unknown")]})
        if attrs["intervention"] == attrs["outcome"]:
            raise serializers.ValidationError({"outcome": [ErrorDetail("Name another concept.", "impossible")]})
        reasons = tuple(" ".join(reason.split()) for reason in attrs["reasons"])
        level = appraisal.CertaintyLevel(attrs["level"])
        age, training, sex = (attrs.get(name) for name in ("age_group", "training_status", "sex"))
        draft = CertaintyDraft(
            intervention=attrs["intervention"],
            outcome=attrs["outcome"],
            level=level,
            reasons=reasons,
            age_group=records.AgeGroup(age) if age else None,
            training_status=records.TrainingStatus(training) if training else None,
            sex=records.Sex(sex) if sex else None,
            facets=facets_from_json({key: [value] for key, value in attrs.get("facets", {}).items()}),
        )
        if fault := certainty_fault(draft.facets, search.site().facets):
            raise serializers.ValidationError({"facets": [ErrorDetail(f"This {fault}", "unknown")]})
        return {"draft": draft}


class ConfirmFindingBody(Body):
    passage_id = Whole(max_value=2**63 - 1, help_text="A passage of its study.")
    words = Text(max_length=20_000, help_text="Words of the passage in which every figure of the finding stands.")


class ChangedStudy(StudyBody):
    passage_order = ListField(
        child=Whole(max_value=2**63 - 1), max_length=MAX_ITEMS, required=False,
        help_text="Ids of all its passages, in the order wanted.",
    )  # fmt: skip


class NewStudy(StudyBody):
    study_id = Text(max_length=40, help_text="The study's own stable name, such as S018. It stays.")
    passages = PassageBody(many=True, required=False, max_length=MAX_ITEMS)  # type: ignore[call-arg]


class ReasonBody(Body):
    reason = Text(max_length=2_000, help_text="Kept with the study and in its history.")


class MayHaveReason(Body):
    reason = Text(required=False, allow_blank=True, max_length=2_000, help_text="Kept in the history.")


class NoticeBody(ReasonBody):
    notice = Choice(records.Notice)


# The columns behind each field that a merge can take over from the other study.
TAKEN = {
    **{name: (name,) for name in sorted(curation.TAKEABLE) if not name.startswith(("n_", "duration_"))},
    "included_studies": ("n_studies",),
    "participants": ("n_participants",),
    "weeks": ("duration_weeks_min", "duration_weeks_max"),
}


class MergeBody(MayHaveReason):
    other = Text(max_length=40, help_text="The id of the study that goes into this one, and is withdrawn.")
    take = ListField(
        child=serializers.ChoiceField(choices=sorted(TAKEN)), max_length=len(TAKEN), required=False,
        help_text="Fields that are taken over from it; concepts and findings are added to those there are.",
    )  # fmt: skip
    passages = ListField(
        child=Whole(max_value=2**63 - 1), max_length=MAX_ITEMS, required=False,
        help_text="Ids of its passages that are taken over.",
    )  # fmt: skip


class LookUpBody(Body):
    id = Text(max_length=300, help_text="A DOI, a PMID or a PMC id, with or without an address around it.")


class CommentBody(Body):
    text = Text(max_length=4_000)


class ConfirmBody(Body):
    """The items to bring in, and their options."""

    items = ListField(
        child=Whole(max_value=2**63 - 1), max_length=100_000, required=False,
        help_text="Ids of the items to bring in, and no others; left out: those that are `chosen`.",
    )  # fmt: skip
    collection = Text(required=False, allow_blank=True, help_text="For studies whose file names none.")
    design = SourceKind(required=False, help_text="For studies whose source tells none.")
    submit = Truth(required=False, help_text="Hand them over for review.")
    publish = Truth(
        required=False,
        help_text="Publish those that nothing stands in the way of; published ones are changed only with this.",
    )

    def validate_collection(self, slug: str) -> str:
        return _existing_collection(slug).pk if slug else ""


class ListChange(Body):
    """The entries to add and remove, or all entries to set."""

    add = ListField(child=Text(max_length=records.LABEL_LETTERS), max_length=MAX_ITEMS, required=False)
    remove = ListField(child=Text(max_length=records.LABEL_LETTERS), max_length=MAX_ITEMS, required=False)
    set = ListField(child=Text(max_length=records.LABEL_LETTERS), max_length=MAX_ITEMS, required=False)


class BulkChanges(Body):
    """New values for all of the studies; fields that are left out stay. A status is changed alone."""

    collection = Text(required=False, help_text="Slug of a collection.")
    design = SourceKind(required=False)
    peer_reviewed = Truth(required=False)
    assignee = Text(required=False, allow_blank=True, help_text="Name of a curator; empty: nobody.")
    notice = Choice(records.Notice, required=False, help_text="Takes a reason.")
    concepts = ListChange(required=False)
    labels = ListChange(required=False)
    facets = ListChange(
        required=False, help_text="Pairs as soil:clay; set replaces the values of the facets that it names."
    )
    status = serializers.ChoiceField(choices=sorted(changing.VERBS), required=False)


class BulkEditBody(Body):
    studies = ListField(child=Text(max_length=40), max_length=20_000, min_length=1, help_text="Ids of the studies.")
    changes = BulkChanges()
    reason = Text(required=False, allow_blank=True, max_length=2_000, help_text="Kept in the history.")


T = TypeVar("T")


def _or_refuse(make: Callable[[], T]) -> T:
    """Return the value. Raises ValidationError with the reason of a ValueError."""
    try:
        return make()
    except ValueError as error:
        raise serializers.ValidationError(f"It {error}", "impossible") from error


def _existing_collection(slug: str) -> Collection:
    found = Collection.objects.filter(pk=slug).first()
    if found is None:
        slugs = ", ".join(Collection.objects.values_list("slug", flat=True)[:50])
        raise serializers.ValidationError(f"There is no such collection. Choose among {slugs}.", "unknown")
    return found


def _join_questions(values: dict[str, Any]) -> dict[str, Any]:
    """Join the questions into one text, one per line."""
    if "asked_as" not in values:
        return values
    return values | {"asked_as": "\n".join(" ".join(question.split()) for question in values["asked_as"])}


def _check_texts(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values. Raises ValidationError by field when a text has forbidden characters."""
    texts = {name: text for name, text in values.items() if isinstance(text, str)}
    faults = {name: fault for name, text in texts.items() if (fault := curation.find_text_fault(name, text))}
    if faults:
        raise DjangoValidationError(faults)
    return values
