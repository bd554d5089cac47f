"""Translate the fixed texts of stored answers, which are stored in English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from re import Match
from typing import Any

from django import template
from django.conf import settings
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_noop as N_

from corpus_app import search
from qa_app.pipeline.question.safety import URGENT, replies_in
from qa_app.templatetags.counted_words import facet_words

register = template.Library()

_NOT_ANSWERED = N_(
    "The studies here do not answer this question. Below are the closest passages, but they are not an answer. "
    "Try a related question, or put it in other words."
)
_BY_WORDS_ALONE = N_("Right now the site can search only by words, not by meaning. Asking again later may find more.")
_NOTHING_NAMED = N_(
    "This question does not say what it is about. Please name it and ask again. Below are the closest passages, but "
    "they are not an answer."
)
_OUTSIDE = N_("This question is outside what the studies here cover, so there is no answer.")
_IN_ENGLISH = N_("The studies here are in English, so a question in English finds more.")
_NOT_IN_ENGLISH = N_(
    "This site understands questions in English only, the language of its studies. So this says nothing about what the "
    "studies hold. Please ask again in English."
)
_NOTHING_LEFT = N_("No study that fits these filters answers this question.")
_NEAREST_SHOWN = N_("Below are the closest passages, but they are not an answer.")
_NOTHING_FOUND = N_(
    "A language model read the passages of the studies twice and found no answer to this question in them."
)
FIXED = (
    _NOT_ANSWERED,
    _NOTHING_FOUND,
    _BY_WORDS_ALONE,
    _NOTHING_NAMED,
    _OUTSIDE,
    _IN_ENGLISH,
    N_("The quoted passages may leave a part of the question open."),
    _NOT_IN_ENGLISH,
    _NOTHING_LEFT,
    _NEAREST_SHOWN,
    N_("All that is quoted here was found in older adults; it may not hold for others."),
    N_("All that is quoted here was found in older women; it may not hold for others."),
    N_("All that is quoted here was found in older men; it may not hold for others."),
    N_("All that is quoted here was found in young people; it may not hold for others."),
    N_("All that is quoted here was found in women; it may not hold for others."),
    N_("All that is quoted here was found in men; it may not hold for others."),
    N_("What is quoted first here was found in older adults; it may not hold for others."),
    N_("What is quoted first here was found in older women; it may not hold for others."),
    N_("What is quoted first here was found in older men; it may not hold for others."),
    N_("What is quoted first here was found in young people; it may not hold for others."),
    N_(
        "What you write sounds heavy, and you need not carry it alone. If you or someone near you might come to harm, "
        "call your local emergency number now (112 in Europe, 999 in the UK, 911 in North America). Someone to "
        "talk to, "
        "day and night: 116 123 in the UK, Ireland and many other countries of Europe, 988 in the United States and "
        "Canada. Please also tell somebody close to you, and a doctor. A library of studies is not what helps now."
    ),
    N_(
        "This may be an emergency, and it is nothing that a library of studies can help with. If someone may be in "
        "danger, call your local emergency number (112 in Europe, 999 in the UK, 911 in North America) or have someone "
        "take you to an emergency department at once."
    ),
)
"""Fixed texts of refusals, and the replies to a crisis and an emergency of a corpus without word lists."""
EARLIER = {
    "The studies kept here do not answer this question. Below are the nearest passages; they are not an answer. "
    "Try a related question, or ask it in other words.": _NOT_ANSWERED,
    "The studies kept here do not answer this question. Below are the nearest passages; they are not an answer. "
    "You could ask about a neighbouring point, or in other words.": _NOT_ANSWERED,
    "This question does not name what it is about: please name it and ask again. "
    "Below are the nearest passages; they are not an answer.": _NOTHING_NAMED,
    "This question lies outside the studies kept here, so there is no answer to give.": _OUTSIDE,
    "The studies kept here are in English; a question in English finds more.": _IN_ENGLISH,
    "Nothing that is left under these filters answers this question.": _NOTHING_LEFT,
    "Below are the nearest passages; they are not an answer.": _NEAREST_SHOWN,
    "Only the words of the question could be searched for just now, not its meaning; asking again in a while may find "
    "more.": _BY_WORDS_ALONE,
}
"""Texts of answers that earlier releases stored, and those that say it now."""
NOT_SAID = (
    N_("No passage found here gives an amount of money for “%(words)s”."),
    N_("No passage found here says how many “%(words)s”."),
    N_("No passage found here says when: “%(words)s”."),
    N_("No passage found here says how long: “%(words)s”."),
    N_("No passage found here says who: “%(words)s”."),
    N_("No passage found here says where: “%(words)s”."),
    N_("No passage found here gives a figure for “%(words)s”."),
    N_("No passage found here says which “%(words)s”."),
    N_("No passage found here speaks of the year %(words)s."),
)
"""What a refusal names as missing, by the type of answer expected."""
_TRANSLATED = frozenset(code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE)
LONG_TERM = N_("the long term")
SHORT_NUMBERS = frozenset("000 110 111 112 113 117 118 119 142 143 144 911 988 999".split())
"""Three digits that are a telephone number in an urgent reply, and nowhere else."""
NUMBER = re.compile(r"(?<![\w+.,/-])\+?\d(?:[ \u00a0/-]?\d){2,14}(?![\w%]|[.,/-]\d)")
YEARS = re.compile(r"(?:19|20)\d\d\D(?:19|20)\d\d")
SHORTEST = 6  # digits of an ordinary telephone number


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message with the space before it; `is_ours` where it was translated."""

    text: str
    is_ours: bool
    language: str = ""
    """The language of the text where it is neither the page's nor that of the corpus."""


