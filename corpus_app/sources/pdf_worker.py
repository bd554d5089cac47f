"""A program, started by `pdf`, that reads a PDF from standard input and prints JSON."""

from __future__ import annotations

import json
import math
import resource
import sys
from typing import Any


def main(pages: int, memory: int, seconds: int, characters: int) -> dict[str, Any]:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import logging

    import pypdf  # only here: a broken file can do no harm to anybody else

    logging.disable()
    try:
        reader = pypdf.PdfReader(sys.stdin.buffer)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"error": "is locked with a password; unlock it first."}
        found: list[list[tuple[float, float, float, str]]] = []
        left = characters
        for page in reader.pages[:pages]:
            found.append(pieces_of(page))
            left -= sum(len(words) for *_, words in found[-1])
            if left < 0:
                return {"error": f"has more than {characters:,} characters of text; paste the part that is needed."}
        if not any(words.strip() for pieces in found for *_, words in pieces):
            return {"error": "holds no text, only pictures of it. Paste the text from elsewhere."}
        title = str((reader.metadata.title if reader.metadata else "") or "")
        widths = [float(page.mediabox.width) for page in reader.pages[:pages]]
        left_out = max(0, len(reader.pages) - pages)
        return {"pages": found, "widths": widths, "title": title, "left_out": left_out}
    except MemoryError:
        return {"error": "needs more memory than a PDF is given; split it, or bring in its text as Markdown."}
    except Exception as error:  # whatever a broken file does to pypdf, the curator is told in one line
        advice = "save it as PDF once more, or bring in its text as Markdown."
        return {"error": f"cannot be read as a PDF ({type(error).__name__}); {advice}"}


def pieces_of(page: Any) -> list[tuple[float, float, float, str]]:
    """Return the text of a page in pieces: x and y in points, size of the type, words."""
    pieces: list[tuple[float, float, float, str]] = []

    def add(words: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        x, y = tm[4] * cm[0] + tm[5] * cm[2] + cm[4], tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        if words:
            pieces.append((x, y, abs(size) * math.hypot(tm[2], tm[3]) * math.hypot(cm[2], cm[3]), words))

    page.extract_text(visitor_text=add)
    return pieces


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))).encode("ascii", "backslashreplace").decode())
