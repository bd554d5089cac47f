"""The corpus: what curators keep, and how it is found."""
