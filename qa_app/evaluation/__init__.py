"""Evaluate answers on labelled questions, and fit models to them."""
