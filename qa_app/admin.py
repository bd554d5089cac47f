"""Where Django looks for admin classes; they are in `qa_app.desk`."""

from qa_app.desk import *  # noqa: F403
