"""REST view that checks claims, and its shapes for the schema."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import exceptions
from rest_framework.fields import CharField, ChoiceField, IntegerField
from rest_framework.request import Request
from rest_framework.response import Response

from qa_app.answers import asking, claim_checking, quota
from qa_app.api import shapes
from qa_app.api.answers import QuotaProblem, TimedView, invalid, refuse_unknown
from qa_app.api.shapes import Shape

FIELDS = ("text", "collection")


class ClaimsRequest(Shape):
    text = CharField(
        max_length=claim_checking.MAX_LENGTH,
        help_text="A sentence, a paragraph or a transcript. Each sentence is a claim; the first fifty are checked.",
    )
    collection = CharField(required=False, allow_null=True, help_text="Slug of the collection to search first.")


class ClaimSpan(Shape):
    stance = ChoiceField(
        choices=claim_checking.STANCES,
        allow_null=True,
        help_text="Null for the nearest words of a claim that nothing supports or contradicts.",
    )
    reason = ChoiceField(choices=claim_checking.REASONS, allow_null=True, help_text="What contradicts.")
    other_people = CharField(
        allow_null=True, help_text="Whom these words are about, where the claim is about others; null where they fit."
    )
    passage_id = IntegerField()
    passage_version = IntegerField()
    study_id = CharField()
    start = IntegerField(help_text="Code points of the passage's text.")
    end = IntegerField(help_text="Exclusive.")
    quote = CharField(help_text="The passage's text from start to end.")
    section = CharField()
    kind = ChoiceField(choices=("summary", "excerpt", "table", "plain"))
    title = CharField()
    authors = shapes.texts()
    year = IntegerField(allow_null=True)
    doi = CharField(allow_null=True)
    url = CharField(allow_null=True)
    design = CharField()
    population = CharField(allow_blank=True, help_text="The people of the study.")
    notice = ChoiceField(choices=shapes.NOTICES)


class CheckedClaim(Shape):
    text = CharField()
    start = IntegerField(help_text="Code points of the text sent.")
    end = IntegerField(help_text="Exclusive.")
    verdict = ChoiceField(
        choices=claim_checking.VERDICTS,
        allow_null=True,
        help_text="Null where the claim gets a fixed reply.",
    )
    note = ChoiceField(
        choices=claim_checking.NOTES,
        allow_null=True,
        help_text="other_people: passages speak of other people than the claim, so it does not count as covered. "
        "undecided: passages are on the matter, but their words neither say nor deny it. "
        "no_advice: the claim says what should be done, and no passage advises for or against it. "
        "other_language: the claim is not in English, so nothing is said about the studies.",
    )
    declined = shapes.Declined(allow_null=True)
    spans = ClaimSpan(many=True, help_text="The words that decide, the nearest first; else the nearest words.")


class SkippedSentence(Shape):
    text = CharField()
    start = IntegerField()
    end = IntegerField()
    reason = ChoiceField(choices=claim_checking.SKIPPED)


class Counts(Shape):
    supported = IntegerField()
    contradicted = IntegerField()
    mixed = IntegerField()
    not_covered = IntegerField()


class CheckedClaims(Shape):
    declined = shapes.Declined(
        allow_null=True,
        help_text="The reply to a text that speaks of an emergency or a crisis: nothing is checked then.",
    )
    claims = CheckedClaim(many=True)
    counts = Counts()
    skipped = SkippedSentence(many=True, help_text="Sentences that are no claims, or come after the fiftieth.")
    corpus_version = IntegerField()
    encoder = CharField()


class ClaimsView(TimedView):
    scope = "read"
    quota = "ask"

    @extend_schema(
        operation_id="check_claims", summary="Check what a text claims", tags=["Questions"],
        description="Each claim comes back supported, contradicted, mixed or not covered, with the words of passages. "
        "Nothing is stored. Every ten claims count as one question.",
        request=ClaimsRequest, responses=CheckedClaims,
        examples=[
            OpenApiExample(
                "A claim", value={"text": "Shade lowers the temperature of city streets."}, request_only=True
            )
        ],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        given: Any = request.data
        refuse_unknown(given, FIELDS)
        if "text" not in given:
            raise exceptions.ValidationError({"text": [exceptions.ErrorDetail("Send the claims as text.", "required")]})
        try:
            pasted = claim_checking.read(given["text"])
            others = max(pasted.asks - 1, 0)  # the first one is counted already
            if seconds := quota.seconds_to_wait(request._request, "ask", others):
                raise QuotaProblem(quota.QuotaUsedUp(seconds))
            checked = claim_checking.check(pasted, collection=given.get("collection"))
        except asking.BadInput as bad:
            raise invalid(bad) from bad
        return Response(checked, headers={"Cache-Control": "no-store"})
