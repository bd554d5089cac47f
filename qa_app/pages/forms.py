"""The question form. It carries what was typed there and back; whether it can be asked is the door's to say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.utils import formats
from django.utils.translation import gettext

from qa_app.answers import asking
from qa_app.feedback import ratings

T = TypeVar("T")


class QuestionForm(forms.Form):
    question = forms.CharField(required=False, strip=False)
    mode = forms.CharField(required=False, strip=False)
    collection = forms.CharField(required=False, strip=False)
    parent = forms.CharField(required=False, strip=False)
    """The answer that the question follows."""
    example = forms.CharField(required=False, strip=False)
    """The question of a clicked example, which goes before what stands in the box."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            field.validators = []  # the door's words, not Django's

    def can_be_asked(self) -> bool:
        """Whether the door would take it; the reason, if not, is among the errors."""
        return self._at_the_door(lambda asked: asking.check(**asked, writer="auto")) is not None

    def ask(self, allowance: asking.Allowance | None = None) -> dict[str, Any] | None:
        """The answer's payload; None when the question cannot be asked, with the reason among the errors."""
        return self._at_the_door(lambda asked: asking.ask(**asked, allowance=allowance))

    def _at_the_door(self, door: Callable[[dict[str, Any]], T]) -> T | None:
        self.full_clean()
        typed = self.cleaned_data
        asked = {name: typed[name] or None for name in ("mode", "collection", "parent")}
        asked["question"] = (typed["example"] or typed["question"]).replace("\r\n", "\n")
        try:
            return door(asked)
        except asking.BadQuestion as bad:
            if bad.field == "parent":  # nothing that was typed: asked again, it stands alone
                self.data = {name: self.data.get(name) for name in self.fields} | {"parent": ""}
            self.add_error(bad.field if bad.field in self.fields and bad.field != "parent" else None, _translate(bad))
            return None

    def refuse(self, why: str) -> None:
        """Says that the question is not asked now; what was typed stays."""
        self.full_clean()
        self.add_error("question", why)


class FeedbackForm(forms.Form):
    """What a reader thinks of an answer; whether it can be kept is the door's to say."""

    helpful = forms.CharField(required=False)
    reasons = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    words = forms.CharField(required=False, strip=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            field.validators = []  # the door's words, not Django's

    def give(self, answer_id: str, *, amends: int | None) -> int | None:
        """The key of what was kept; None where there is no such answer, or where it cannot be kept: then with an error."""
        self.full_clean()
        typed = self.cleaned_data
        try:
            given = ratings.give_feedback(
                answer_id,
                is_helpful={"yes": True, "no": False}.get(typed["helpful"]),
                reasons=list(typed["reasons"] or ()),
                said=typed["words"].replace("\r\n", "\n"),
                amends=amends,
            )
        except ratings.BadFeedback as bad:
            self.add_error(bad.field if bad.field in self.fields else None, _translate(bad))
            return None
        return given.pk if given else None


def _translate(bad: asking.BadInput) -> str:
    if not bad.params:
        return gettext(bad.message)
    return gettext(bad.message) % {
        name: formats.number_format(value, force_grouping=True) if isinstance(value, int) else value
        for name, value in bad.params.items()
    }
