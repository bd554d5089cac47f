"""URLs of questions and answers, for readers and for API clients."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter

from qa_app import pages


class AnswerIdConverter(StringConverter):
    regex = "[A-Za-z0-9_-]{1,40}"


class PartConverter(StringConverter):
    regex = "headline|summary|answer"


register_converter(AnswerIdConverter, "answer_id")
register_converter(PartConverter, "part")

urlpatterns = [
    path("", pages.ask, name="ask"),
    path("offered/", pages.ask_offered, name="ask_offered"),
    path("suggest/", pages.suggest, name="suggest"),
    path("how-it-works/", pages.how_it_works, name="how_it_works"),
    path("history/", pages.history, name="history"),
    path("claims/", pages.check_claims, name="check_claims"),
    path("claims/one/", pages.check_claim, name="check_claim"),
    path("compare/", pages.compare, name="compare"),
    path("answers/<answer_id:answer_id>/", pages.answer, name="answer"),
    path(
        "answers/<answer_id:answer_id>/citations/<part:part>/<int:sentence>/<int:index>/",
        pages.citation,
        name="citation",
    ),
    path("answers/<answer_id:answer_id>/narrow/", pages.narrow, name="narrow"),
    path("answers/<answer_id:answer_id>/again/", pages.again, name="again"),
    path("answers/<answer_id:answer_id>/feedback/", pages.feedback, name="feedback"),
    path("answers/<answer_id:answer_id>/follow/", pages.follow, name="follow"),
    path("embed/answers/<answer_id:answer_id>", pages.embed, name="embed"),
    path("oembed", pages.oembed, name="oembed"),
    path("follow/confirm/<str:token>/", pages.confirm, name="confirm_follow"),
    path("follow/stop/<str:token>/", pages.unfollow, name="unfollow"),
    path("followed/<answer_id:question_id>/", pages.followed, name="followed"),
    path("followed/<answer_id:question_id>/atom.xml", pages.followed_feed, name="followed_feed"),
    path("answers/<answer_id:answer_id>/export/<str:suffix>", pages.export, name="export"),
    path("", include("qa_app.api.urls")),
]
