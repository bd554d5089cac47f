"""Generated cases are the same in every run, and no clock decides."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("engine", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("engine")
