"""The public API of studies and their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from corpus_app import records, search
from corpus_app.api import shapes
from corpus_app.api.resources import FIELDS, Resource, found_or_404, is_id
from corpus_app.public import browsing, selection

OTHER_FILTERS = ("q", "from", "to", "sort")
TAG = ["Corpus"]
FACET_DESCRIPTIONS = {
    "collection": ("A collection's slug.", None),
    "design": ("The kind of study.", records.Design),
    "topic": ("A concept's id.", None),
    "notice": ("The notice on the study.", records.Notice),
}
MANY = " May be given several times: any of them fits."
STUDY_PARAMETERS = [
    OpenApiParameter(
        "q", str, description="Words in passages, titles, authors, journal or id; studies with all of them."
    ),
    *(
        OpenApiParameter(
            name,
            {
                "type": "array",
                "items": {"type": "string"} | ({"enum": [v.value for v in values]} if values else {}),
            },
            description=description + MANY,
        )
        for name, (description, values) in FACET_DESCRIPTIONS.items()
    ),
    OpenApiParameter(
        "facets",
        {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
        style="form",
        explode=True,
        description="A facet that this corpus declares, by its name, as `age=adults`; `/corpus/version` lists them."
        + MANY,
    ),
    OpenApiParameter("from", int, description="The first year."),
    OpenApiParameter("to", int, description="The last year."),
    OpenApiParameter(
        "sort", str, enum=selection.SORTS, description="`relevance` where there are words, else `newest`."
    ),
    FIELDS,
]


class StudiesView(Resource):
    serializer_class = shapes.ListedStudy

    @property
    def known(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*OTHER_FILTERS, *self.given_often, *parameters.OF_LISTS)

    @cached_property
    def given_often(self) -> tuple[str, ...]:
        return browsing.facets()

    @extend_schema(
        operation_id="list_studies", summary="Published studies by words, facets and years", tags=TAG,
        parameters=STUDY_PARAMETERS, responses=shapes.ListedStudy(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        with search.snapshot():
            selected = browsing.select(_read_selection(request, self.given_often))
            return self.listed(selected.listed(self.page(selected.found)))


def _read_selection(request: Request, facets: Sequence[str]) -> selection.Selection:
    """Parse the filters. Raises ValidationError for an unusable value, which a web page would ignore."""
    names = (*OTHER_FILTERS, *facets)
    given = {name: request.query_params.getlist(name) for name in names if name in request.query_params}
    chosen, ignored = selection.read(given, known=browsing.known_values())
    if ignored:
        known = browsing.known_values()
        raise parameters.refuse(ignored[0], _advice(ignored[0], known))
    return chosen


def _advice(name: str, known: Any) -> str:
    if name in known:
        return f"There is no such value. Choose among {', '.join(sorted(known[name])[:100])}."
    if name == "q":
        return f"Send words, at most {selection.LONGEST_WORDS} characters of them on one line."
    if name == "sort":
        return f"Choose one of {', '.join(selection.SORTS)}."
    return f"Send a year from {selection.FIRST_YEAR} to {selection.LAST_YEAR}."


class StudyView(Resource):
    serializer_class = shapes.StudyInFull

    @extend_schema(
        operation_id="get_study", summary="A published study with its findings and history", tags=TAG,
        parameters=[FIELDS], responses=shapes.StudyInFull,
    )  # fmt: skip
    def get(self, request: Request, study_id: str) -> Response:
        with search.snapshot():
            detail = found_or_404(browsing.find_study(study_id) if is_id(study_id) else None, "study")
            return self.shown(_in_full(detail))


def _in_full(detail: browsing.StudyDetail) -> shapes.WithExtras:
    page = detail.page
    return shapes.WithExtras(
        page.study,
        included_studies=page.included_studies,
        participants=page.participants,
        weeks=dict(zip(("shortest", "longest"), page.weeks, strict=True)),
        findings=page.findings,
        risk_of_bias=page.risk_of_bias,
        passages=[passage.passage_id for passage in page.passages],
        history=detail.history,
        cited_by=detail.cited_by,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    key: tuple[Any, ...]
    passage: records.Passage


class StudyPassagesView(Resource):
    serializer_class = shapes.Passage
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_study_passages", summary="The passages of a published study, in their order", tags=TAG,
        parameters=[FIELDS], responses=shapes.Passage(many=True),
    )  # fmt: skip
    def get(self, request: Request, study_id: str) -> Response:
        page = found_or_404(search.find_study(study_id) if is_id(study_id) else None, "study")
        placed = [_Placed((p.position, p.passage_id), p) for p in page.passages]
        return self.listed([row.passage for row in self.page(placed)])


class PassageView(Resource):
    serializer_class = shapes.PassageInFull

    @extend_schema(
        operation_id="get_passage", summary="A passage of a published study, with its sentences", tags=TAG,
        parameters=[FIELDS, OpenApiParameter("passage_id", int, OpenApiParameter.PATH)], responses=shapes.PassageInFull,
    )  # fmt: skip
    def get(self, request: Request, passage_id: str) -> Response:
        is_number = passage_id.isascii() and passage_id.isdecimal() and len(passage_id) < 19
        return self.shown(found_or_404(search.find_passage(int(passage_id)) if is_number else None, "passage"))
