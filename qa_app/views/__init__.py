"""The public pages: ask a question, read an answer, open the words behind a sentence, take it along as a file."""

from qa_app.views.answers import answer, citation
from qa_app.views.errors import bad_request, not_found, server_error
from qa_app.views.explaining import how_it_works
from qa_app.views.exports import export
from qa_app.views.questions import ask

__all__ = ["answer", "ask", "bad_request", "citation", "export", "how_it_works", "not_found", "server_error"]
