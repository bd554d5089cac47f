"""URLs of the desk's API."""

from django.urls import path

from corpus_app.api.desk import bulk, certainties, imports, passages, studies

urlpatterns = [
    path("studies", studies.StudiesView.as_view(), name="api_desk_studies"),
    path("studies/<str:study_id>", studies.StudyView.as_view(), name="api_desk_study"),
    path("studies/<str:study_id>/passages", passages.PassagesView.as_view(), name="api_desk_study_passages"),
    path("studies/<str:study_id>/submit", studies.SubmitView.as_view(), name="api_desk_submit"),
    path("studies/<str:study_id>/send-back", studies.SendBackView.as_view(), name="api_desk_send_back"),
    path("studies/<str:study_id>/publish", studies.PublishView.as_view(), name="api_desk_publish"),
    path("studies/<str:study_id>/withdraw", studies.WithdrawView.as_view(), name="api_desk_withdraw"),
    path("studies/<str:study_id>/notice", studies.NoticeView.as_view(), name="api_desk_notice"),
    path("studies/<str:study_id>/merge", studies.MergeView.as_view(), name="api_desk_merge"),
    path("studies/<str:study_id>/comments", studies.CommentsView.as_view(), name="api_desk_comments"),
    path("studies/<str:study_id>/history", studies.HistoryView.as_view(), name="api_desk_history"),
    path("findings/<str:finding_id>/confirm", studies.ConfirmFindingView.as_view(), name="api_desk_confirm_finding"),
    path("passages/<str:passage_id>", passages.PassageView.as_view(), name="api_desk_passage"),
    path("certainties", certainties.CertaintiesView.as_view(), name="api_desk_certainties"),
    path("certainties/<str:certainty_id>", certainties.CertaintyView.as_view(), name="api_desk_certainty"),
    path("imports", imports.ImportsView.as_view(), name="api_desk_imports"),
    path("imports/look-up", imports.LookUpView.as_view(), name="api_desk_look_up"),
    path("imports/<str:import_id>", imports.ImportView.as_view(), name="api_desk_import"),
    path("imports/<str:import_id>/items", imports.ItemsView.as_view(), name="api_desk_import_items"),
    path("imports/<str:import_id>/problems", imports.ProblemsView.as_view(), name="api_desk_import_problems"),
    path("imports/<str:import_id>/confirm", imports.ConfirmView.as_view(), name="api_desk_confirm_import"),
    path("imports/<str:import_id>/leave", imports.LeaveView.as_view(), name="api_desk_leave_import"),
    path("imports/<str:import_id>/report", imports.ReportView.as_view(), name="api_desk_import_report"),
    path("imports/<str:import_id>/undo", bulk.UndoImportView.as_view(), name="api_desk_undo_import"),
    path("bulk-edits", bulk.BulkEditsView.as_view(), name="api_desk_bulk_edits"),
    path("bulk-edits/<str:bulk_edit_id>", bulk.BulkEditView.as_view(), name="api_desk_bulk_edit"),
    path("bulk-edits/<str:bulk_edit_id>/items", bulk.BulkItemsView.as_view(), name="api_desk_bulk_edit_items"),
    path("bulk-edits/<str:bulk_edit_id>/confirm", bulk.ConfirmBulkView.as_view(), name="api_desk_confirm_bulk_edit"),
    path("bulk-edits/<str:bulk_edit_id>/cancel", bulk.CancelBulkView.as_view(), name="api_desk_cancel_bulk_edit"),
    path("bulk-edits/<str:bulk_edit_id>/undo", bulk.UndoBulkView.as_view(), name="api_desk_undo_bulk_edit"),
]
