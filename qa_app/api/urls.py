"""Addresses for programs."""

from django.urls import path

from qa_app.api import answers, claims, desk, files, follows, legacy, reviews, searching, streaming

urlpatterns = [
    path("api/v1/search", searching.SearchView.as_view(), name="api_search"),
    path("api/v1/claims", claims.ClaimsView.as_view(), name="api_check_claims"),
    path("api/v1/answers", answers.AnswersView.as_view(), name="api_create_answer"),
    path("api/v1/answers/stream", streaming.StreamView.as_view(), name="api_stream_answer"),
    path("api/v1/answers/<str:answer_id>", answers.AnswerView.as_view(), name="api_get_answer"),
    path("api/v1/answers/<str:answer_id>/export", files.ExportView.as_view(), name="api_export_answer"),
    path("api/v1/answers/<str:answer_id>/bundle", files.BundleView.as_view(), name="api_bundle_answer"),
    path("api/v1/answers/<str:answer_id>/replay", reviews.ReplayView.as_view(), name="api_replay_answer"),
    path("api/v1/answers/<str:answer_id>/feedback", reviews.FeedbackView.as_view(), name="api_feedback"),
    path("api/v1/follows", follows.FollowsView.as_view(), name="api_follows"),
    path("api/v1/follows/<str:follow_id>", follows.FollowView.as_view(), name="api_follow"),
    path("api/v1/desk/gaps", desk.GapsView.as_view(), name="api_desk_gaps"),
    path("api/v1/desk/gaps/<str:gap_id>", desk.GapView.as_view(), name="api_desk_gap"),
    path("api/v1/desk/golden-questions", desk.GoldenQuestionsView.as_view(), name="api_desk_golden"),
    path("api/v1/desk/evaluation-runs", desk.RunsView.as_view(), name="api_desk_runs"),
    path("api/v1/desk/evaluation-runs/<str:run_id>", desk.RunView.as_view(), name="api_desk_run"),
    path("ask", legacy.AskView.as_view(), name="legacy_ask"),
    path("explain-research", legacy.UnifiedSearchView.as_view(), name="legacy_explain_research"),
    path("api/unified-search", legacy.UnifiedSearchView.as_view(), name="legacy_unified_search"),
    path("api/quick-summary", legacy.PartView.as_view(part="summary"), name="legacy_quick_summary"),
    path("api/detailed-answer", legacy.PartView.as_view(part="answer"), name="legacy_detailed_answer"),
]
