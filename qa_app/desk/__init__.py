"""Admin pages for questions, gaps, feedback, evaluation, proposals and safety replies."""

from qa_app.desk.asked import AnswerAdmin, FeedbackAdmin
from qa_app.desk.followed import FollowedQuestionAdmin
from qa_app.desk.gaps import GapAdmin
from qa_app.desk.golden import EvaluationRunAdmin, GoldenQuestionAdmin
from qa_app.desk.proposals import ProposalAdmin
from qa_app.desk.safety_replies import SafetyReplyAdmin

__all__ = [
    "AnswerAdmin",
    "EvaluationRunAdmin",
    "FeedbackAdmin",
    "FollowedQuestionAdmin",
    "GapAdmin",
    "GoldenQuestionAdmin",
    "ProposalAdmin",
    "SafetyReplyAdmin",
]
