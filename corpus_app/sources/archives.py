"""Read zip archives safely: in memory, ignoring paths, with limits against decompression bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from corpus_app.sources.files import Refused
from corpus_app.sources.intake import HARMLESS_BYTES, MAX_BYTES, MAX_RATIO, Source

MAX_MEMBERS = 5_000
_OFFICE = {"word/": "a Word file", "xl/": "an Excel file", "ppt/": "a PowerPoint file"}


def is_zip(head: bytes) -> bool:
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def members(source: Source, *, is_book: bool = False) -> Iterator[Source]:
    """Yield each importable file of a zip, or of an EPUB. Raises Refused before it unpacks anything unsafe."""
    with source.open() as stream:
        content = stream.read()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if not is_book:
                _refuse_office(archive.namelist())
            yield from _members(source.name, archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise Refused(f"is a damaged or locked zip file: {error}.") from None


def _members(name: str, archive: zipfile.ZipFile) -> Iterator[Source]:
    found = archive.infolist()
    if len(found) > MAX_MEMBERS:
        raise Refused(f"holds {len(found):,} files; at most {MAX_MEMBERS:,} are read.")
    total = 0
    for member in found:
        _check_name(member.filename)
        total += member.file_size
        if member.file_size > HARMLESS_BYTES and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise Refused(
                f"holds {member.filename[:80]!r}, which unpacks to "
                f"{member.file_size // max(1, member.compress_size):,} times its size."
            )
    if total > MAX_BYTES:
        raise Refused(f"unpacks to {total // 1_000_000:,} MB; at most {MAX_BYTES // 1_000_000} MB are read. Split it.")
    for member in found:
        path = PurePosixPath(member.filename)
        if member.is_dir() or path.name.startswith(".") or "__MACOSX" in path.parts:
            continue
        with archive.open(member) as packed:
            content = packed.read(member.file_size + 1)
        if len(content) > member.file_size:
            raise Refused(f"says a wrong size for {member.filename[:80]!r}.")
        yield Source(member.filename, content)


def _refuse_office(names: Sequence[str]) -> None:
    """Raise Refused for an office file, which is a zip file inside."""
    if "[Content_Types].xml" not in names and names[:1] != ["mimetype"]:
        return
    kinds = (kind for folder, kind in _OFFICE.items() if any(name.startswith(folder) for name in names))
    kind = next(kinds, "an office file")
    raise Refused(f"is {kind}: save it as PDF, CSV or RIS, or paste its text into the form.")


def _check_name(name: str) -> None:
    parts = PurePosixPath(name.replace("\\", "/"))
    if parts.is_absolute() or ".." in parts.parts or "\0" in name or (len(name) > 1 and name[1] == ":"):
        raise Refused(f"holds the name {name[:80]!r}, which leads out of the archive. Pack the folder once more.")
