"""Template filter that labels the cells of admin lists, so that a phone can show each row as a card."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import template
from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

register = template.Library()

_CELL = re.compile(r'<(t[dh]) class="([^"]*)"')


@register.filter
def label_cells(cells: Iterable[SafeString], heads: Iterable[Mapping[str, Any]]) -> Iterator[SafeString]:
    """Yield the cells of a row with the column's name as `data-of`, and a class on empty ones."""
    empty = f">{admin.site.empty_value_display}</t"
    for cell, head in zip(cells, heads, strict=False):
        name = "" if "action-checkbox" in head.get("class_attrib", "") else capfirst(str(head["text"]))
        css_class = " nothing" if empty in cell else ""
        labelled: str = cell
        if start := _CELL.search(cell):
            tag = format_html('<{} class="{}{}" data-of="{}"', start[1], start[2], css_class, name)
            labelled = f"{cell[: start.start()]}{tag}{cell[start.end() :]}"
        yield mark_safe(labelled)  # noqa: S308 - Django's own cell; the additions are escaped
