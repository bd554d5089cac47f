"""From a question to an answer, without any framework: `run.py` holds the order of work."""
