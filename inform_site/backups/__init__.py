"""Backups of a whole site: one archive with a dump of the database, the key and a manifest (docs/operating.md)."""
