"""API views about the site itself: health, schema and the schema as a page."""

from __future__ import annotations

import threading
from typing import Any

from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inform_site import health


class Writer(serializers.Serializer[Any]):
    name = serializers.ChoiceField(choices=("extractive", "llm"))
    model = serializers.CharField(allow_null=True)
    circuit = serializers.ChoiceField(choices=("closed", "open", "half_open"), allow_null=True)


class CorpusCalibration(serializers.Serializer[Any]):
    corpus_version = serializers.IntegerField()
    questions = serializers.IntegerField(help_text="Made from the corpus's own texts.")
    auroc = serializers.FloatField(help_text="How well they are told apart with and without their source.")
    tells = serializers.BooleanField(help_text="Whether that is enough to rely on refusals.")


class Health(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    version = serializers.CharField(help_text="The release that runs, such as 1.0.0.")
    database = serializers.BooleanField()
    vectors = serializers.BooleanField(help_text="Whether the database knows vectors.")
    writer = Writer(help_text="Who writes by default.")
    calibration = serializers.CharField(allow_null=True, help_text="What keeps estimates from being used.")
    corpus_calibration = CorpusCalibration(allow_null=True, help_text="Null: the estimates are as they are shipped.")
    delays = serializers.ListField(
        child=serializers.CharField(),
        help_text="What is late in the background, such as indexing. Answers are given all the same.",
    )


class HealthView(APIView):
    scope = None
    quota = None

    @extend_schema(
        operation_id="get_health", summary="Whether the site can answer", tags=["Site"],
        responses={200: Health, 503: Health},
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        state, status = health.state()
        return Response(state, status=status, headers=health.NOT_STORED)


_one_at_a_time = threading.Lock()


class SchemaView(SpectacularJSONAPIView):
    scope = None
    quota = None

    def _get_schema_response(self, request: Request) -> Response:
        with _one_at_a_time:  # what generates it looks itself up when it first runs, which fails for two at once
            response: Response = super()._get_schema_response(request)  # type: ignore[no-untyped-call]
            return response


@method_decorator(csp_update({"img-src": ["data:"]}), name="dispatch")  # the pictures in Swagger UI's sheet
class DocsView(SpectacularSwaggerSplitView):
    scope = None
    quota = None
    url_name = "api_schema"
