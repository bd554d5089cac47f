"""Configuration of the site and of the admin app with our own site class."""

from django.apps import AppConfig
from django.contrib.admin import apps

from corpus_app.roles import ADMINISTRATORS


class InformConfig(AppConfig):
    name = "inform_site"
    verbose_name = "Site"
    role_permissions = {ADMINISTRATORS: frozenset({"view_auditentry"})}

    def ready(self) -> None:
        from inform_site.accounts import listening  # noqa: F401  # connects its receivers


class InformAdminConfig(apps.AdminConfig):
    default = False  # else Django would take it for the configuration of inform_site itself
    default_site = "inform_site.admin.InformAdminSite"

    def ready(self) -> None:
        from inform_site import accepting, checks  # noqa: F401  # registers them
        from inform_site.accounts import desk
        from inform_site.api.access import may_mail, seconds_to_wait
        from inform_site.clients import keys
        from inform_site.clients.addresses import client_of
        from inform_site.monitoring import sentry
        from qa_app import hooks

        super().ready()
        desk.hide_library_pages()
        sentry.start()
        hooks.count_request, hooks.count_mail = seconds_to_wait, may_mail
        hooks.identify_client, hooks.is_client_active = client_of, keys.is_active
        hooks.add_question, hooks.add_alias = accepting.add_question, accepting.add_alias