@register.filter
def translated_parts(message: object) -> tuple[MessagePart, ...]:
    """Translate the known texts of a stored message; a curator's text stays as it is."""
    text = str(message or "")
    language = (get_language() or "en").partition("-")[0]
    if language == "en":
        return (MessagePart(text, is_ours=True),)
    return tuple(_parts(text, replies_in(language, search.lexicons()) if text else {}))


@register.filter
def answer_message_parts(answer: Mapping[str, Any]) -> tuple[MessagePart, ...]:
    """Translate an answer's message; the reply to a crisis or an emergency into the question's language."""
    page, asked = get_language(), answer["understood"].get("language", "")
    is_urgent = (answer.get("guardrail") or {}).get("route") in URGENT
    if not is_urgent or asked not in _TRANSLATED or asked == (page or "").partition("-")[0]:
        return translated_parts(answer["message"])
    with override(asked):
        parts = translated_parts(answer["message"])
        return tuple(replace(part, language=asked) if part.is_ours else part for part in parts)


def site_message(message: str) -> str:
    """Return a stored message with its known texts in the words of the site, for pages and programs in English."""
    return "".join(part.text for part in _parts(message, {}))


@register.filter
def with_phone_links(text: object, route: object) -> SafeString:
    """Return a safety reply with its telephone numbers as links."""
    words = str(text)
    pieces, end = [], 0
    for found in NUMBER.finditer(words):
        digits = re.sub(r"\D", "", found[0])
        is_short = route in URGENT and found[0] in SHORT_NUMBERS
        if is_short or (len(digits) >= SHORTEST and not YEARS.fullmatch(found[0])):
            prefix = "+" if found[0].startswith("+") else ""
            link = format_html('<a href="tel:{}">{}</a>', prefix + digits, found[0])
            pieces += [escape(words[end : found.start()]), link]
            end = found.end()
    return mark_safe("".join([*pieces, escape(words[end:])]))  # noqa: S308 - each piece is escaped


def _parts(text: str, replies: Mapping[str, str]) -> Iterator[MessagePart]:
    while text:
        space = text[: len(text) - len(text.lstrip())]
        rest = text[len(space) :]
        fixed = next((known for known in (*FIXED, *EARLIER, *replies) if rest.startswith(known)), None)
        if fixed:
            yield MessagePart(space + (replies.get(fixed) or gettext(EARLIER.get(fixed, fixed))), is_ours=True)
            text = rest[len(fixed) :]
            continue
        match, tell = next(
            ((found, tell) for pattern, tell in PATTERNS if (found := pattern.match(rest))), (None, None)
        )
        if match is None or tell is None:
            yield MessagePart(text, is_ours=False)
            return
        yield MessagePart(space + tell(match), is_ours=True)
        text = rest[match.end() :]


