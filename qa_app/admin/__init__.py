"""The desk for questions and answers: what was asked, what is missing, what readers thought, how well it goes."""

from qa_app.admin.asked import AnswerAdmin, FeedbackAdmin
from qa_app.admin.gaps import GapAdmin
from qa_app.admin.golden import EvaluationRunAdmin, GoldenQuestionAdmin
from qa_app.admin.safety_replies import SafetyReplyAdmin

__all__ = [
    "AnswerAdmin",
    "EvaluationRunAdmin",
    "FeedbackAdmin",
    "GapAdmin",
    "GoldenQuestionAdmin",
    "SafetyReplyAdmin",
]
