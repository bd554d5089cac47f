"""Configuration of the admin app with our own site class."""

from django.contrib.admin import apps


class InformAdminConfig(apps.AdminConfig):
    default = False  # else Django would take it for the configuration of inform_site itself
    default_site = "inform_site.admin.InformAdminSite"

    def ready(self) -> None:
        from inform_site import accepting, checks  # noqa: F401  # registers them
        from inform_site.api.access import may_mail, seconds_to_wait
        from inform_site.clients import keys
        from inform_site.clients.addresses import client_of
        from qa_app import hooks

        super().ready()
        hooks.count_request, hooks.count_mail = seconds_to_wait, may_mail
        hooks.identify_client, hooks.is_client_active = client_of, keys.is_active
        hooks.add_question, hooks.add_alias = accepting.add_question, accepting.add_alias
