"""Addresses for programs."""

from django.urls import path

from qa_app.api import answers

urlpatterns = [
    path("api/v1/answers", answers.AnswersView.as_view(), name="api_create_answer"),
    path("api/v1/answers/<str:answer_id>", answers.AnswerView.as_view(), name="api_get_answer"),
]
