"""What readers leave behind: ratings, unanswered questions, and questions to suggest."""