def _quoted(words: str) -> str:
    """Return quoted words in the page language's quotation marks."""
    return ", ".join(gettext("“%(word)s”") % {"word": word} for word in re.findall(r"“([^”]*+)(?:”|\Z)", words))


def _not_mentioned(match: Match[str]) -> str:
    return gettext("None of the closest passages mentions %(words)s.") % {"words": _quoted(match[1])}


def _not_joined(match: Match[str]) -> str:
    return gettext("No study here connects %(words)s with the rest of the question.") % {"words": _quoted(match[1])}


def _not_said(match: Match[str]) -> str:
    return gettext(
        "This question says “%(word)s” and does not name what is meant: please name it and ask again. "
        "Below are the nearest passages; they are not an answer."
    ) % {"word": match[1]}


def _no_such_source(match: Match[str]) -> str:
    return gettext("There is no study here by that name: %(names)s.") % {"names": match[1]}


def _unread(match: Match[str]) -> str:
    return gettext(
        "This seems to ask about the collection of studies itself, but not in a way that this site "
        "understands. Try, for example: %(words)s"
    ) % {"words": _quoted(match[1])}


def _subjects(match: Match[str]) -> str:
    return gettext("They are about: %(names)s.") % {"names": match[1]}


def _left_open(name: str) -> str:
    """Translate a part of the question that stays open: values of facets, a matched variable, or other words."""
    if name.startswith("equal "):
        return gettext("equal %(what)s") % {"what": name.removeprefix("equal ")}
    if name == LONG_TERM:
        return gettext(LONG_TERM)
    return " / ".join(map(facet_words, name.split(" / ")))


def _missing(match: Match[str]) -> str:
    first, _, last = match[1].rpartition(" or ")
    if last.count("“") != last.count("”"):  # the “or” is part of the reader's words
        first, last = "", match[1]
    first, last = ", ".join(map(_left_open, first.split(", "))), _left_open(last)
    names = gettext("%(first)s or %(last)s") % {"first": first, "last": last} if first else last
    return gettext("The quoted passages do not mention %(names)s. The answer covers the rest of the question.") % {
        "names": names
    }


Translator = Callable[[Match[str]], str]


def _absent_answer(text: str) -> tuple[re.Pattern[str], Translator]:
    pattern = "(.+?)".join(map(re.escape, text.split("%(words)s")))
    return re.compile(pattern), lambda match: gettext(text) % {"words": match[1]}


PATTERNS: tuple[tuple[re.Pattern[str], Translator], ...] = (
    (
        re.compile("No study (?:here connects|was found that joins) (“.*”) with the rest of the question\\."),
        _not_joined,
    ),
    (re.compile("None of the (?:closest|nearest) passages mentions (“.*”)\\."), _not_mentioned),
    (
        re.compile(
            r"This question says “(\w+)” and does not name what is meant: please name it and ask again\. "
            r"Below are the nearest passages; they are not an answer\."
        ),
        _not_said,
    ),
    (re.compile(r"They are about: (.+)\."), _subjects),
    (
        re.compile(r"(?:There is no study here|The studies kept here include none) by that name: (.+)\."),
        _no_such_source,
    ),
    (
        re.compile(
            r"This (?:seems to ask|asks) about the collection of studies itself, "
            r"(?:but not in a way that this site understands|in a way that is not understood here)\. "
            r"Try, for example: (“.*”)"
        ),
        _unread,
    ),
    (re.compile(r"The quoted passages do not mention (.+?)\. The answer covers the rest of the question\."), _missing),
    (re.compile(r"Nothing quoted here is about (.+?); the answer is about the rest of the question\."), _missing),
    *map(_absent_answer, NOT_SAID),
)
