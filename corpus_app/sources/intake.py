"""A file to import: its bytes, its encoding, and limits on its size."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from corpus_app.sources.files import Refused

MAX_BYTES = 200_000_000  # a hundred thousand records with abstracts have about 150 MB
MAX_WHOLE = 50_000_000  # of a format that is parsed as a whole, which takes many times that in memory
MAX_RATIO = 200  # text packs to a tenth; a bomb to a thousandth
HARMLESS_BYTES = 1_000_000  # a small file may pack as well as it likes
MAX_LINE = 1_000_000  # characters; the longest line of a real exporter (an abstract) has some thousands
_CHUNK = 65_536
_DECLARED = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*%\s*Encoding:\s*([A-Za-z0-9_.-]{1,30})", re.IGNORECASE)
_HIGH = re.compile(rb"[\x80-\xff]+")
_CODECS = {
    "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "utf-8", "ascii": "utf-8", "windows-1252": "cp1252",
    "cp1252": "cp1252",
    "iso-8859-1": "cp1252", "iso8859_1": "cp1252", "latin1": "cp1252", "iso-8859-15": "iso8859-15", "gbk": "gb18030",
    "gb18030": "gb18030", "gb2312": "gb18030", "windows-1250": "cp1250", "windows-1251": "cp1251",
    "iso-8859-2": "iso8859-2",
    "macroman": "mac-roman", "shift_jis": "shift_jis", "euc-jp": "euc_jp", "big5": "big5", "koi8-r": "koi8-r",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A file in memory or on disk; `name` is only displayed, never opened."""

    name: str
    content: bytes | Path
    on_read: Callable[[float], None] | None = field(default=None, compare=False)
    """Called while the file is read, with the part of it that has been read, from 0 to 1."""

    @property
    def size(self) -> int:
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size

    def open(self) -> BinaryIO:
        """Open the bytes, unpacking gzip. Raises Refused when the file is too large or cannot be opened."""
        try:
            if self.size > MAX_BYTES:
                raise Refused(too_large())
            stored: BinaryIO = io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")
        except OSError as error:
            raise Refused(f"cannot be read: {error.strerror or error}.") from None
        is_packed = stored.read(2) == b"\x1f\x8b"
        stored.seek(0)
        unpacked = gzip.GzipFile(fileobj=stored) if is_packed else stored
        limit = min(MAX_BYTES, max(HARMLESS_BYTES, MAX_RATIO * self.size)) if is_packed else MAX_BYTES
        if self.on_read is None:
            return cast(BinaryIO, Limited(unpacked, limit))
        tell, size = self.on_read, self.size or 1
        return cast(BinaryIO, Limited(unpacked, limit, on_read=lambda: tell(min(1.0, stored.tell() / size))))

    def head(self, size: int = 8192) -> bytes:
        """Return the first bytes, to detect the format."""
        with self.open() as stream:
            return stream.read(size)


class Limited(io.RawIOBase):
    """A stream that raises Refused after a number of unpacked bytes."""

    def __init__(
        self, stream: io.IOBase | BinaryIO, limit: int = MAX_BYTES, *, on_read: Callable[[], None] = lambda: None
    ) -> None:
        self._stream = cast(BinaryIO, stream)
        self._left = self._limit = limit
        self._on_read = on_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            block = self._stream.read(len(buffer))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise Refused(f"is a damaged gzip file: {error}.") from None
        self._left -= len(block)
        if self._left < 0:
            raise Refused(too_large(self._limit))
        buffer[: len(block)] = block
        self._on_read()
        return len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()


def too_large(limit: int = MAX_BYTES) -> str:
    if limit < MAX_BYTES:
        return f"unpacks to more than {MAX_RATIO} times its size."
    return f"is larger than {MAX_BYTES // 1_000_000} MB; split it."


@dataclass(frozen=True, slots=True)
class Encoding:
    codec: str
    note: str = ""
    """What a curator should know about how it was read, or nothing."""


