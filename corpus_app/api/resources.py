"""The base of the public API views: checked parameters, field selection, one corpus version per response."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from common import parameters
from corpus_app import search
from corpus_app.api.shapes import Shape

_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")
FIELDS = OpenApiParameter(
    parameters.FIELDS, str, description="Only these fields, with commas between, as `study_id,title`."
)


class Resource(generics.GenericAPIView[Any]):
    """Read alone, by anybody within a quota."""

    scope = "read"
    quota = "read"
    serializer_class: type[Shape]
    known: ClassVar[tuple[str, ...]] = ()
    """The query parameters that the view accepts besides `fields`."""

    def initial(self, request: Request, *arguments: Any, **options: Any) -> None:
        super().initial(request, *arguments, **options)
        parameters.refuse_unknown(request, self.known)
        self.only = parameters.chosen_fields(request, self.serializer_class)

    def shown(self, value: object) -> Response:
        with search.snapshot():
            return Response(self.serializer_class(value, only=self.only).data)

    def page(self, placed: Sequence[Any]) -> Sequence[Any]:
        """Return the rows of the requested page, each with its `key`."""
        found: Sequence[Any] = self.paginate_queryset(placed)  # type: ignore[assignment]
        return found

    def listed(self, rows: Sequence[object]) -> Response:
        return self.get_paginated_response(self.serializer_class(rows, many=True, only=self.only).data)


def found_or_404(found: Any, what: str) -> Any:
    """Return the value. Raises Http404 when it is None, with one message for missing and for unpublished rows."""
    if found is None:
        raise Http404(f"There is no {what} with this id.")
    return found


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None
