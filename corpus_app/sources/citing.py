"""Export bibliographies: CSV for spreadsheets; RIS, BibTeX and CSL-JSON for reference managers.

`..._pieces` yields a file piece by piece, so that a large one is never in memory as a whole.
"""

from __future__ import annotations

import csv
import io
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpus_app.records import Design, Notice, Reference
from corpus_app.sources.drafts import StudyDraft
from corpus_app.sources.layout import OF_PEOPLE
from corpus_app.sources.values import safe_cell

CSV_COLUMNS = (
    "study_id", "title", "authors", "year", "journal", "doi", "pmid", "url", "design", "peer_reviewed", "collection",
    "population", "training_status", "age_group",
    "sex", "n_studies", "n_participants", "duration_weeks_min", "duration_weeks_max", "concepts", "licence", "status",
    "notice", "notice_reason",
)  # fmt: skip

Citable = StudyDraft | Reference
_RIS_TYPES: Mapping[str, str] = {Design.THESIS: "THES", Design.PREPRINT: "UNPB"}
_BIBTEX_TYPES: Mapping[str, str] = {Design.THESIS: "phdthesis", Design.PREPRINT: "unpublished"}
_CSL_TYPES: Mapping[str, str] = {Design.THESIS: "thesis", Design.PREPRINT: "article"}


def to_csv(drafts: Iterable[StudyDraft]) -> bytes:
    """Return a CSV with one row per study."""
    rows = list(drafts)
    return b"".join(csv_pieces(rows, with_people=any(draft.has_people for draft in rows)))


def csv_pieces(drafts: Iterable[StudyDraft], *, with_people: bool) -> Iterator[bytes]:
    columns = [column for column in CSV_COLUMNS if with_people or column not in OF_PEOPLE]
    return spreadsheet_pieces(columns, ([getattr(draft, column) for column in columns] for draft in drafts))


def spreadsheet(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a CSV with a byte order mark for spreadsheets, and without cells that run as formulas."""
    return b"".join(spreadsheet_pieces(columns, rows))


def spreadsheet_pieces(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    yield b"\xef\xbb\xbf" + _csv_line(columns)
    for row in rows:
        yield _csv_line([safe_cell(_cell(value)) for value in row])


def _csv_line(cells: Sequence[str]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().encode()


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return "; ".join(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def name_parts(author: str) -> tuple[str, str]:
    """Return family name and initials of `Family AB`; an organisation has no initials."""
    family, _, last = author.rpartition(" ")
    return (family, last) if family and re.fullmatch(r"[A-ZÀ-ÖØ-Þ]{1,5}", last) else (author, "")


# --- RIS --------------------------------------------------------------------------------------------------------------


def to_ris(drafts: Iterable[Citable]) -> bytes:
    return b"".join(ris_pieces(drafts))


def ris_pieces(drafts: Iterable[Citable]) -> Iterator[bytes]:
    for draft in drafts:
        for tag, value in _ris(draft):
            yield (f"{tag}  - {_line(value)}\r\n" if tag != "ER" else "ER  - \r\n\r\n").encode()


def _ris(draft: Citable) -> Iterator[tuple[str, str]]:
    yield "TY", _RIS_TYPES.get(draft.design, "JOUR")
    yield "ID", draft.study_id
    yield "TI", draft.title
    for author in draft.authors:
        family, initials = name_parts(author)
        yield "AU", f"{family}, {' '.join(f'{letter}.' for letter in initials)}" if initials else author
    optional = (
        ("PY", draft.year),
        ("JF", draft.journal),
        ("DO", draft.doi),
        ("U1", f"{draft.pmid}[pmid]" if draft.pmid else None),
        ("UR", draft.url),
        ("N1", _noted(draft)),
    )
    yield from ((tag, str(value)) for tag, value in optional if value)
    yield from (("KW", concept) for concept in draft.concepts)
    yield "ER", ""


def _line(value: str) -> str:
    return " ".join(value.split())


def _noted(draft: Citable) -> str:
    if draft.notice is Notice.NONE:
        return ""
    notice = draft.notice.replace("_", " ").capitalize()
    return f"{notice}: {draft.notice_reason}" if draft.notice_reason else f"{notice}."


# --- BibTeX -----------------------------------------------------------------------------------------------------------

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def to_bibtex(drafts: Iterable[Citable]) -> bytes:
    """Return BibTeX in UTF-8; titles are in double braces to keep their capitals."""
    return b"".join(bibtex_pieces(drafts))


def bibtex_pieces(drafts: Iterable[Citable]) -> Iterator[bytes]:
    return _parted(b"\n", (_entry(draft).encode() for draft in drafts))


def _parted(mark: bytes, pieces: Iterable[bytes]) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        yield mark + piece if number else piece


def _entry(draft: Citable) -> str:
    names = []
    for author in draft.authors:
        family, initials = name_parts(author)
        names.append(
            f"{_escaped(family)}, {' '.join(f'{letter}.' for letter in initials)}"
            if initials
            else "{" + _escaped(author) + "}"
        )
    values = {
        "title": "{" + _escaped(draft.title) + "}",
        "author": " and ".join(names),
        "year": str(draft.year or ""),
        "journal": _escaped(draft.journal or ""),
        "doi": draft.doi or "",
        "pmid": draft.pmid or "",
        "url": draft.url or "",
        "note": _escaped(_noted(draft)),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in values.items() if value)
    return f"@{_BIBTEX_TYPES.get(draft.design, 'article')}{{{draft.study_id},\n{lines}}}\n"


def _escaped(text: str) -> str:
    escaped = "".join(_ESCAPES.get(char, char) for char in _line(text))
    return escaped.replace("--", "-{}-").replace("``", "`{}`").replace("''", "'{}'")


# --- CSL-JSON ---------------------------------------------------------------------------------------------------------


def to_csl_json(drafts: Iterable[Citable]) -> bytes:
    return b"".join(csl_pieces(drafts))


def csl_pieces(drafts: Iterable[Citable]) -> Iterator[bytes]:
    yield b"[\n"
    yield from _parted(b",\n", (_csl_text(draft).encode() for draft in drafts))
    yield b"\n]\n"


def _csl_text(draft: Citable) -> str:
    return textwrap.indent(json.dumps(_csl(draft), indent=2, ensure_ascii=False), "  ")


def _csl(draft: Citable) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": draft.study_id,
        "type": _CSL_TYPES.get(draft.design, "article-journal"),
        "title": draft.title,
        "author": [
            {"family": family, "given": initials} if initials else {"literal": family}
            for family, initials in map(name_parts, draft.authors)
        ],
        "issued": {"date-parts": [[draft.year]]} if draft.year else None,
        "container-title": draft.journal,
        "DOI": draft.doi,
        "PMID": draft.pmid,
        "URL": draft.url,
        "note": _noted(draft),
    }
    return {key: value for key, value in values.items() if value}
