"""Larger pages for what a process keeps, so that it need not look up so often where a piece of its memory lies.

An answer goes through tens of megabytes that lie everywhere: words, vectors, the encoder's weights. By pages of two megabytes instead
of four kilobytes it takes some 2 % less time, more on a virtual machine in another. Linux since 6.1 gives them where it is asked to
(MADV_COLLAPSE); anything else leaves all as it was.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = 2 * 1024 * 1024  # bytes, as x86-64 and most of arm64 have them
COLLAPSE = 25  # MADV_COLLAPSE of madvise(2)
IN_USE_FROM = 0.9  # of a mapping: what is hardly used would only take more memory
MAPS = Path("/proc/self/smaps")
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 *(\[heap\])?")


def use_large_pages() -> int:
    """Asks for them wherever a large piece of this process's own memory is in use. The bytes that are in them now."""
    try:
        found, madvise = list(_in_use(MAPS.read_text())), ctypes.CDLL(None, use_errno=True).madvise
    except (OSError, AttributeError):
        return 0
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return PAGE * len([page for page in found if madvise(page, PAGE, COLLAPSE) == 0])


def _in_use(maps: str) -> Iterator[int]:
    """Addresses of whole pages in anonymous mappings that are in use, from the text of /proc/self/smaps."""
    whole = range(0)
    for line in maps.splitlines():
        if mapping := _MAPPING.fullmatch(line):
            whole = range(int(mapping[1], 16), int(mapping[2], 16))
        elif not line[:1].isupper():  # a mapping of another kind
            whole = range(0)
        elif line.startswith("Rss:") and 1024 * int(line.split()[1]) >= IN_USE_FROM * len(whole) > 0:
            first = -(-whole.start // PAGE) * PAGE
            yield from range(first, whole.stop - PAGE + 1, PAGE)
