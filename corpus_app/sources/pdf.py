"""Extract the text of a PDF, in a process with limits on time, memory and pages.

Columns, ligatures and signs are often damaged, so a curator checks what the text-quality gate finds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source
from corpus_app.sources.pdf_layout import joined_pages, read_pages

MAX_PAGES = 400
MAX_SECONDS = 60
MAX_MEMORY_BYTES = 512_000_000
MAX_CHARACTERS = 2_000_000

_WORKER = Path(__file__).with_name("pdf_worker.py")


@dataclass(frozen=True, slots=True)
class PdfText:
    pages: tuple[str, ...]
    """The text of each page, column by column, in the order of the file."""
    title: str
    left_out: int
    """Pages beyond the limit."""
    running_heads: tuple[str, ...] = ()
    """Lines of the page's edge that were left out, page numbers too, each once."""
    citation_marks: tuple[str, ...] = ()
    """Numbers of references that were left out, each once."""

    @property
    def text(self) -> str:
        return joined_pages(self.pages)


def text_of_pdf(source: Source, *, seconds: float = MAX_SECONDS) -> PdfText:
    """Extract the text of a PDF. Raises Refused when it is not a PDF, locked, too large or takes too long."""
    with source.open() as stream:
        content = stream.read()
    if not content[:1024].lstrip().startswith(b"%PDF-"):
        raise Refused("is no PDF.")
    with tempfile.TemporaryFile() as given:
        given.write(content)
        given.seek(0)
        limits = [str(limit) for limit in (MAX_PAGES, MAX_MEMORY_BYTES, int(seconds) + 1, MAX_CHARACTERS)]
        try:
            done = subprocess.run(
                [sys.executable, "-I", str(_WORKER), *limits],
                stdin=given,
                capture_output=True,
                timeout=seconds,
                check=False,
                env={},
            )
        except subprocess.TimeoutExpired:
            raise Refused(f"took longer than {seconds:g} seconds to read; paste its text into the form.") from None
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        raise Refused("cannot be read within the memory that a PDF is given; paste its text into the form.") from None
    if "error" in reply:
        raise Refused(reply["error"])
    found = read_pages(reply["pages"], reply["widths"])
    return PdfText(
        pages=found.pages,
        title=reply["title"],
        left_out=reply["left_out"],
        running_heads=found.running_heads,
        citation_marks=found.citation_marks,
    )
