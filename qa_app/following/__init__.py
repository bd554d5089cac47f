"""Followed questions: ask them again when the corpus changes, and tell their followers what is different."""
