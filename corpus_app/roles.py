"""The user groups of the desk."""

READERS, CURATORS, REVIEWERS, ADMINISTRATORS = "Desk readers", "Curators", "Reviewers", "Administrators"
ROLES = (READERS, CURATORS, REVIEWERS, ADMINISTRATORS)
"""In ascending order; each has all permissions of the one before it."""

# Permissions for Django's own models, by app and role.
DJANGO_ROLES = {"auth": {ADMINISTRATORS: frozenset({"view_user", "add_user", "change_user", "view_group"})}}
