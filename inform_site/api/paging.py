"""Cursor pagination: inserted or deleted rows never repeat or hide another row."""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlencode

from django.core.exceptions import ValidationError as BadValue
from django.db import DataError
from rest_framework import exceptions
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response

LONGEST_CURSOR = 2_000


class Placed(Protocol):
    @property
    def key(self) -> tuple[Any, ...]:
        """Return the position of the row in the order of the list."""


class CursorPages(CursorPagination):
    """Cursor pagination of a queryset by the view's `ordering`, or of a sequence sorted by the `key` of its rows."""

    page_size = 20
    max_page_size = 100
    page_size_query_param = "limit"
    invalid_cursor_message = "This is no cursor of this list. Follow `next` as it was given, or leave it out."

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        self._request = request
        self.page_size = self.get_page_size(request) or self.page_size
        if isinstance(queryset, Sequence):
            return self._page(queryset, request)
        self.ordering = getattr(view, "ordering", self.ordering)
        try:
            return super().paginate_queryset(queryset, request, view)
        except (BadValue, ValueError, DataError) as error:  # a cursor made up by somebody
            raise self._refusal() from error

    def _page(self, rows: Sequence[Placed], request: Request) -> list[Any]:
        start = 0
        if self.cursor_query_param in request.query_params:
            after = self._read(request.query_params[self.cursor_query_param])
            if rows and len(after) != len(rows[0].key):
                raise self._refusal()
            try:
                place_after = getattr(rows, "place_after", None)  # of rows that the database sorts
                start = place_after(after) if place_after else bisect_right(rows, after, key=lambda row: row.key)
            except (TypeError, ValueError, BadValue, DataError) as error:
                raise self._refusal() from error
        page = list(rows[start : start + self.page_size])
        self._after = page[-1].key if start + self.page_size < len(rows) else None
        return page

    def get_next_link(self) -> str | None:
        if not hasattr(self, "_after"):
            link = super().get_next_link()
            return None if link is None else link[link.index("/", link.index("//") + 2) :]
        if self._after is None:
            return None
        words = json.dumps(self._after, separators=(",", ":")).encode()
        parameters = self._request.query_params.copy()
        parameters[self.cursor_query_param] = base64.urlsafe_b64encode(words).decode().rstrip("=")
        return f"{self._request.path}?{parameters.urlencode()}"

    def _read(self, cursor: str) -> tuple[Any, ...]:
        try:
            if len(cursor) > LONGEST_CURSOR:
                raise ValueError
            key = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        except (ValueError, binascii.Error, RecursionError) as error:
            raise self._refusal() from error
        if not isinstance(key, list):
            raise self._refusal()
        return tuple(key)

    def decode_cursor(self, request: Request) -> Cursor | None:
        try:
            return super().decode_cursor(request)
        except (exceptions.NotFound, UnicodeDecodeError) as error:
            raise self._refusal() from error

    def _refusal(self) -> exceptions.ValidationError:
        return exceptions.ValidationError(
            {self.cursor_query_param: [exceptions.ErrorDetail(self.invalid_cursor_message, "bad_cursor")]}
        )

    def get_page_size(self, request: Request) -> int | None:
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if asked.isascii() and asked.isdecimal() and len(asked) < 5 and 1 <= int(asked) <= self.max_page_size:
            return int(asked)
        advice = f"Send a whole number from 1 to {self.max_page_size}."
        raise exceptions.ValidationError({self.page_size_query_param: [exceptions.ErrorDetail(advice, "unknown")]})

    def get_paginated_response(self, data: Any) -> Response:
        following = self.get_next_link()
        headers = {} if following is None else {"Link": f'<{following}>; rel="next"'}
        return Response({"items": data, "next": following}, headers=headers)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["items", "next"],
            "properties": {
                "items": schema,
                "next": {
                    "type": ["string", "null"],
                    "description": "Where the next page is; null on the last one.",
                    "examples": ["/api/v1/studies?" + urlencode({"cursor": "WyJTMDIwIl0"})],
                },
            },
        }
