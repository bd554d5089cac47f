"""Addresses for programs."""

from django.urls import path

from qa_app.api import answers, streaming

urlpatterns = [
    path("api/v1/answers", answers.AnswersView.as_view(), name="api_create_answer"),
    path("api/v1/answers/stream", streaming.StreamView.as_view(), name="api_stream_answer"),
    path("api/v1/answers/<str:answer_id>", answers.AnswerView.as_view(), name="api_get_answer"),
]
