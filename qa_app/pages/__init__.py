"""Public pages: ask a question, read an answer, open its quotations, export it."""

from qa_app.pages.answers import answer, citation, feedback
from qa_app.pages.claims import check_claim, check_claims
from qa_app.pages.comparing import compare
from qa_app.pages.embedding import embed, oembed
from qa_app.pages.errors import bad_request, not_found, server_error, too_many
from qa_app.pages.explaining import how_it_works
from qa_app.pages.exports import export
from qa_app.pages.following import confirm, follow, followed, followed_feed, unfollow
from qa_app.pages.history import history
from qa_app.pages.narrowing import narrow
from qa_app.pages.questions import again, ask, ask_offered
from qa_app.pages.suggestions import suggest

__all__ = [
    "again",
    "answer",
    "ask",
    "ask_offered",
    "bad_request",
    "check_claim",
    "check_claims",
    "citation",
    "compare",
    "confirm",
    "embed",
    "export",
    "feedback",
    "follow",
    "followed",
    "followed_feed",
    "history",
    "how_it_works",
    "narrow",
    "not_found",
    "oembed",
    "server_error",
    "suggest",
    "too_many",
    "unfollow",
]
