"""The groups of the desk."""

READERS, CURATORS, REVIEWERS, ADMINISTRATORS = "Desk readers", "Curators", "Reviewers", "Administrators"
ROLES = (READERS, CURATORS, REVIEWERS, ADMINISTRATORS)
"""Groups of the desk; each may do all that the one before it may."""

# Whoever else may sign in is the business of administrators; what Django itself keeps is named here.
ROLES_OF_DJANGO = {"auth": {ADMINISTRATORS: frozenset({"view_user", "add_user", "change_user", "view_group"})}}
