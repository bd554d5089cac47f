"""All addresses of the site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import TemplateView

from inform_site import health

urlpatterns = [
    path("admin/", admin.site.urls),
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("robots.txt", TemplateView.as_view(template_name="robots.txt", content_type="text/plain")),
    path("", include("corpus_app.urls")),
    path("", include("qa_app.urls")),
]

handler400 = "qa_app.views.bad_request"
handler404 = "qa_app.views.not_found"
handler500 = "qa_app.views.server_error"
