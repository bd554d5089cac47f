"""Corpus folders by name: which one a site starts with, and where its data are kept."""

from __future__ import annotations

from pathlib import Path

NO_CORPUS = "none"
STARTER = "corpus"
PLACES = ("corpora", "examples")
"""Folders of the project in which a corpus is looked for by its name."""


def find_corpus(name: str, root: Path) -> Path | None:
    """Return the folder of this name or path; None for `none`. Raises ValueError when there is none."""
    if name == NO_CORPUS:
        return None
    folders = (root / STARTER, *(folder for place in PLACES for folder in sorted((root / place).glob("*/"))))
    known = {folder.name: folder for folder in reversed(folders)}
    if name in known:
        return known[name]
    if Path(name).is_dir():
        return Path(name).resolve()
    raise ValueError(
        f"there is no corpus {name!r}; there are {', '.join(sorted(known))}, and `make new NAME=garden` makes one"
    )


def data_dir_of(root: Path, folder: Path | None) -> Path:
    """Return the data folder of a site that starts with this corpus, so that sites stand beside each other."""
    if folder == root / STARTER:
        return root / ".data"
    return root / ".data" / "corpora" / (folder.name if folder else NO_CORPUS)
