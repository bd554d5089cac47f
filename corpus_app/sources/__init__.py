"""Parse files into study drafts, with their problems by line, and write drafts back to files.

For any format: make a `Source` (`source_of` for a path), then `read_file` or `stream` it (docs/importing.md). `read`
reads a corpus folder.

A corpus folder contains `studies/*.json`, `concepts.json`, `studies_master.csv` and `lexicon/*.toml`
(corpus/FORMAT.md). The JSON files are authoritative. The CSV repeats their metadata; alone, it gives studies without
passages. A study that cannot be parsed gives problems and no draft.
"""

from corpus_app.sources import serialization
from corpus_app.sources.bibliography import Intake
from corpus_app.sources.citing import (
    bibtex_pieces,
    csl_pieces,
    csv_pieces,
    ris_pieces,
    spreadsheet,
    to_bibtex,
    to_csl_json,
    to_csv,
    to_ris,
)
from corpus_app.sources.drafts import (
    AddedPassages,
    CertaintyDraft,
    CollectionDraft,
    ConceptDraft,
    CorpusDraft,
    FindingDraft,
    Known,
    NoticeDraft,
    PassageDraft,
    Problem,
    RelationDraft,
    SheetRow,
    StudyDraft,
    Unreadable,
    Vocabulary,
    Weight,
    with_questions,
)
from corpus_app.sources.duplicates import Duplicate, Sameness, differences, duplicates, known_of, merge_drafts
from corpus_app.sources.files import Refused
from corpus_app.sources.folder import read
from corpus_app.sources.formats import (
    FORMAT_NAMES,
    READERS,
    Collector,
    Item,
    ReadResult,
    collect_items,
    name_of,
    read_file,
    source_of,
    stream,
)
from corpus_app.sources.headings import is_paper_section
from corpus_app.sources.intake import Source
from corpus_app.sources.layout import CONCEPTS, MASTER, RECORDS, STUDIES
from corpus_app.sources.lexicon import lexicon_path, read_lexica
from corpus_app.sources.pdf import text_of_pdf
from corpus_app.sources.plain_text import passages_of
from corpus_app.sources.sheets import sheet_pieces
from corpus_app.sources.site_file import find_problems as site_problems
from corpus_app.sources.site_file import site_hash, site_of
from corpus_app.sources.studies import study_from
from corpus_app.sources.values import doi_fault, listed, pmid_fault, text_fault, url_fault
from corpus_app.sources.writing import concepts_json, digest, master_csv, study_json

__all__ = [
    "CONCEPTS",
    "FORMAT_NAMES",
    "MASTER",
    "READERS",
    "RECORDS",
    "STUDIES",
    "AddedPassages",
    "CertaintyDraft",
    "CollectionDraft",
    "Collector",
    "ConceptDraft",
    "CorpusDraft",
    "Duplicate",
    "FindingDraft",
    "Intake",
    "Item",
    "Known",
    "NoticeDraft",
    "PassageDraft",
    "Problem",
    "ReadResult",
    "Refused",
    "RelationDraft",
    "Sameness",
    "SheetRow",
    "Source",
    "StudyDraft",
    "Unreadable",
    "Vocabulary",
    "Weight",
    "bibtex_pieces",
    "collect_items",
    "concepts_json",
    "csl_pieces",
    "csv_pieces",
    "differences",
    "digest",
    "doi_fault",
    "duplicates",
    "is_paper_section",
    "known_of",
    "lexicon_path",
    "listed",
    "master_csv",
    "merge_drafts",
    "name_of",
    "passages_of",
    "pmid_fault",
    "read",
    "read_file",
    "read_lexica",
    "ris_pieces",
    "serialization",
    "sheet_pieces",
    "site_hash",
    "site_of",
    "site_problems",
    "source_of",
    "spreadsheet",
    "stream",
    "study_from",
    "study_json",
    "text_fault",
    "text_of_pdf",
    "to_bibtex",
    "to_csl_json",
    "to_csv",
    "to_ris",
    "url_fault",
    "with_questions",
]
