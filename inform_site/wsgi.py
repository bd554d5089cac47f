"""The WSGI application, for servers without ASGI."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

application = get_wsgi_application()
