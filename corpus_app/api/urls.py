"""URLs of the corpus's API."""

from django.urls import include, path

from corpus_app.api import corpus, studies

urlpatterns = [
    path("desk/", include("corpus_app.api.desk.urls")),
    path("studies", studies.StudiesView.as_view(), name="api_studies"),
    path("studies/<str:study_id>", studies.StudyView.as_view(), name="api_study"),
    path("studies/<str:study_id>/passages", studies.StudyPassagesView.as_view(), name="api_study_passages"),
    path("passages/<str:passage_id>", studies.PassageView.as_view(), name="api_passage"),
    path("concepts", corpus.ConceptsView.as_view(), name="api_concepts"),
    path("concepts/<str:concept_id>", corpus.ConceptView.as_view(), name="api_concept"),
    path("certainties", corpus.CertaintiesView.as_view(), name="api_certainties"),
    path("collections", corpus.CollectionsView.as_view(), name="api_collections"),
    path("corpus/version", corpus.CorpusVersionView.as_view(), name="api_corpus_version"),
    path("corpus/changes", corpus.ChangesView.as_view(), name="api_corpus_changes"),
]
