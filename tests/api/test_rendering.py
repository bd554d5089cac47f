"""JSON of the API is the framework's, only faster."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from inform_site.api.rendering import SwiftJSONRenderer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_is_written_reads_as_the_frameworks_own(value: Any) -> None:
    written = SwiftJSONRenderer().render(value)

    assert (json.loads(written) if written else None) == value


def test_each_kind_of_value_is_written_letter_by_letter_as_the_framework_does() -> None:
    for value in (
        {"at": datetime(2026, 5, 1, 12, 30, 1, 123456, tzinfo=UTC), "on": date(2026, 5, 1)},
        {"id": UUID(int=7), "amount": Decimal("1.50")}, {"words": gettext_lazy("Studies"), "safe": mark_safe("<b>")},
        {"several": (1, 2), "set": {3}}, {1: "a number for a key"}, {"far": 2**70}, {"script": "ends\u2028here\u2029and"},
        {"letters": "größer ≥ 5 \U0001f3cb"}, None,
    ):  # fmt: skip
        assert SwiftJSONRenderer().render(value) == JSONRenderer().render(value)
    written = SwiftJSONRenderer().render({"a": [1]}, "application/json; indent=4")
    assert written == b'{\n    "a": [\n        1\n    ]\n}'
