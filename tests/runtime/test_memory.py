"""Larger pages are asked for where this process's own memory is in use, and nowhere else; what stands there stays."""

from __future__ import annotations

import ctypes
import errno
from pathlib import Path
from types import SimpleNamespace

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


class Madvise:
    """In place of the system's: notes what it is asked for, and says no to these pages."""

    def __init__(self, refused: dict[int, int]) -> None:
        self.asked: list[tuple[int, int, int]] = []
        self._refused = refused

    def __call__(self, address: int, length: int, advice: int) -> int:
        self.asked.append((address // memory.PAGE, length, advice))
        ctypes.set_errno(self._refused.get(address // memory.PAGE, 0))
        return -1 if address // memory.PAGE in self._refused else 0


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Files as Linux has them, of a process with four pages in use from the fourth on, and a mapped file of an odd name."""
    (tmp_path / "hpage_pmd_size").write_text(f"{memory.PAGE}\n")
    (tmp_path / "enabled").write_text("always [madvise] never\n")
    odd = mapping(2, 1, used=1, inode=7, name="/caf\xe9").encode("latin-1")
    (tmp_path / "smaps").write_bytes(odd + mapping(4, 4, used=1).encode())
    monkeypatch.setattr(memory, "SYSTEM", tmp_path)
    monkeypatch.setattr(memory, "MAPS", tmp_path / "smaps")
    return tmp_path


@pytest.mark.parametrize(
    ("refused", "asked", "given"),
    [({}, 4, 4), ({5: errno.EINVAL, 6: errno.EAGAIN}, 4, 2), ({6: errno.ENOMEM}, 3, 2), ({4: errno.ENOMEM}, 1, 0)],
)
def test_each_page_is_asked_for_until_there_are_none_left(
    monkeypatch: pytest.MonkeyPatch, system: Path, refused: dict[int, int], asked: int, given: int
) -> None:
    madvise = Madvise(refused)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(madvise=madvise))

    assert memory.use_large_pages() == given * memory.PAGE
    assert madvise.asked == [(page, memory.PAGE, 25) for page in range(4, 4 + asked)]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("enabled", "always madvise [never]\n"),
        ("hpage_pmd_size", "33554432\n"),
        ("hpage_pmd_size", "?"),
        ("smaps", None),
        ("enabled", None),
    ],
)
def test_where_the_system_gives_none_nothing_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, system: Path, file: str, text: str | None
) -> None:
    madvise = Madvise({})
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(madvise=madvise))
    (system / file).unlink()
    if text is not None:
        (system / file).write_text(text)

    assert (memory.use_large_pages(), madvise.asked) == (0, [])


def test_what_stands_in_memory_stays() -> None:
    rows = np.arange(4 * memory.PAGE // 8)

    memory.use_large_pages()

    assert np.array_equal(rows, np.arange(len(rows)))
