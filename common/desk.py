"""Form fields of both desks."""

from __future__ import annotations

from typing import Any

from django import forms


class SeenInput(forms.HiddenInput):
    """A hidden input without a label."""

    def id_for_label(self, id_: str | None) -> str:
        return ""


class SeenField(forms.CharField):
    """The version or fingerprint of the row that the page shows, for optimistic locking."""

    widget = SeenInput

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, label="", **options)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False
