"""Asks one question in the terminal."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import translation
from django.utils.translation import gettext
from django.utils.translation import ngettext as counted

from inform_site.language import use_nouns
from qa_app.answers import asking, presentation
from qa_app.answers.exporting import ALSO_ANSWERED
from qa_app.answers.site_words import in_site_words
from qa_app.pipeline.attribution import spoken
from qa_app.pipeline.citations import with_markers
from qa_app.templatetags import answer_words

MAX_WIDTH = 96
MAX_NEAREST = 3
MAX_PASSAGE_LENGTH = 280  # characters


class Command(BaseCommand):
    help = "Answers a question from the published studies, and keeps the answer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--mode", default="beginner", help="beginner (default) or intermediate")
        parser.add_argument("--collection", help="search this collection, and the others only where it holds no answer")
        parser.add_argument("--writer", default="auto", help="auto (default), extractive or llm")
        parser.add_argument("--preset", help='a policy instead of the site\'s own, as "seed-002, evidence_passages=8"')
        parser.add_argument("--json", action="store_true", help="the answer as clients see it")

    def handle(self, *args: Any, **options: Any) -> None:
        with translation.override(translation.get_language()):
            use_nouns()
            self.answer(options)

    def answer(self, options: dict[str, Any]) -> None:
        try:
            payload = asking.ask(**{k: options[k] for k in ("question", "mode", "collection", "writer", "preset")})
        except asking.BadPolicy as bad:
            raise CommandError(str(bad)) from bad
        except asking.BadQuestion as bad:
            raise CommandError(bad.detail) from bad
        except asking.OutOfTime as late:
            raise CommandError(str(late)) from late
        payload = in_site_words(payload)
        if options["json"]:
            self.stdout.write(json.dumps(payload, ensure_ascii=False, indent=2))
        else:
            self.show(payload)

    def show(self, payload: dict[str, Any]) -> None:
        self.paragraph(payload["question"], style=self.style.MIGRATE_HEADING)
        self.paragraph(describe_outcome(payload))
        if payload["message"]:
            for part in payload["message"].split("\n\n"):
                self.paragraph(part)
        self.headline(payload)
        short = {row["text"] for row in payload["summary"]["sentences"]}
        for name, heading in (("summary", "In short"), ("answer", "In detail")):
            if name == "answer" and all(row["text"] in short for row in payload[name]["sentences"]):
                continue
            text = with_markers(
                (spoken(row["text"], row["attribution"]), row["citations"], row["paragraph"])
                for row in payload[name]["sentences"]
            )
            if text:
                self.heading(heading)
            for part in text.split("\n\n"):
                if part:
                    self.paragraph(part, indent="  ")
        if payload["citations"]:
            self.heading("Sources")
            for citation in payload["citations"]:
                self.source(citation)
            self.stdout.write("\n")
        elif payload["evidence"]:
            self.heading("Nearest passages (not an answer)")
            for entry in payload["evidence"][:MAX_NEAREST]:
                self.nearest(entry)
        if payload["evidence_strength"]:
            strength = payload["evidence_strength"]
            level = f"Strength of the evidence: {answer_words.strength_words(strength['level'])}."
            self.paragraph(" ".join((level, *(reason["text"] for reason in strength["reasons"]))))
        if payload["confidence"]:
            confidence = payload["confidence"]
            reasons = "; ".join(confidence["reasons"])
            likely = answer_words.confidence_words(confidence["label"]).lower()
            self.paragraph(f"Fits the question: {likely} ({confidence['score']} of 100): {reasons}.")
        self.near(payload["near_questions"])
        self.stdout.write(self.style.HTTP_INFO(f"{payload['url']}  corpus version {payload['corpus_version']}"))

    def headline(self, payload: dict[str, Any]) -> None:
        if headline := presentation.headline(payload):
            verdict = f"{answer_words.verdict_words(headline.verdict)}. " if headline.verdict else ""
            markers = "".join(f" [{index}]" for index in headline.sentence.markers)
            self.paragraph(f"{verdict}{headline.sentence.text}{markers}", style=self.style.MIGRATE_HEADING)
            if headline.counts:
                self.paragraph(answer_words.counts_words(headline.counts) + ".")
        if payload["outcome"] == "partial" and (missing := presentation.missing_parts(payload)):
            self.paragraph(f"Not mentioned in the quoted passages: {', '.join(missing)}.")

    def near(self, questions: list[dict[str, Any]]) -> None:
        if questions:
            self.heading(gettext(ALSO_ANSWERED))
            for near in questions[: presentation.NEAR_QUESTIONS_SHOWN]:
                self.paragraph(near["question"], first="  - ", indent="    ", after=False)
            self.stdout.write("\n")

    def heading(self, text: str) -> None:
        self.stdout.write(self.style.MIGRATE_LABEL(text))

    def nearest(self, entry: dict[str, Any]) -> None:
        section = entry["section"].replace("_", " ")
        self.paragraph(f"{entry['title']} ({section})", indent="  ", after=False)
        self.paragraph(textwrap.shorten(entry["text"], MAX_PASSAGE_LENGTH, placeholder=" …"), indent="    ")

    def source(self, citation: dict[str, Any]) -> None:
        authors = (
            citation["authors"][0] + (" et al" if len(citation["authors"]) > 1 else "") if citation["authors"] else ""
        )
        parts = [authors, str(citation["year"] or ""), citation["title"], citation["url"] or ""]
        marker = f"  [{citation['index']}] "
        self.paragraph(". ".join(part for part in parts if part), first=marker, indent=" " * len(marker), after=False)

    def paragraph(
        self, text: str, *, indent: str = "", first: str | None = None, style: Any = None, after: bool = True
    ) -> None:
        text = "".join(char if char.isprintable() else " " for char in text)  # no terminal control characters
        width = min(MAX_WIDTH, shutil.get_terminal_size().columns)
        wrapped = textwrap.fill(
            text, width, initial_indent=indent if first is None else first, subsequent_indent=indent,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
        self.stdout.write(style(wrapped) if style else wrapped)
        if after:
            self.stdout.write("\n")


def describe_outcome(payload: dict[str, Any]) -> str:
    """Return `Answered, from 3 studies.`; for a count or a refusal only the outcome."""
    words = answer_words.outcome_words(payload["outcome"])
    studies = 0 if payload["generator"]["name"] == "counted" else len(payload["citations"])
    if not studies:
        return f"{words}."
    return counted("%(outcome)s, from %(number)d study.", "%(outcome)s, from %(number)d studies.", studies) % {
        "outcome": words,
        "number": studies,
    }
