"""Check what no linter knows: docstrings, class names, the length of sentences in the docs. Report the largest files.

Run by `make check`. A rule that fails names the place, so that it can be mended there.
"""

import ast
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("corpus_app", "qa_app", "inform_site", "common", "lab")
ODD_OPENINGS = frozenset(
    "what whatever which whichever who whose whom of those these this that they their them it its the-same with without where "
    "wherever when whenever as and or but not so because although since while until in on at by for from to whether how".split()
)
LONGEST_FIRST_SENTENCE = 25  # words
LONGEST_MEDIAN_SENTENCE = 18  # words, of a page of the docs
LARGE_FILE, LARGE_FUNCTION = 400, 60  # lines; reported, not refused
Faults = Iterator[str]


def main() -> int:
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")) if is_ours(path)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    faults = [*docstring_faults(trees), *class_faults(trees), *docs_faults()]
    print("\n".join(faults + sizes(trees)))
    return 1 if faults else 0


def is_ours(path: Path) -> bool:
    return "migrations" not in path.parts


def docstring_faults(trees: dict[Path, ast.Module]) -> Faults:
    """Yield docstrings of functions that do not begin with a verb, or whose first sentence is too long.

    Those of the API's views and serializers are published in the schema, where they describe an operation.
    """
    for path, tree in trees.items():
        if "api" in path.parts:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
                first = text.split(". ")[0].split("\n\n")[0].split()
                if first[0].lower().strip("`,") in ODD_OPENINGS:
                    yield f"{place(path, node)} {node.name}: begin the docstring with a verb, not with “{first[0]}”."
                if len(first) > LONGEST_FIRST_SENTENCE:
                    yield f"{place(path, node)} {node.name}: the first sentence has {len(first)} words."


def class_faults(trees: dict[Path, ast.Module]) -> Faults:
    """Yield class names that occur twice in an app.

    A row in `models` and the value made of it in the `records` beside it may share a name, as may their form in the API.
    """
    found: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for path, tree in trees.items():
        relative = path.relative_to(ROOT)
        if "api" in relative.parts or "commands" in relative.parts:
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[relative.parts[0], node.name].append(relative)
    for (app, name), paths in found.items():
        if len({path.with_name("models.py") if path.name == "records.py" else path for path in paths}) > 1:
            yield f"{app}: {name} is a class of {' and of '.join(map(str, paths))}."


def docs_faults() -> Faults:
    """Yield pages whose median sentence is too long."""
    for path in (ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        lengths = sentence_lengths(path.read_text(encoding="utf-8"))
        if lengths and statistics.median(lengths) > LONGEST_MEDIAN_SENTENCE:
            yield f"{path.relative_to(ROOT)}: the median sentence has {statistics.median(lengths):g} words."


def sentence_lengths(text: str) -> list[int]:
    """Return the number of words of each sentence of a page's paragraphs and lists."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    blocks = re.split(r"\n\s*\n|\n(?=[-*] |\d+\. )", text)
    prose = (block for block in blocks if not re.match(r"\s*(\||#|    )", block))
    return [len(said.split()) for block in prose for said in re.split(r"(?<=[.!?:])\s+", block.strip()) if said]


def sizes(trees: dict[Path, ast.Module]) -> list[str]:
    """Return what is large, for information."""
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in trees}
    large = [f"{path.relative_to(ROOT)} ({n})" for path, n in lines.items() if n > LARGE_FILE]
    functions = [
        f"{place(path, node)} {node.name} ({node.end_lineno - node.lineno + 1})"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno
        and node.end_lineno - node.lineno >= LARGE_FUNCTION
    ]
    by_package = ", ".join(f"{one} {sum(n for path, n in lines.items() if one in path.parts)}" for one in PACKAGES)
    files = f"Files over {LARGE_FILE} lines: {', '.join(large) or 'none'}."
    return [f"Lines: {by_package}.", files, f"Functions over {LARGE_FUNCTION} lines: {', '.join(functions) or 'none'}."]


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


if __name__ == "__main__":
    sys.exit(main())
