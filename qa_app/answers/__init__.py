"""Make, store, stream, replay and export answers."""
