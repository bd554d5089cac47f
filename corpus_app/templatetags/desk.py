"""What the lists of the curators' desk say of their cells, so that a phone can show each row as a card."""

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
def named_by(cells: Iterable[SafeString], heads: Iterable[Mapping[str, Any]]) -> Iterator[SafeString]:
    """The cells of a row, each with the name of its column, and told apart where it says nothing."""
    nothing = f">{admin.site.empty_value_display}</t"
    for cell, head in zip(cells, heads, strict=False):
        name = "" if "action-checkbox" in head.get("class_attrib", "") else capfirst(str(head["text"]))
        says_nothing = " nothing" if nothing in cell else ""
        marked = _CELL.sub(
            lambda found: format_html('<{} class="{}{}" data-of="{}"', found[1], found[2], says_nothing, name),  # noqa: B023
            cell,
            count=1,
        )
        yield mark_safe(marked)  # noqa: S308 - Django's own cell; what was added is escaped
