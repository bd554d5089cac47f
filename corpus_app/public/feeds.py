"""The Atom feed of changes in the corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.contrib.syndication.views import Feed
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from corpus_app.public import changes
from corpus_app.public.changes import Change
from corpus_app.templatetags.corpus_words import change_words

TITLES_SHOWN = 20  # in one entry
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML forbids


if TYPE_CHECKING:
    ChangeFeed = Feed[Change, None]
else:
    ChangeFeed = Feed


class RecentChanges(ChangeFeed):
    feed_type = Atom1Feed
    title = gettext_lazy("InForm: changes in the corpus")
    subtitle = gettext_lazy("Studies published, corrected, retracted or withdrawn.")
    author_name = "InForm"
    item_guid_is_permalink = False

    def link(self) -> str:
        return reverse("changes")

    def feed_url(self) -> str:
        return reverse("changes_feed")

    def items(self) -> Sequence[Change]:
        return changes.latest()

    def item_title(self, item: Change) -> str:
        return change_words(item)

    def item_description(self, item: Change) -> str:
        titles = [study.title for study in item.studies[:TITLES_SHOWN]]
        titles += (
            [gettext("and %(n)s more") % {"n": len(item.studies) - TITLES_SHOWN}]
            if len(item.studies) > TITLES_SHOWN
            else []
        )
        return UNPRINTABLE.sub(" ", ". ".join(titles))

    def item_link(self, item: Change) -> str:
        return f"{reverse('changes')}#c-{item.key}"

    def item_guid(self, item: Change) -> str:
        return f"urn:inform:change:{item.key}"

    def item_pubdate(self, item: Change) -> datetime:
        return item.at

    def item_updateddate(self, item: Change) -> datetime:
        return item.at


@cache_control(public=True, no_cache=True)
@require_safe
def recent(request: HttpRequest) -> HttpResponse:
    return RecentChanges()(request)
