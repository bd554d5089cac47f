"""Reader feedback: ratings, unanswered questions and suggestions."""
