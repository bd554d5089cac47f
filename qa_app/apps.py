from django.apps import AppConfig


class QaConfig(AppConfig):
    name = "qa_app"
    verbose_name = "Questions and answers"
    # Each group also has the permissions of the one before it. corpus_app assigns them after each migration.
    role_permissions = {
        "Desk readers": frozenset(
            f"view_{model}"
            for model in (
                *("safetyreply", "answer", "feedback", "gap", "goldenquestion", "evaluationrun", "proposal"),
                "followedquestion",
            )
        ),
        "Curators": frozenset(
            {
                "add_safetyreply",
                "change_safetyreply",
                "approve_safetyreply",
                "list_answer",
                "change_gap",
                "change_followedquestion",
                "add_evaluationrun",
                "decide_proposal",
            }
            | {f"{act}_goldenquestion" for act in ("add", "change", "delete")}
        ),
    }

    def ready(self) -> None:
        from django.conf import settings

        from corpus_app import hooks
        from qa_app.answers import impact, listed, offered, proposing
        from qa_app.desk import dashboard
        from qa_app.evaluation import golden_runs, replacing
        from qa_app.feedback import gaps
        from qa_app.tasks import calibrate_corpus, renew_followed

        hooks.impact_providers.append(impact.find_impacts)
        hooks.citation_counters.append(impact.count_answers)
        hooks.question_sources.append(gaps.frequent_questions)
        hooks.answered_questions_citing.append(listed.questions_citing)
        hooks.answered_questions_about.append(listed.questions_about)
        hooks.offered_questions_of.append(offered.questions_of)
        hooks.offered_questions_about.append(offered.questions_about)
        hooks.replacement_steps.append(replacing.adapt)
        hooks.golden_questions.append(golden_runs.export_rows)
        hooks.dashboard_panels.append(dashboard.panels)
        hooks.finding_word_writers.append(proposing.finding_word_writer)
        hooks.after_indexing += [calibrate_corpus.delay, renew_followed.delay]
        if settings.GOLDEN_GUARD:
            hooks.publish_checks.append(golden_runs.regressions)
