"""The stock admin under our own name."""

from django.contrib.admin import apps


class InformAdminConfig(apps.AdminConfig):
    default = False  # else Django would take it for the configuration of inform_site itself
    default_site = "inform_site.admin.InformAdminSite"
