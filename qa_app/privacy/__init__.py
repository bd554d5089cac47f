"""What the site stores of a person: find it, export it, erase it; and erase what is old (docs/operating.md)."""
