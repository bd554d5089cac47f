"""Translate the fixed texts of stored answers, which are stored in English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from re import Match

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_noop as N_

from qa_app.pipeline.question.safety import URGENT
from qa_app.templatetags.counted_words import PEOPLE

register = template.Library()

FIXED = (
    N_(
        "The studies kept here do not answer this question. Below are the nearest passages; they are not an answer. "
        "Try a related question, or ask it in other words."
    ),
    N_(  # in answers of former releases
        "The studies kept here do not answer this question. Below are the nearest passages; they are not an answer. "
        "You could ask about a neighbouring point, or in other words."
    ),
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
        "Only the words of the question could be searched for just now, not its meaning; "
        "asking again in a while may find more."
    ),
    N_(
        "This question does not name what it is about: please name it and ask again. "
        "Below are the nearest passages; they are not an answer."
    ),
    N_("This question lies outside the studies kept here, so there is no answer to give."),
    N_("The studies kept here are in English; a question in English finds more."),
    N_(
        "What you write sounds heavy, and you need not carry it alone. If you or someone near you might come to harm, "
        "call your local emergency number now (112 in Europe, 999 in the UK, 911 in North America). Someone to "
        "talk to, "
        "day and night: 116 123 in the UK, Ireland and many other countries of Europe, 988 in the United States and "
        "Canada. Please also tell somebody close to you, and a doctor. A library of studies is not what helps now."
    ),
    N_(
        "This may be an emergency, and it is nothing that a library of studies can help with. Stop exercising now. "
        "If someone may be in danger, call your local emergency number (112 in Europe, 999 in the UK, 911 in North "
        "America) or have someone take you to an emergency department at once. When it is safe, ask a doctor before "
        "you train again."
    ),
    N_(
        "This may be an emergency, and it is nothing that a library of studies can help with. If someone may be in "
        "danger, call your local emergency number (112 in Europe, 999 in the UK, 911 in North America) or have someone "
        "take you to an emergency department at once."
    ),
    N_(
        "How to train in pregnancy is for the midwife or doctor who looks after you to say. With any symptom or "
        "complication, please pause training and speak to them today rather than tomorrow; call the emergency number "
        "if there is bleeding, strong pain or faintness. This site gives no advice on it."
    ),
    N_(
        "This sounds like something to be looked at, and no website can examine you. What a test shows is for the "
        "doctor who had it done to explain. With an injury, please rest the part and see a doctor or physiotherapist, "
        "soon if it is swollen, misshapen, numb, weak or very painful. This site cannot say what is wrong or which "
        "exercise would help."
    ),
    N_(  # in answers of former releases
        "Symptoms or complications in pregnancy need a midwife or doctor, today rather than tomorrow, and the "
        "emergency number if there is bleeding, strong pain or faintness. Please pause training until they have said "
        "what is safe. This site gives no advice on it."
    ),
    N_(
        "What you describe deserves care rather than a training or diet plan, and this site will not give numbers for "
        "it. Please talk to your doctor, or to an eating-disorder helpline in your country; both are used to these "
        "questions and do not judge. If you feel faint, have chest pain or think of harming yourself, call the "
        "emergency number."
    ),
    N_(
        "Training, diets and supplements for children and teenagers need someone who knows the child: a "
        "paediatrician, a family doctor or a qualified youth coach, together with a parent. Most studies here are on "
        "adults, and this site gives no plan for anyone under 18."
    ),
    N_(
        "Whether to start, stop or change a medicine, and how to eat and train with it, is a question for the doctor "
        "who prescribed it: stopping some of them suddenly is dangerous, however well training goes. Please ask your "
        "doctor or pharmacist first. This site can tell you what studies found about training in groups of people, "
        "not what is right for your treatment."
    ),
    N_(  # in answers of former releases
        "Training, diets and supplements for children and teenagers need someone who knows the child: a "
        "paediatrician, a family doctor or a qualified youth coach, together with a parent. The studies here are on "
        "adults, so this site gives no plan for anyone under 18."
    ),
    N_(
        "This site gives no doses or schedules for medicines, hormones or doping substances, whoever asks: taken "
        "without a doctor they can do lasting harm or kill. If you take or are thinking of taking them, a doctor or a "
        "drug advice service can talk it through in confidence."
    ),
    N_(  # in answers of former releases
        "Whether to start, stop or change a medicine is a decision for the doctor who prescribed it: stopping some of "
        "them suddenly is dangerous, however well training goes. Please ask your doctor or pharmacist first. This "
        "site can tell you what studies found about training in groups of people, not what is right for your treatment."
    ),
    N_(
        "That depends on your own health, which only the people who treat you know. Please ask the doctor who looks "
        "after you before you change your training or diet. This site can tell you what studies found in groups of "
        "people, not what is safe for you."
    ),
    N_(
        "This sounds like something to be looked at, and no website can examine you. Please rest the part and see a "
        "doctor or physiotherapist, soon if it is swollen, misshapen, numb, weak or very painful. This site cannot "
        "say what is wrong or which exercise would help."
    ),
    N_(
        "What this site can do: say what published studies found about training, protein, supplements and exercise in "
        "later life, with each sentence tied to its source. Ask about a group of people rather than about one "
        "person's health."
    ),
)
"""Fixed texts of refusals and built-in safety replies."""
GROUPS = {**PEOPLE, "the long term": N_("the long term")}
"""Population names and time frames in messages about what an answer leaves open."""


SHORT_NUMBERS = frozenset({"000", "110", "111", "112", "113", "117", "118", "119", "144", "911", "988", "999"})
"""Three digits that are a telephone number in an urgent reply, and nowhere else."""
NUMBER = re.compile(r"(?<![\w+.,/-])\+?\d(?:[ \u00a0/-]?\d){2,14}(?![\w%]|[.,/-]\d)")
YEARS = re.compile(r"(?:19|20)\d\d\D(?:19|20)\d\d")
SHORTEST = 6  # digits of an ordinary telephone number


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A part of a message with the space before it; `is_ours` where it was translated."""

    text: str
    is_ours: bool


