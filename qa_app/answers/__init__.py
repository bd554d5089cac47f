"""Answers: make, store, stream, replay and export them."""
