"""Django's PostgreSQL backend, whose statements and connections wait no longer than the request they serve may."""
