"""Signing in at the desk: throttle, second factors, sessions, confirmation of dangerous acts, and the audit log."""
