"""Read the settings of a corpus: `site.toml`, and its word lists, `lexicon/*.toml`; each is named after its file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from corpus_app.site import Site
from corpus_app.sources.drafts import Problem
from corpus_app.sources.layout import LEXICON, SITE
from corpus_app.sources.site_file import find_problems, site_of
from corpus_app.sources.values import SLUG

_LINE = re.compile(r"at line (\d+)")


def read_lexica(folder: Path) -> tuple[Mapping[str, str] | None, list[Problem]]:
    """Return the text of the site file and of every word list of a folder by name, and what is wrong with the files.

    None where there are no such files, or where one is unsound: they are taken whole or not at all.
    """
    site = folder / SITE
    if not (folder / LEXICON).is_dir() and not site.is_file():
        return None, []
    lexica: dict[str, str] = {}
    problems: list[Problem] = []
    for path in [*([site] if site.is_file() else ()), *sorted((folder / LEXICON).glob("*.toml"))]:
        name = path.relative_to(folder).as_posix()
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
    if not problems and site.is_file():
        problems += find_problems(lexica[site.stem])
    return (None if problems else lexica), problems


def declared_site(lexica: Mapping[str, str] | None) -> Site | None:
    """Return the settings that the site file among these files declares; None where there is none."""
    content = (lexica or {}).get(Path(SITE).stem)
    return site_of(tomllib.loads(content)) if content else None


def lexicon_path(name: str) -> str:
    """Return the path of a stored file within a corpus folder."""
    return SITE if f"{name}.toml" == SITE else f"{LEXICON}/{name}.toml"
