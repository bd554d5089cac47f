"""Larger pages are asked for where this process's own memory is in use, and nowhere else; what stands there stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inform_site import memory

KB_PER_MB = 1024


def mapping(start: int, pages: float, *, used: float, rights: str = "rw-p", inode: int = 0, name: str = "") -> str:
    """A mapping of so many large pages from this one on, as /proc/self/smaps has it."""
    size = int(pages * memory.PAGE)
    return (
        f"{start * memory.PAGE:x}-{start * memory.PAGE + size:x} {rights} 00000000 00:00 {inode} {' ' * 20}{name}\n"
        f"Size: {size // 1024:>14} kB\nRss: {int(used * size) // 1024:>15} kB\nAnonymous: 12 kB\nVmFlags: rd wr mr\n"
    ).replace(" \n", "\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (mapping(4, 3, used=1), [4, 5, 6]),
        (mapping(4, 3, used=0.95, name="[heap]"), [4, 5, 6]),
        (mapping(4, 2.5, used=1), [4, 5]),
        (mapping(4, 3, used=0.5), []),  # half of it would be new memory
        (mapping(4, 0.5, used=1), []),
        (mapping(4, 3, used=1, rights="r--p"), []),
        (mapping(4, 3, used=1, inode=77, name="/usr/lib/libc.so.6"), []),
        (mapping(4, 3, used=1, name="[stack]"), []),
        (mapping(4, 1, used=1) + mapping(9, 3, used=1, inode=5, name="/a file") + mapping(20, 1, used=1), [4, 20]),
        ("", []),
    ],
)
def test_pages_are_those_of_own_memory_that_is_in_use(text: str, expected: list[int]) -> None:
    assert [page // memory.PAGE for page in memory._in_use(text)] == expected


def test_a_page_begins_where_pages_do() -> None:
    odd = f"{memory.PAGE + 4096:x}-{4 * memory.PAGE - 4096:x} rw-p 00000000 00:00 0\nRss: {6 * KB_PER_MB} kB\n"

    assert list(memory._in_use(odd)) == [2 * memory.PAGE]


def test_what_stands_in_memory_stays() -> None:
    rows = np.arange(4 * memory.PAGE // 8)

    assert memory.use_large_pages() % memory.PAGE == 0
    assert np.array_equal(rows, np.arange(len(rows)))


def test_where_the_system_tells_of_no_mappings_nothing_happens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "MAPS", tmp_path / "none")

    assert memory.use_large_pages() == 0
