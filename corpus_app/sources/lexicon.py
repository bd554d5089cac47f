"""Read the word lists of a corpus, `lexicon/*.toml`, each named after its file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from corpus_app.sources.drafts import Problem
from corpus_app.sources.layout import LEXICON
from corpus_app.sources.values import SLUG

_LINE = re.compile(r"at line (\d+)")


def read_lexica(folder: Path) -> tuple[Mapping[str, str] | None, list[Problem]]:
    """Return the text of every word list of a corpus folder by its name, and what is wrong with the files.

    None where there is no such folder, or where a file is unsound: word lists are taken whole or not at all.
    """
    if not (folder / LEXICON).is_dir():
        return None, []
    lexica: dict[str, str] = {}
    problems: list[Problem] = []
    for path in sorted((folder / LEXICON).glob("*.toml")):
        name = f"{LEXICON}/{path.name}"
        try:
            lexica[path.stem] = path.read_text("utf-8")
            tomllib.loads(lexica[path.stem])
        except UnicodeDecodeError:
            problems.append(Problem(name, None, "", "is not UTF-8 text."))
        except tomllib.TOMLDecodeError as error:
            line = _LINE.search(str(error))
            problems.append(Problem(name, int(line[1]) if line else None, "", f"is not TOML: {error}."))
        if not SLUG.fullmatch(path.stem):
            problems.append(Problem(name, None, "", "its name should have letters, digits and dashes only."))
    return (None if problems else lexica), problems
