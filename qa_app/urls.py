"""Addresses of questions and answers, for readers and for programs."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from qa_app import views


class AnswerId(StringConverter):
    regex = "[A-Za-z0-9_-]{1,40}"


class Part(StringConverter):
    regex = "headline|summary|answer"


register_converter(AnswerId, "answer_id")
register_converter(Part, "part")

urlpatterns = [
    path("", views.ask, name="ask"),
    path("suggest/", views.suggest, name="suggest"),
    path("how-it-works/", views.how_it_works, name="how_it_works"),
    path("history/", views.history, name="history"),
    path("compare/", views.compare, name="compare"),
    path("answers/<answer_id:answer_id>/", views.answer, name="answer"),
    path(
        "answers/<answer_id:answer_id>/citations/<part:part>/<int:sentence>/<int:index>/",
        views.citation,
        name="citation",
    ),
    path("answers/<answer_id:answer_id>/again/", views.again, name="again"),
    path("answers/<answer_id:answer_id>/feedback/", views.feedback, name="feedback"),
    path("answers/<answer_id:answer_id>/export/<str:suffix>", views.export, name="export"),
    path("", include("qa_app.api.urls")),
]
