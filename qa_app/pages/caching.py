"""How long browsers may keep a page."""

from django.views.decorators.cache import cache_control
from django.views.decorators.vary import vary_on_headers

# A stored answer can change from one moment to the next (a source withdrawn), so browsers may keep it but must ask.
current = cache_control(private=True, no_cache=True)
page_or_part = vary_on_headers("HX-Request")
