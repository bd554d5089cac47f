"""Pages of lists by cursor: what is added or goes meanwhile makes no row appear twice or be passed over."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class CursorPages(CursorPagination):
    page_size = 20
    max_page_size = 100
    page_size_query_param = "limit"
