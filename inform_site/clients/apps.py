from django.apps import AppConfig

from corpus_app.roles import ADMINISTRATORS


class ClientsConfig(AppConfig):
    name = "inform_site.clients"
    verbose_name = "Clients"
    role_permissions = {ADMINISTRATORS: frozenset({"view_apikey", "add_apikey", "change_apikey"})}
