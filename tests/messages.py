"""The texts that readers see, gathered from templates and code: `make messages` brings every language in step with them.

No gettext tools are needed, neither here nor where the site runs: polib writes both the texts and what is compiled of them.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("inform_site", "corpus_app", "qa_app")
NAMES = {"gettext", "gettext_lazy", "gettext_noop", "N_", "ngettext"}
SCRIPT = re.compile(r"\btold\(\s*\"((?:[^\"\\]|\\.)+)\"")


@dataclass(frozen=True, slots=True, order=True)
class Message:
    msgid: str
    plural: str = ""


def in_templates() -> Iterator[tuple[str, Message]]:
    from django.template import engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    engine = engines["django"].engine
    for path in sorted(path for suffix in ("html", "txt") for path in (ROOT / "templates").rglob(f"*.{suffix}")):
        name = path.relative_to(ROOT / "templates").as_posix()
        if name.startswith("admin/"):  # in English only: its texts are given to gettext for the nouns of the site alone
            continue
        nodes = engine.get_template(name).nodelist
        for node in nodes.get_nodes_by_type(TranslateNode):
            yield name, Message(str(node.filter_expression.var.literal).replace("%", "%%"))
        for node in nodes.get_nodes_by_type(BlockTranslateNode):
            singular, _ = node.render_token_list(node.singular)
            plural = node.render_token_list(node.plural)[0] if node.plural else ""
            yield name, Message(singular, plural)


def in_code() -> Iterator[tuple[str, Message]]:
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
                    texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
                    if texts:
                        plural = texts[1] if node.func.id == "ngettext" else ""
                        yield path.relative_to(ROOT).as_posix(), Message(texts[0], plural)


def in_scripts() -> set[str]:
    """What scripts say; the page hands the words to them, so they stand in the code, too."""
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "static").glob("*.js")))
    return {found[1].replace('\\"', '"') for found in SCRIPT.finditer(scripts)}


def gathered() -> dict[Message, list[str]]:
    """Every text, and where it stands. One that has a plural in one place has it in all."""
    found: dict[Message, list[str]] = {}
    for place, message in (*in_templates(), *in_code()):
        places = found.setdefault(message, [])
        if place not in places:
            places.append(place)
    return found


def catalogue(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / "django.po"


def bring_in_step(path: Path) -> polib.POFile:
    """The catalogue with every text that there is and no other; new ones are empty, for a translator."""
    old = polib.pofile(str(path)) if path.exists() else polib.POFile()
    kept = {(entry.msgid, entry.msgid_plural): entry for entry in old}
    new = polib.POFile(wrapwidth=120)
    new.metadata = {
        "Project-Id-Version": "InForm", "Language": path.parents[1].name, "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=2; plural=(n != 1);",
    }  # fmt: skip
    for message, places in sorted(gathered().items(), key=lambda item: (item[1][0], item[0])):
        plurals = {0: "", 1: ""} if message.plural else {}
        new_entry = polib.POEntry(msgid=message.msgid, msgid_plural=message.plural, msgstr_plural=plurals)
        entry = kept.get((message.msgid, message.plural)) or new_entry
        entry.occurrences = [(place, "") for place in places]
        entry.flags = ["python-format"] if "%(" in message.msgid + message.plural else []
        new.append(entry)
    return new


def write(language: str) -> int:
    """Writes the catalogue and what is compiled of it; gives how many texts have no translation yet."""
    path = catalogue(language)
    texts = bring_in_step(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    texts.save(str(path))
    texts.save_as_mofile(str(path.with_suffix(".mo")))
    return len(texts.untranslated_entries())


if __name__ == "__main__":
    import os

    import django

    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")
    django.setup()
    for folder in sorted((ROOT / "locale").iterdir()):
        missing = write(folder.name)
        print(f"{folder.name}: {missing} texts without a translation" if missing else f"{folder.name}: complete")
