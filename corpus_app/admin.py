"""Where Django looks for admin classes; they are in `corpus_app.desk`."""

from corpus_app.desk import *  # noqa: F403