@register.filter
def translated_parts(message: object) -> tuple[MessagePart, ...]:
    """Translate the known texts of a stored message; a curator's text stays as it is."""
    text = str(message or "")
    if (get_language() or "en").startswith("en"):
        return (MessagePart(text, is_ours=True),)
    return tuple(_parts(text))


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


def _parts(text: str) -> Iterator[MessagePart]:
    while text:
        space = text[: len(text) - len(text.lstrip())]
        rest = text[len(space) :]
        fixed = next((known for known in FIXED if rest.startswith(known)), None)
        if fixed:
            yield MessagePart(space + gettext(fixed), is_ours=True)
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
    return ", ".join(gettext("“%(word)s”") % {"word": word} for word in re.findall("“(.*?)”", words))


def _not_mentioned(match: Match[str]) -> str:
    return gettext("None of the nearest passages mentions %(words)s.") % {"words": _quoted(match[1])}


def _not_joined(match: Match[str]) -> str:
    return gettext("No study was found that joins %(words)s with the rest of the question.") % {
        "words": _quoted(match[1])
    }


def _not_said(match: Match[str]) -> str:
    return gettext(
        "This question says “%(word)s” and does not name what is meant: please name it and ask again. "
        "Below are the nearest passages; they are not an answer."
    ) % {"word": match[1]}


def _no_such_source(match: Match[str]) -> str:
    return gettext("The studies kept here include none by that name: %(names)s.") % {"names": match[1]}


def _unread(match: Match[str]) -> str:
    return gettext(
        "This asks about the collection of studies itself, in a way that is not understood here. Try, for "
        "example: %(words)s"
    ) % {"words": _quoted(match[1])}


def _subjects(match: Match[str]) -> str:
    return gettext("They are about: %(names)s.") % {"names": match[1]}


def _left_open(name: str) -> str:
    """Translate a part of the question that stays open: a population, a matched variable, or other words."""
    if name.startswith("equal "):
        return gettext("equal %(what)s") % {"what": name.removeprefix("equal ")}
    return " / ".join(gettext(GROUPS[one]) if one in GROUPS else one for one in name.split(" / "))


def _missing(match: Match[str]) -> str:
    first, _, last = match[1].rpartition(" or ")
    if last.count("“") != last.count("”"):  # the “or” is part of the reader's words
        first, last = "", match[1]
    first, last = ", ".join(map(_left_open, first.split(", "))), _left_open(last)
    names = gettext("%(first)s or %(last)s") % {"first": first, "last": last} if first else last
    return gettext("Nothing quoted here is about %(names)s; the answer is about the rest of the question.") % {
        "names": names
    }


Translator = Callable[[Match[str]], str]
PATTERNS: tuple[tuple[re.Pattern[str], Translator], ...] = (
    (re.compile("No study was found that joins (“.*”) with the rest of the question\\."), _not_joined),
    (re.compile("None of the nearest passages mentions (“.*”)\\."), _not_mentioned),
    (
        re.compile(
            r"This question says “(\w+)” and does not name what is meant: please name it and ask again\. "
            r"Below are the nearest passages; they are not an answer\."
        ),
        _not_said,
    ),
    (re.compile(r"They are about: (.+)\."), _subjects),
    (re.compile(r"The studies kept here include none by that name: (.+)\."), _no_such_source),
    (
        re.compile(
            r"This asks about the collection of studies itself, in a way that is not understood here\. "
            r"Try, for example: (“.*”)"
        ),
        _unread,
    ),
    (re.compile(r"Nothing quoted here is about (.+?); the answer is about the rest of the question\."), _missing),
)
