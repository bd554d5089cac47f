"""Word lists of a language, and its stemmer."""
