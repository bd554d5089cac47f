"""Measure answers on labelled questions, and fit what is learned from them."""
