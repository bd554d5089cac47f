"""Cache headers of pages."""

from django.views.decorators.cache import cache_control
from django.views.decorators.vary import vary_on_headers

# A stored answer changes when a source is withdrawn, so browsers must revalidate it.
current = cache_control(private=True, no_cache=True)
current_for_all = cache_control(public=True, no_cache=True)
page_or_part = vary_on_headers("HX-Request")
