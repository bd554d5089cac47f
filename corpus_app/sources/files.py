"""Read files as text and JSON, and find the lines of JSON values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus_app.sources.values import join, kind_of, shown

MAX_FILE_BYTES = 5_000_000  # the largest file of the starter corpus has 0.1 MB


class Refused(Exception):
    """A file that cannot be read; the message says why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


def link_fault(path: Path, folder: Path) -> str:
    """Return why a link is not read: it leads out of the folder, or nowhere; empty for any other file."""
    if not path.is_symlink():
        return ""
    if not path.exists():
        return "is a link to a file that is not there; put the file itself in its place."
    if path.resolve().is_relative_to(folder.resolve()):
        return ""
    return "is a link that leads out of the folder, and was not read; put the file itself in its place."


def read_text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror or error}.") from None
    if len(content) > MAX_FILE_BYTES:
        raise Refused(f"is larger than {MAX_FILE_BYTES // 1_000_000} MB; split it or shorten it.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(f"is not UTF-8 (byte 0x{content[error.start]:02x}); save it as UTF-8.", line) from None


def read_object(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the text of a JSON file and its object."""
    text = read_text(path)
    value = parse_json(text)
    if not isinstance(value, dict):
        raise Refused(f"holds {kind_of(value)}; it should hold one object.")
    return text, value


def parse_json(text: str) -> Any:
    """Parse strict JSON. Raises Refused, with the line, for duplicate keys and NaN."""
    if not text.strip():
        raise Refused("is empty; fill it, or leave it out.")
    try:
        return json.loads(text, object_pairs_hook=without_twins, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        raise Refused(f"is not JSON: {error.msg} at column {error.colno}.", error.lineno) from None
    except RecursionError:
        raise Refused("is nested too deeply.") from None
    except ValueError as error:
        raise Refused(f"is not sound JSON: {error}.") from None


def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twin = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {shown(twin)} stands twice in one object; keep one")
    return values


def no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


def line_numbers(text: str) -> dict[str, int]:
    """Return the line where each value of a valid JSON text begins, by path such as `passages[2].text`."""
    lines: dict[str, int] = {}
    frames: list[tuple[str, str | None, int]] = []  # path of the open object or array, its waiting key, its next index
    line, counted = 1, 0
    for match in _LEXEME.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        lexeme = match[0]
        if lexeme in ",:":
            continue
        if lexeme in "}]":
            frames.pop()
            continue
        path, key, index = frames[-1] if frames else ("", None, -1)
        if frames and index < 0 and key is None:
            frames[-1] = (path, json.loads(lexeme), index)
            continue
        child = f"{path}[{index}]" if index >= 0 else join(path, key or "")
        if frames:
            frames[-1] = (path, None, index + 1 if index >= 0 else index)
        lines.setdefault(child, line)
        if lexeme in "{[":
            frames.append((child, None, 0 if lexeme == "[" else -1))
    return lines


def line_of(path: str, lines: Mapping[str, int]) -> int | None:
    """Return the line of the value at `path`, or of its nearest enclosing value."""
    while path and path not in lines:
        path = re.sub(r"(\.|^)[^.\[\]]*$|\[\d+\]$", "", path)
    return lines.get(path, 1)
