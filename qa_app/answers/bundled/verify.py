"""Check this bundle: every file is as it was packed, and every quotation is in its passage, word for word.

    python3 verify.py                 the folder that contains this file
    python3 verify.py bundle.zip      a downloaded bundle, or another folder

It needs Python 3.8 or newer and nothing else. It exits with 0 if all is well, and otherwise prints each fault and exits
with 1. It shows that the bundle is consistent; compare it with a fresh download to see that nobody rewrote all of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


def read(place: Path) -> dict[str, bytes]:
    """Return every file of a folder or a zip, by name."""
    if place.is_dir():
        found = (path for path in sorted(place.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(place).as_posix(): path.read_bytes() for path in found}
    with zipfile.ZipFile(place) as packed:
        names = packed.namelist()
        if len(names) != len(set(names)):
            raise ValueError("a name stands twice in the zip")
        return {name: packed.read(name) for name in names}


def faults(files: dict[str, bytes]) -> Iterator[str]:
    """Yield a line for each fault."""
    hashes = json.loads(files[MANIFEST])["sha256"]
    for name in sorted(set(hashes) | set(files) - {MANIFEST}):
        if name not in files:
            yield name + ": is missing"
        elif name not in hashes:
            yield name + ": is not in the manifest"
        elif hashlib.sha256(files[name]).hexdigest() != hashes[name]:
            yield name + ": has been changed"
    answer, spans = json.loads(files["answer.json"]), json.loads(files["spans.json"])
    texts = {name: files[name].decode("utf-8") for name in files if name.startswith("passages/")}
    yield from passage_faults(answer, texts)
    yield from span_faults(answer, spans, texts)


def name_of(row: Any) -> str:
    return f"passages/{row['passage_id']}-v{row['passage_version']}.txt"


def passage_faults(answer: Any, texts: dict[str, str]) -> Iterator[str]:
    for row in answer["evidence"]:
        name = name_of(row)
        if texts.get(name) != row["text"]:
            yield name + ": is not the passage of the answer"


def span_faults(answer: Any, spans: Any, texts: dict[str, str]) -> Iterator[str]:
    """Yield quotations that are not in their passage, sentences that differ from them, and spans that do not match."""
    for span in spans:
        place = f"{span['part']}, sentence {span['sentence']}"
        text = texts.get(span["passage"])
        if text is None:
            yield place + ": its passage is missing"
        elif not 0 <= span["start"] < span["end"] <= len(text) or text[span["start"] : span["end"]] != span["quote"]:
            yield place + ": its quote is not what stands in " + span["passage"]
    keys = ("start", "end", "quote")
    packed = [(s["part"], s["sentence"], s["passage"], *(s[key] for key in keys)) for s in spans]
    quoted = []
    headline = answer.get("headline")
    parts = [("headline", [headline] if headline else [])]
    parts += [(part, answer[part]["sentences"]) for part in ("summary", "answer")]
    for part, sentences in parts:
        for number, sentence in enumerate(sentences, start=1):
            quotes = [row for row in sentence["support"] if "finding_ids" not in row]
            for row in quotes:
                quoted.append((part, number, name_of(row), *(row[key] for key in keys)))
            words = " ".join(" ".join(row["quote"] for row in quotes).split())
            if sentence["kind"] == "quote" and quotes and " ".join(sentence["text"].split()) != words:
                yield f"{part}, sentence {number}: is not what it quotes"
    if packed != quoted:
        yield "spans.json: is not what answer.json quotes"


def main(arguments: list[str]) -> int:
    place = Path(arguments[0]) if arguments else Path(__file__).resolve().parent
    try:
        files = read(place)
        found = list(faults(files))
        quotes = len(json.loads(files["spans.json"]))
    except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile) as error:
        print(f"the bundle cannot be read: {error!r}")
        return 1
    for fault in found:
        print(fault)
    if found:
        return 1
    print(f"All is well: {len(files)} files, {quotes} quotes.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
