"""The desk by REST: what curators do in the admin, for programs, through the same door. The key's owner acts."""
