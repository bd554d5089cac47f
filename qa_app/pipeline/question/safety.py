"""Decide which questions get a fixed, careful reply instead of an answer from studies.

The reviewed list decides first: its rules say which phrases occur together in a question. A classifier adds what the
list misses. Both are data: the lexicon files of the language and of the corpus, and a fitted model file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from qa_app.pipeline.lexicon import (
    LexiconError,
    PhraseIndex,
    Span,
    Table,
    Tables,
    language_table,
    near_spans,
    words_of,
)
from qa_app.pipeline.question.safety_model import SafetyClassifier
from qa_app.pipeline.question.spelling import Spelling
from qa_app.pipeline.records import Declined, Outcome

LANGUAGE_FILES = ("asking", "age", "crisis", "crisis_german")
URGENT = frozenset({"crisis", "emergency"})
"""Routes on which the list alone decides, however long the question."""
LONG_QUESTION = 60
"""Words above which phrases meet by chance: there the classifier, if any, decides all routes but the urgent ones."""
_CONDITIONS = {"every": (), "near": (), "within": 0, "unless": ()}


@dataclass(frozen=True, slots=True)
class Route:
    """A kind of question and its built-in reply; `instead` says what the site can do and may be empty."""

    name: str
    message: str
    instead: str

    def declined(self) -> Declined:
        """Return the built-in reply as an outcome."""
        return Declined(Outcome.GUARDRAIL, self.name, with_instead(self.message, self.instead))


def with_instead(message: str, instead: str) -> str:
    """Return a reply with what the site can do instead, as a paragraph of its own."""
    return f"{message}\n\n{instead}" if instead else message


@dataclass(frozen=True, slots=True)
class Rule:
    """Names of lists that must and must not occur in a question of a route."""

    route: str
    example: str
    counterexample: str
    every: Sequence[Sequence[str]]
    """Of each group at least one list occurs."""
    near: Sequence[Sequence[str]]
    """One list of each group occurs within `within` words of the others, in one sentence."""
    within: int
    unless: Sequence[str]

    def matches(self, words: Sequence[str], found: Mapping[str, Sequence[Span]]) -> bool:
        """Tell whether the rule catches a question with these phrases."""
        if any(name in found for name in self.unless):
            return False
        if not all(any(name in found for name in group) for group in self.every):
            return False
        parts = [[span for name in group for span in found.get(name, ())] for group in self.near]
        return not parts or bool(near_spans(words, parts, self.within))


@dataclass(frozen=True, slots=True)
class SafetyLexicon:
    """The compiled lists, rules and routes of the language and of one corpus; earlier routes take precedence."""

    routes: Mapping[str, Route]
    rules: tuple[Rule, ...]
    index: PhraseIndex
    spelling: Spelling

    @classmethod
    def build(cls, corpus: Tables | None = None) -> SafetyLexicon:
        """Compile the package's lists with those of a corpus (parsed files by name). Raises LexiconError."""
        tables = [*map(language_table, LANGUAGE_FILES), (corpus or {}).get("safety", {})]
        index = PhraseIndex.compile(tables)
        rows = _rows(tables, "routes")
        routes = {row["name"]: Route(row["name"], row["message"], row.get("instead", "")) for row in rows}
        rules = [_rule(row, index.names, routes) for row in _rows(tables, "rules")]
        rules.sort(key=lambda rule: list(routes).index(rule.route))
        return cls(routes, tuple(rules), index, Spelling.build(_rows(tables, "misspelt"), index.vocabulary))

    def without(self, routes: Iterable[str]) -> SafetyLexicon:
        """Return the lexicon without these routes; the urgent ones stay."""
        off = frozenset(routes) - URGENT
        kept = {name: route for name, route in self.routes.items() if name not in off}
        return replace(self, routes=kept, rules=tuple(rule for rule in self.rules if rule.route in kept))

    def words(self, question: str) -> tuple[str, ...]:
        """Return the normalised words of a question, with slips in words that matter corrected."""
        return tuple(map(self.spelling.corrected, words_of(question)))


def check(
    question: str, vector: Sequence[float] | None, lexicon: SafetyLexicon, classifier: SafetyClassifier | None
) -> Declined | None:
    """Return the fixed reply for a question that must not be answered from studies; None for all others."""
    listed, learned = routes_of(question, vector, lexicon, classifier)
    route = listed or learned
    return lexicon.routes[route].declined() if route else None


def routes_of(
    question: str, vector: Sequence[float] | None, lexicon: SafetyLexicon, classifier: SafetyClassifier | None
) -> tuple[str | None, str | None]:
    """Return the route by the list and the route by the classifier, each None where it declines nothing."""
    words = lexicon.words(question)
    found = lexicon.index.find(words)
    listed = next((rule.route for rule in lexicon.rules if rule.matches(words, found)), None)
    if classifier is None or vector is None:
        return listed, None
    if listed not in URGENT and len(words) > LONG_QUESTION:
        listed = None
    learned = classifier.route_of(classifier.probabilities(vector, words, found))
    return listed, learned if learned in lexicon.routes else None


def replies_in(language: str, corpus: Tables) -> Mapping[str, str]:
    """Return the corpus's translated replies by their English text; none where its file has none for the language."""
    replies: Mapping[str, str] = corpus.get("safety", {}).get("languages", {}).get(language, {})
    return replies


def _rows(tables: Iterable[Table], key: str) -> list[Any]:
    return [row for table in tables for row in table.get(key, ())]


def _rule(row: Table, lists: frozenset[str], routes: Mapping[str, Route]) -> Rule:
    if missing := {"route", "example", "counterexample"} - set(row):
        raise LexiconError(f"A safety rule lacks {', '.join(sorted(missing))}: {dict(row)}")
    known = {field.name for field in fields(Rule)} & set(row)  # other keys are notes of the editors
    rule = Rule(**{**_CONDITIONS, **{name: row[name] for name in known}})
    named = {name for group in (*rule.every, *rule.near, rule.unless) for name in group}
    if unknown := named - lists:
        names = ", ".join(sorted(unknown))
        raise LexiconError(f"A rule of the route {rule.route!r} names lists that do not exist: {names}")
    if rule.route not in routes or not (rule.every or rule.near):
        raise LexiconError(f"A safety rule has no condition or an unknown route: {rule.route!r}")
    return rule
