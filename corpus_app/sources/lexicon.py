"""Read the settings of a corpus: `site.toml`, and its word lists, `lexicon/*.toml`; each is named after its file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from corpus_app.site import Site
from corpus_app.sources.drafts import Problem, Weight
from corpus_app.sources.files import link_fault
from corpus_app.sources.layout import LEXICON, SITE
from corpus_app.sources.site_file import find_problems, site_of
from corpus_app.sources.values import SLUG

_LINE = re.compile(r"at line (\d+)")
FORMER = {
    "people": (
        "is no longer read: populations are facets now. Declare age_group, sex and training_status in site.toml, as "
        "corpus/FORMAT.md describes under Facets, and delete this file."
    ),
}
"""Word lists of former releases, and what has taken their place."""


def read_lexica(folder: Path) -> tuple[Mapping[str, str] | None, list[Problem]]:
    """Return the text of the site file and of every word list of a folder by name, and what is wrong with the files.

    None where there are no such files, or where one is unsound: they are taken whole or not at all. A list of a former
    release is left out, and reported.
    """
    site = folder / SITE
    if not (folder / LEXICON).is_dir() and not site.is_file():
        return None, []
    lexica: dict[str, str] = {}
    problems: list[Problem] = []
    former: list[Problem] = []
    for path in [*([site] if site.is_file() else ()), *sorted((folder / LEXICON).glob("*.toml"))]:
        name = path.relative_to(folder).as_posix()
        if path.parent != folder and (reason := FORMER.get(path.stem)):
            former.append(Problem(name, None, "", reason, Weight.REPORTED))
            continue
        if reason := link_fault(path, folder):
            problems.append(Problem(name, None, "", reason))
            continue
        try:
            lexica[path.stem] = path.read_text("utf-8")
            tomllib.loads(lexica[path.stem])
        except UnicodeDecodeError:
            problems.append(Problem(name, None, "", "is not UTF-8 text; save it as UTF-8."))
        except OSError as error:
            problems.append(Problem(name, None, "", f"cannot be read: {error.strerror or error}."))
        except tomllib.TOMLDecodeError as error:
            line = _LINE.search(str(error))
            problems.append(Problem(name, int(line[1]) if line else None, "", f"is not TOML: {error}."))
        if not SLUG.fullmatch(path.stem):
            problems.append(Problem(name, None, "", "its name should have letters, digits and dashes only."))
    if not problems and site.is_file():
        problems += find_problems(lexica[site.stem])
    return (None if problems else lexica), [*problems, *former]


def declared_site(lexica: Mapping[str, str] | None) -> Site | None:
    """Return the settings that the site file among these files declares; None where there is none."""
    content = (lexica or {}).get(Path(SITE).stem)
    return site_of(tomllib.loads(content)) if content else None


def lexicon_path(name: str) -> str:
    """Return the path of a stored file within a corpus folder."""
    return SITE if f"{name}.toml" == SITE else f"{LEXICON}/{name}.toml"
