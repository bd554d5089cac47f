"""URLs of the site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import TemplateView

from inform_site import health, language
from inform_site.api import views as api

urlpatterns = [
    path("admin/", include("inform_site.accounts.urls")),
    path("admin/", admin.site.urls),
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("language/", language.choose, name="set_language"),
    path("robots.txt", TemplateView.as_view(template_name="robots.txt", content_type="text/plain")),
    path("api/v1/health", api.HealthView.as_view(), name="api_health"),
    path("api/v1/schema", api.SchemaView.as_view(), name="api_schema"),
    path("api/v1/docs/", api.DocsView.as_view(), name="api_docs"),
    path("", include("corpus_app.urls")),
    path("", include("qa_app.urls")),
]

handler400 = "inform_site.errors.bad_request"
handler403 = "inform_site.errors.not_permitted"
handler404 = "inform_site.errors.not_found"
handler500 = "inform_site.errors.server_error"
