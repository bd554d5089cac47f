"""What the API says of itself: whether it is well, its schema, and the schema as a page."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from inform_site import health


class HealthView(APIView):
    scope = None
    quota = None

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        state, status = health.state()
        return Response(state, status=status, headers={"Cache-Control": "no-store"})


class SchemaView(SpectacularJSONAPIView):
    scope = None
    quota = None


class DocsView(SpectacularSwaggerSplitView):
    scope = None
    quota = None
    url_name = "api_schema"
