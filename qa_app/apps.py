from django.apps import AppConfig


class QaConfig(AppConfig):
    name = "qa_app"
    verbose_name = "Questions and answers"
    # what the groups of the desk may do here, each all that the one before it may; kept by corpus_app after each migrate
    role_permissions = {
        "Desk readers": frozenset(
            f"view_{model}" for model in ("safetyreply", "answer", "feedback", "gap", "goldenquestion", "evaluationrun")
        ),
        "Curators": frozenset(
            {
                "add_safetyreply",
                "change_safetyreply",
                "approve_safetyreply",
                "list_answer",
                "change_gap",
                "add_evaluationrun",
            }
            | {f"{act}_goldenquestion" for act in ("add", "change", "delete")}
        ),
    }
