"""Read the pages and books of a corpus folder: HTML, Markdown, EPUB and PDF files beside the JSON of studies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from corpus_app.records import Status
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.drafts import Problem, StudyDraft, Vocabulary, Weight
from corpus_app.sources.files import Refused, link_fault
from corpus_app.sources.formats import EPUB, HTML, MARKDOWN, PDF, detect, stream
from corpus_app.sources.intake import Source
from corpus_app.sources.layout import STUDIES

_READERS = (HTML, MARKDOWN, EPUB, PDF)
_ENDINGS = frozenset({".html", ".htm", ".xhtml", ".md", ".markdown", ".epub", ".pdf"})
_OTHER = (
    f"is nothing that a folder is read from: JSON files, {', '.join(reader.name for reader in _READERS)}. Save it "
    "as one of these (plain text with headings as Markdown has them: # Heading), or take it out of the folder."
)
_SEPARATORS = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_ID = 40
NO_COLLECTION = "pages"
"""The collection of pages where concepts.json has none."""


def read_pages(folder: Path, vocabulary: Vocabulary, designs: Collection[str]) -> Iterator[StudyDraft | Problem]:
    """Yield a source for each page or book below `folder`, named by its file, and what is to be said of it.

    A folder within it is the collection of its files; other files belong to the first collection. They are published
    like studies whose file says so, and of the one kind of source that the site declares, if it is one.
    """
    first = vocabulary.collections[0].slug if vocabulary.collections else NO_COLLECTION
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix == ".json" or any(part.startswith(".") for part in parts):
            continue
        name = f"{STUDIES}/{'/'.join(parts)}"
        if fault := link_fault(path, folder.parent):
            yield Problem(name, None, "", fault, Weight.BROKEN)
            continue
        if not path.is_file():
            continue
        source = Source(name, path)
        for item in _read(source, Intake(collection=parts[0] if len(parts) > 1 else first)):
            if not isinstance(item, StudyDraft):
                yield item
                continue
            name = _SEPARATORS.sub("-", "-".join((*parts[:-1], path.stem))).strip("-._")[:_LONGEST_ID]
            draft = replace(item, study_id=name or item.study_id, status=Status.PUBLISHED, status_reason="")
            yield replace(draft, design=next(iter(designs))) if len(designs) == 1 else draft


def _read(source: Source, intake: Intake) -> Iterator[StudyDraft | Problem]:
    """Yield the items of a page or book; a file of another format is reported and left unread."""
    try:
        reader = detect(source)
    except Refused as refused:
        is_page = Path(source.name).suffix.lower() in _ENDINGS
        yield Problem(source.name, refused.line, "", refused.reason if is_page else _OTHER, Weight.BROKEN)
        return
    except OSError as error:
        yield Problem(source.name, None, "", f"cannot be read: {error.strerror or error}.", Weight.BROKEN)
        return
    if reader not in _READERS:
        yield Problem(source.name, None, "", f"is {reader.name}. It {_OTHER}", Weight.BROKEN)
        return
    for item in stream(source, intake, reader):
        if isinstance(item, StudyDraft | Problem):
            yield item
