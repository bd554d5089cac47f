"""Safety routes as a curator reads them: what each says and catches, which apply, and one of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tomlkit
from django.contrib.auth.models import User

from corpus_app import curation, search
from corpus_app.curation.lexica import SAFETY
from qa_app.answers.answering import reviewed
from qa_app.pipeline.lexicon import LexiconError
from qa_app.pipeline.question import safety
from qa_app.pipeline.question.safety import URGENT, SafetyLexicon
from qa_app.pipeline.records import Declined, Outcome


@dataclass(frozen=True, slots=True)
class ShownRoute:
    """A route with its reply in force and a question that it takes, and one that it leaves."""

    name: str
    reply: str
    examples: tuple[str, ...]
    counterexamples: tuple[str, ...]
    applies: bool
    is_fixed: bool
    """It serves every corpus and cannot be left out."""


class BadRoute(ValueError):
    """A route of one's own whose examples do not come out as they should."""


EXAMPLES_SHOWN = 2


def shown_routes() -> list[ShownRoute]:
    lexicon, off = SafetyLexicon.build(search.lexicons()), search.site().routes_off
    shown = []
    for name, route in lexicon.routes.items():
        rules = [rule for rule in lexicon.rules if rule.route == name][:EXAMPLES_SHOWN]
        declined = Declined(Outcome.GUARDRAIL, name, safety.with_instead(route.message, route.instead))
        shown.append(
            ShownRoute(
                name=name,
                reply=reviewed(declined).message,
                examples=tuple(rule.example for rule in rules),
                counterexamples=tuple(rule.counterexample for rule in rules),
                applies=name not in off,
                is_fixed=name in URGENT,
            )
        )
    return shown


def route_of(question: str) -> str | None:
    """Return the route that a question takes by the lists in force; None where it is answered from the sources."""
    lexicon = SafetyLexicon.build(search.lexicons()).without(search.site().routes_off)
    return safety.routes_of(question, None, lexicon, None)[0]


def set_applying(names: Sequence[str], *, by: User) -> None:
    """Let these routes of the corpus apply, and no others; the urgent ones always do."""
    lexicon = SafetyLexicon.build(search.lexicons())
    off = [name for name in lexicon.routes if name not in {*names, *URGENT}]
    curation.revise_site({"routes_off": off}, by=by)


def add_route(name: str, reply: str, phrases: Sequence[str], example: str, counterexample: str, *, by: User) -> None:
    """Add a route that takes every question with one of these phrases. Raises BadRoute where an example does not."""
    content = curation.current_lexica().get(SAFETY, "")
    document = tomlkit.parse(content)
    phrase_list = f"phrases of {name}"
    for key, row in (
        ("routes", {"name": name, "message": reply}),
        ("rules", {"route": name, "example": example, "counterexample": counterexample, "every": [[phrase_list]]}),
    ):
        document.setdefault(key, tomlkit.aot()).append(tomlkit.item(row))
    document.setdefault("lists", tomlkit.table()).update({phrase_list: {"phrases": [p.lower() for p in phrases]}})
    try:
        lexicon = SafetyLexicon.build({SAFETY: document.unwrap()})
        taken, left = (safety.routes_of(text, None, lexicon, None)[0] for text in (example, counterexample))
    except LexiconError as error:
        raise BadRoute(str(error)) from error
    if taken != name:
        raise BadRoute(f"“{example}” is not caught by these phrases{f', but by {taken}' if taken else ''}.")
    if left is not None:
        raise BadRoute(f"“{counterexample}” should be answered, and is caught by {left}.")
    curation.revise_lexicon(SAFETY, tomlkit.dumps(document), by=by)
