"""The REST API under /api/v1/. Views declare `scope` and `quota`; the site enforces them."""
