"""Read from a title whether a record is retracted, or a notice about another study and no study of its own."""

from __future__ import annotations

import re

from corpus_app.records import Notice

_THIS = r"(?:this (?:article|paper) (?:has been|is|was) )?(?:retracted|withdrawn)"
_RETRACTED = re.compile(
    rf"\A\W*{_THIS}(?: (?:article|paper|publication|chapter))?\s*[:\].–—-]"
    rf"|[(\[]\s*{_THIS}\b[^()\[\]]*[)\]]\.?\s*\Z|[:.–—-]\s+{_THIS}(?: (?:article|paper|publication))?\.?\s*\Z",
    re.IGNORECASE,
)
_OF = r"""(?: (?:notice|note|statement))?(?: (?:of|to|for|on))?\s*(?:[:.–—"“‘-]|\Z)"""
"""What stands between the name of a notice and the title that it is about."""
_NOTICE = (
    (Notice.RETRACTED, re.compile(rf"\A\W*(?:notice of )?(?:retraction|withdrawal|removal){_OF}", re.IGNORECASE)),
    (
        Notice.CORRECTED,
        re.compile(
            rf"\A\W*(?:(?:author|publisher|editorial)(?:['’]s)? )?(?:erratum|errata|corrigend(?:um|a)|correction){_OF}",
            re.IGNORECASE,
        ),
    ),
)
_CONCERN = re.compile(r"\A\W*(?:editorial )?expression of (?:editorial )?concern\b", re.IGNORECASE)


def notice_of_title(title: str) -> Notice:
    """Return the notice that a title carries for the study itself; NONE where it carries none."""
    if _RETRACTED.search(title):
        return Notice.RETRACTED
    return Notice.EXPRESSION_OF_CONCERN if _CONCERN.match(title) else Notice.NONE


def kind_of_notice(title: str) -> Notice | None:
    """Return the kind of notice that a record is instead of a study; None for a study."""
    return next((notice for notice, pattern in _NOTICE if pattern.match(title)), None)


def is_unsure(title: str) -> bool:
    """Tell whether a title may belong to the study or to the notice about it."""
    return bool(_CONCERN.match(title))
