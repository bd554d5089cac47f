"""The settings of the site, with the commands of the lab."""

from inform_site.settings import *  # noqa: F403
from inform_site.settings import INSTALLED_APPS as _INSTALLED_APPS

INSTALLED_APPS = [*_INSTALLED_APPS, "lab"]
