"""URLs of the corpus."""

from django.urls import include, path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from corpus_app.public import feeds, views


class StudyId(StringConverter):
    regex = "[A-Za-z0-9][A-Za-z0-9._-]{0,39}"


class ConceptId(StringConverter):
    regex = "[A-Za-z0-9_-]{1,80}"


register_converter(StudyId, "study_id")
register_converter(ConceptId, "concept_id")

urlpatterns = [
    path("corpus/", views.browse, name="corpus"),
    path("studies/", RedirectView.as_view(pattern_name="corpus", permanent=True, query_string=True)),
    path("studies/<study_id:study_id>/", views.study, name="study"),
    path("topics/", views.topics, name="topics"),
    path("topics/<concept_id:concept_id>/", views.topic, name="topic"),
    path("changes/", views.recent, name="changes"),
    path("changes/atom.xml", feeds.recent, name="changes_feed"),
    path("api/v1/", include("corpus_app.api.urls")),
]
