"""The public API of concepts, collections, the corpus version and its changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from corpus_app import search
from corpus_app.api import shapes
from corpus_app.api.resources import FIELDS, Resource, found_or_404, is_id
from corpus_app.facets import Facet, parameter_of
from corpus_app.public import browsing, changes

TAG = ["Corpus"]
VERSIONS, MOST_VERSIONS = 50, 100
GREATEST_VERSION = 2_147_483_647


@dataclass(frozen=True, slots=True)
class _Placed:
    key: tuple[Any, ...]
    row: Any


class ConceptsView(Resource):
    serializer_class = shapes.Concept
    known = ("kind", "collection", *parameters.OF_LISTS)

    @extend_schema(
        operation_id="list_concepts", summary="What published studies are about", tags=TAG,
        parameters=[
            OpenApiParameter("kind", str, description="As `outcome` or `intervention`."),
            OpenApiParameter("collection", str, description="A collection's slug."),
            FIELDS,
        ],
        responses=shapes.Concept(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        with search.snapshot():
            topics = browsing.topics().values()
            kind = parameters.one_of(request, "kind", {topic.concept.kind for topic in topics})
            collection = parameters.one_of(request, "collection", {c.slug for c in search.collections()})
            placed = sorted(
                (
                    _Placed((topic.concept.concept_id,), topic)
                    for topic in topics
                    if kind in {None, topic.concept.kind}
                    and (collection is None or collection in topic.concept.collections)
                ),
                key=lambda row: row.key,
            )
            return self.listed([row.row for row in self.page(placed)])


class ConceptView(Resource):
    serializer_class = shapes.ConceptInFull

    @extend_schema(
        operation_id="get_concept", summary="A concept with its neighbours and studies", tags=TAG,
        parameters=[FIELDS], responses=shapes.ConceptInFull,
    )  # fmt: skip
    def get(self, request: Request, concept_id: str) -> Response:
        with search.snapshot():
            found: browsing.TopicPage = found_or_404(
                browsing.find_topic(concept_id) if is_id(concept_id) else None, "concept"
            )
            studies = [study.study_id for study in found.studies]
            return self.shown(shapes.WithExtras(found.topic, neighbours=found.neighbours, study_ids=studies))


class CertaintiesView(Resource):
    serializer_class = shapes.JudgedCertainty
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_certainties", summary="How certain curators judge the evidence to be, by outcome", tags=TAG,
        parameters=[FIELDS], responses=shapes.JudgedCertainty(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        with search.snapshot():
            public = browsing.topics()
            found = [one for one in search.certainties() if {one.intervention, one.outcome} <= public.keys()]
            placed = [_Placed((number,), one) for number, one in enumerate(found)]
            return self.listed([row.row for row in self.page(placed)])


class CollectionsView(Resource):
    serializer_class = shapes.Collection_
    known = parameters.OF_LISTS

    @extend_schema(
        operation_id="list_collections", summary="The scopes a question can be asked in", tags=TAG,
        parameters=[FIELDS], responses=shapes.Collection_(many=True),
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        rows = search.corpus_figures()["collections"]
        placed = [_Placed((number, row["slug"]), row) for number, row in enumerate(rows)]
        return self.listed([row.row for row in self.page(placed)])


class CorpusVersionView(Resource):
    serializer_class = shapes.CorpusState

    @extend_schema(
        operation_id="get_corpus_version", summary="Which corpus this is", tags=TAG, parameters=[FIELDS],
        responses=shapes.CorpusState,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        with search.snapshot():
            figures = search.corpus_figures()
            return self.shown(
                {
                    "corpus_version": figures["corpus_version"],
                    "changed_at": search.corpus_changed_at(),
                    "studies": figures["studies"],
                    **search.once_per_version(search.corpus_digest),
                    "encoder": search.encoder_name(),
                    "facets": [_facet(key, facet) for key, facet in search.site().facets.items()],
                }
            )


def _facet(key: str, facet: Facet) -> dict[str, Any]:
    values = [{"value": name, "label": value.label} for name, value in facet.values.items()]
    return {"name": parameter_of(key), "label": facet.label, "values": values}


class ChangesView(Resource):
    serializer_class = shapes.Changes
    known = ("since", "limit")

    @extend_schema(
        operation_id="list_corpus_changes", summary="What changed after a version, oldest first", tags=TAG,
        description="Never a draft, and of withdrawn studies only how many. Ask from `upto` the next time.",
        parameters=[
            OpenApiParameter(
                "since",
                {"type": "integer", "minimum": 0, "maximum": GREATEST_VERSION, "default": 0},
                description="A corpus version.",
            ),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MOST_VERSIONS, "default": VERSIONS},
                description="Of how many versions.",
            ),
            FIELDS,
        ],
        responses=shapes.Changes,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        since = parameters.whole_number(request, "since", default=0, least=0, most=GREATEST_VERSION)
        limit = parameters.whole_number(request, "limit", default=VERSIONS, least=1, most=MOST_VERSIONS)
        with search.snapshot():
            found = changes.since(since, versions=limit)
            parts: dict[str, int | str] = {"since": found.upto, "limit": limit}
            parts |= {"fields": ",".join(sorted(self.only))} if self.only else {}
            return self.shown(
                {
                    "items": found.changes,
                    "since": since,
                    "upto": found.upto,
                    "next": f"{request.path}?{urlencode(parts)}" if found.has_more else None,
                }
            )
