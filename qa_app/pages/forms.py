"""Forms for questions and feedback; the services validate their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.utils import formats
from django.utils.translation import gettext

from qa_app.answers import asking, claim_checking
from qa_app.feedback import ratings

T = TypeVar("T")


class QuestionForm(forms.Form):
    """The question form of the Ask page."""

    question = forms.CharField(required=False, strip=False)
    mode = forms.CharField(required=False, strip=False)
    collection = forms.CharField(required=False, strip=False)
    parent = forms.CharField(required=False, strip=False)
    """Id of the answer that the question follows."""
    filters = forms.JSONField(required=False)
    """Those of the answer whose question is asked again."""
    example = forms.CharField(required=False, strip=False)
    """A clicked example, which replaces the typed question."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            field.validators = []  # the services validate

    def can_be_asked(self) -> bool:
        """Validate the question; the reason for a rejection is among the errors."""
        return self._call_service(lambda asked: asking.check(**asked, writer="auto")) is not None

    def ask(self, allowance: asking.Allowance | None = None) -> dict[str, Any] | None:
        """Ask the question and return the payload; None for a rejected question, with the reason among the errors."""
        return self._call_service(lambda asked: asking.ask(**asked, allowance=allowance))

    def _call_service(self, service: Callable[[dict[str, Any]], T]) -> T | None:
        self.full_clean()
        typed = self.cleaned_data
        asked: dict[str, Any] = {name: typed[name] or None for name in ("mode", "collection", "parent")}
        if typed.get("filters") is not None:
            asked["filters"] = typed["filters"]
        asked["question"] = (typed["example"] or typed["question"]).replace("\r\n", "\n")
        try:
            return service(asked)
        except asking.BadQuestion as bad:
            if bad.field == "parent":  # not typed by the reader: drop it, so that a retry works
                self.data = {name: self.data.get(name) for name in self.fields} | {"parent": ""}
            self.add_error(bad.field if bad.field in self.fields and bad.field != "parent" else None, translate(bad))
            return None

    def refuse(self, why: str) -> None:
        """Add an error and keep what was typed."""
        self.full_clean()
        self.add_error("question", why)


class ClaimsForm(forms.Form):
    """The text whose claims are checked."""

    text = forms.CharField(required=False, strip=False, validators=[])

    @property
    def typed(self) -> str:
        return str(self["text"].value() or "")

    @property
    def text_errors(self) -> list[str]:
        return [str(error) for error in self.errors.get("text", ())] if self.is_bound else []

    def read(self) -> claim_checking.PastedText | None:
        """Return the text that was pasted; None for a rejected text, with the reason among the errors."""
        self.full_clean()
        try:
            return claim_checking.read(self.cleaned_data["text"])
        except claim_checking.BadClaimText as bad:
            self.add_error("text", translate(bad))
            return None

    def refuse(self, why: str) -> None:
        """Add an error and keep what was typed."""
        self.add_error("text", why)


class FeedbackForm(forms.Form):
    """A reader's feedback on an answer."""

    helpful = forms.CharField(required=False)
    reasons = forms.Field(required=False, widget=forms.MultipleHiddenInput)
    words = forms.CharField(required=False, strip=False)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for field in self.fields.values():
            field.validators = []  # the services validate

    def give(self, answer_id: str, *, amends: int | None, client: str) -> int | None:
        """Store the feedback and return its key; None where there is no such answer or the form has errors."""
        self.full_clean()
        typed = self.cleaned_data
        try:
            given = ratings.give_feedback(
                answer_id,
                is_helpful={"yes": True, "no": False}.get(typed["helpful"]),
                reasons=list(typed["reasons"] or ()),
                words=typed["words"].replace("\r\n", "\n"),
                amends=amends,
                client=client,
            )
        except ratings.BadFeedback as bad:
            self.add_error(bad.field if bad.field in self.fields else None, translate(bad))
            return None
        return given.pk if given else None


def translate(bad: asking.BadInput) -> str:
    """Return the message of rejected input in the language of the page."""
    if not bad.params:
        return gettext(bad.message)
    return gettext(bad.message) % {
        name: formats.number_format(value, force_grouping=True) if isinstance(value, int) else value
        for name, value in bad.params.items()
    }
