"""REST views of webhooks that are told when an answer changes."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import exceptions, status
from rest_framework.fields import CharField, DateTimeField
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from qa_app.api import answer_shapes
from qa_app.api.answers import client_of, invalid, refuse_unknown
from qa_app.api.shapes import Shape
from qa_app.following import followers, messages
from qa_app.models import Follower

FIELDS = ("answer", "url")
TAG = ["Questions"]


class FollowRequest(Shape):
    answer = CharField(help_text="The id of an answer to the question.")
    url = CharField(help_text="Where events are posted: a public address.", max_length=2_000)


class Follow(Shape):
    id = CharField()
    answer = CharField(help_text="The answer that was followed.")
    question = CharField()
    url = CharField()
    feed = CharField(help_text="The same changes as an Atom feed.")
    created_at = DateTimeField()
    notified_at = DateTimeField(allow_null=True, help_text="When an event was taken last.")
    error = CharField(allow_blank=True, help_text="Why the last event was not taken; empty where it was.")


class FollowCreated(Follow):
    secret = CharField(help_text="Proves the events (standardwebhooks.com); it is shown once.")


class Follows(Shape):
    items = Follow(many=True, help_text="Newest first.")
    next = CharField(allow_null=True, help_text="Where the next page is; null on the last one.")


EXAMPLE = OpenApiExample(
    "A webhook", value={"answer": "k3W…", "url": "https://clinic.example/inform"}, request_only=True
)


class FollowsView(APIView):
    scope = {"GET": "read", "POST": "ask"}
    quota = {"GET": "read", "POST": "ask"}

    @extend_schema(
        operation_id="list_follows", summary="The questions that your key follows", tags=TAG,
        parameters=answer_shapes.PAGES, responses=Follows,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        make_pages: Any = api_settings.DEFAULT_PAGINATION_CLASS
        pages: CursorPagination = make_pages()
        pages.ordering = ("-created_at", "-pk")
        rows = pages.paginate_queryset(followers.webhooks_of(_key_of(request)), request, view=self)
        return pages.get_paginated_response([_body(row) for row in rows or ()])

    @extend_schema(
        operation_id="follow_question", summary="Be told by webhook when an answer changes", tags=TAG,
        request=FollowRequest, responses={201: FollowCreated}, examples=[EXAMPLE],
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Posts a signed event whenever the answer to this question changes. Sent once more, it gives a new secret."""
        client = _key_of(request)
        body: Any = request.data
        refuse_unknown(body, FIELDS)
        for name in FIELDS:
            if not isinstance(body.get(name), str):
                advice = exceptions.ErrorDetail("Send it as text.", "required")
                raise exceptions.ValidationError({name: [advice]})
        try:
            made = followers.follow_by_webhook(body["answer"], body["url"], client=client)
        except followers.BadFollow as bad:
            raise invalid(bad) from bad
        if made is None:
            raise Http404("There is no answer with this id.")
        follower, secret = made
        return Response(_body(follower) | {"secret": secret}, status=status.HTTP_201_CREATED)


class FollowView(APIView):
    scope = "ask"
    quota = "ask"

    @extend_schema(
        operation_id="stop_following", summary="Stop following a question", tags=TAG,
        request=None, responses={204: None},
    )  # fmt: skip
    def delete(self, request: Request, follow_id: str) -> Response:
        """Erases the webhook and what waits to be sent to it."""
        client = _key_of(request)
        if not (follow_id.isdecimal() and len(follow_id) < 19 and followers.stop(int(follow_id), client=client)):
            raise Http404("Your key follows nothing with this id.")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _key_of(request: Request) -> str:
    """Return the id of the request's key. Raises NotAuthenticated."""
    if request.auth is None:
        raise exceptions.NotAuthenticated("Send your key: a webhook belongs to a key.", "key_required")
    return client_of(request)


def _body(follower: Follower) -> dict[str, Any]:
    deliveries = list(follower.deliveries.order_by("-pk")[:1])
    told = follower.deliveries.filter(sent_at__isnull=False).order_by("-sent_at").first()
    return {
        "id": str(follower.pk),
        "answer": follower.answer_id,
        "question": follower.answer.meant,
        "url": messages.url_of(follower),
        "feed": messages.address_of("followed_feed", follower.question_id),
        "created_at": follower.created_at.isoformat(timespec="seconds"),
        "notified_at": told.sent_at.isoformat(timespec="seconds") if told and told.sent_at else None,
        "error": deliveries[0].error if deliveries else "",
    }
