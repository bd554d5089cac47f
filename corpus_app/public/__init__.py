"""The public pages of the corpus: browse, one study, topics and recent changes."""
