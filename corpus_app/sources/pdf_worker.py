"""A program, started by `pdf`, that reads a PDF from standard input and prints JSON."""

from __future__ import annotations

import json
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
        found: list[str] = []
        for page in reader.pages[:pages]:
            found.append(page.extract_text())
            if sum(map(len, found)) > characters:
                return {"error": f"has more than {characters:,} characters of text; paste the part that is needed."}
        if not any(text.strip() for text in found):
            return {"error": "holds no text, only pictures of it. Paste the text from elsewhere."}
        title = str((reader.metadata.title if reader.metadata else "") or "")
        return {"pages": found, "title": title, "left_out": max(0, len(reader.pages) - pages)}
    except MemoryError:
        return {"error": "needs more memory than a PDF is given; paste its text by hand."}
    except Exception as error:  # whatever a broken file does to pypdf, the curator is told in one line
        return {"error": f"cannot be read as a PDF ({type(error).__name__}); paste its text by hand."}


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))).encode("ascii", "backslashreplace").decode())
