"""What `manage.py check --deploy` knows of our settings, beside Django's own checks."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register

from inform_site.clients.addresses import Proxies
from inform_site.variables import unknown_names


@register(Tags.security, deploy=True)
def check_deployment(**options: Any) -> list[CheckMessage]:
    """Return what an operator should mend before the site is public."""
    found: list[CheckMessage] = []
    if Proxies() == settings.PROXIES:
        found.append(
            Warning(
                "INFORM_PROXIES is not set: behind a proxy, all visitors share one quota.",
                hint="Set it to the number of your proxies, or to their networks.",
                id="inform.W001",
            )
        )
    if "*" in settings.ALLOWED_HOSTS:
        found.append(Warning("ALLOWED_HOSTS admits every host.", hint="Name the hosts of the site.", id="inform.W002"))
    if not settings.SITE_URL.startswith("https://"):
        found.append(Warning("INFORM_SITE_URL is not https://: links in mails lead there.", id="inform.W003"))
    if unknown := unknown_names():
        found.append(
            Warning(
                f"Nothing reads {', '.join(unknown)}.", hint="docs/settings.md names every setting.", id="inform.W004"
            )
        )
    return found