def encoding_of(source: Source) -> Encoding:
    """Detect a text file's encoding by byte order mark, declaration or bytes. Raises Refused when it is not text."""
    head = source.head()
    if (found := _marked(head)) or (found := _wide(head)):
        _check(source, found.codec)
        return found
    declared = _DECLARED.match(head)
    named = declared[1].decode("ascii").lower() if declared else ""
    if b"\0" in head:
        raise Refused("is no text file: it holds NUL bytes.", head.count(b"\n", 0, head.index(b"\0")) + 1)
    fault = _fault(source, "utf-8")
    if fault is None and named not in _CODECS:
        return Encoding("utf-8-sig")
    codec = _CODECS.get(named, "")
    if codec in {"", "utf-8"}:
        if fault is None:
            return Encoding("utf-8-sig")
        wrong = "says that it is UTF-8 and is not" if codec else "is not UTF-8"
        return _guessed(source, f"{wrong} ({fault[1]}, line {fault[0]})")
    if fault is None and not is_ascii(source):
        return Encoding("utf-8-sig", f"says that it is {named}, but it is UTF-8, and was read so.")
    _check(source, codec)
    return Encoding(codec)


def _marked(head: bytes) -> Encoding | None:
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return Encoding("utf-32")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16")
    return None


def _wide(head: bytes) -> Encoding | None:
    """Detect UTF-16 without a byte order mark: nearly every second byte of Latin text is NUL."""
    half = max(1, len(head) // 2)
    for codec, first, name in (("utf-16-be", 0, "big"), ("utf-16-le", 1, "little")):
        zeros, others = head[first::2].count(0), head[1 - first :: 2].count(0)
        if zeros > 0.7 * half and others < 0.05 * half:
            return Encoding(codec, f"has no byte order mark; it was read as UTF-16, {name} end first.")
    return None


def _guessed(source: Source, why: str) -> Encoding:
    head = source.head(MAX_BYTES)
    runs = _HIGH.findall(head)
    if runs and all(len(run) % 2 == 0 for run in runs) and _fault(source, "gb18030") is None:
        return Encoding("gb18030", f"{why}; it was read as GB18030. Look at the names, or save it as UTF-8.")
    _check(source, "cp1252")
    return Encoding("cp1252", f"{why}; it was read as Windows-1252. Look at the accents, or save it as UTF-8.")


def _check(source: Source, codec: str) -> None:
    if fault := _fault(source, codec):
        raise Refused(f"is neither UTF-8 nor {codec} ({fault[1]}); save it as UTF-8.", fault[0])


def _fault(source: Source, codec: str) -> tuple[int, str] | None:
    """Find the line of the first byte that is invalid in this encoding, and the byte, in chunks."""
    decoder = codecs.getincrementaldecoder(codec)()
    line = 1
    with source.open() as stream:
        while True:
            block = stream.read(_CHUNK)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                return line + error.object.count(b"\n", 0, error.start), f"byte 0x{error.object[error.start]:02x}"
            line += text.count("\n")
            if not block:
                return None


def is_ascii(source: Source) -> bool:
    """Return whether a file holds nothing but ASCII, not even a byte order mark."""
    with source.open() as stream:
        return all(block.isascii() for block in iter(lambda: stream.read(_CHUNK), b""))


def lines_of(source: Source, encoding: Encoding) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line, for any of the three line endings."""
    with (
        source.open() as stream,
        io.TextIOWrapper(io.BufferedReader(cast(io.RawIOBase, stream)), encoding.codec) as text,
    ):
        number = 0
        while line := text.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                raise Refused(f"has a line of more than {MAX_LINE:,} characters; it is no file of records.", number)
            yield number, line.rstrip("\n").lstrip("\ufeff") if number == 1 else line.rstrip("\n")


def text_of(source: Source, encoding: Encoding) -> str:
    """Return a whole text. Raises Refused when it is too large to be read at once."""
    if source.size > MAX_WHOLE:
        raise Refused(f"is larger than {MAX_WHOLE // 1_000_000} MB, the most for this format; split it.")
    with source.open() as stream:
        return stream.read().decode(encoding.codec).replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
